// Package page is what a person sees of an instance: pages of HTML for a news desk and for
// moderators, rendered on the server from the same interfaces that /v1 answers from. Requests go
// in, and pages come out; what a button does works without the script, too. All text of others is
// escaped, and made harmless before that.
package page

import (
	"bytes"
	"context"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/text/diff"
)

// Options are what the pages are made from.
type Options struct {
	v1.Options
	Instance string // what this instance is called
	Hidden   bool   // ids and sizes are shown, and no text
	Stories  bool   // there are stories
	// Activity returns how many articles joined each of these clusters minute by minute, nil for a
	// cluster that has not grown. Since is when counting began; zero: the whole hour was counted.
	Activity func(ids []string) (joined [][]int, since time.Time)
	// Workers names the instances that work, as the consumer group has them.
	Workers func(ctx context.Context) ([]string, error)
	// Suspects returns the clusters without labels that are nearest to labelled ones.
	Suspects func(ctx context.Context) ([]api.Suspect, error)
	// Passages divides two texts into what they share and what they do not.
	Passages *diff.Comparer
}

// policy lets a page load what the instance itself serves, and nothing else: what was not escaped
// would still not run.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Routes returns the routes of the pages.
func Routes(o Options) ([]v1.Route, error) {
	s, err := newServer(o)
	if err != nil {
		return nil, err
	}
	read := access.Route{Right: access.Read}
	ask := access.Route{Right: access.Read, Body: api.MaxBody}
	routes := []v1.Route{
		{Method: "GET", Path: "/{$}", Route: read, Handler: s.try(s.home)},
		{Method: "GET", Path: "/head", Route: read, Handler: s.try(s.head)},
		{Method: "GET", Path: "/suspects", Route: read, Handler: s.try(s.suspects)},
		{Method: "GET", Path: "/contacts", Route: read, Handler: s.try(s.contacts)},
		{Method: "GET", Path: "/check", Route: read, Handler: s.try(s.askCheck)},
		{Method: "POST", Path: "/check", Route: ask, Handler: s.try(s.check)},
		{Method: "GET", Path: "/stories", Route: read, Handler: s.try(s.stories)},
		{Method: "GET", Path: "/tail", Route: read, Handler: s.try(s.tail)},
		{
			Method: "POST", Path: "/labels", Handler: s.try(s.label),
			Route: access.Route{Right: access.Label, Body: api.MaxBody, Long: true},
		},
		{Method: "GET", Path: access.PageFiles + "{file}", Route: read, Handler: files()},
	}
	// An id has slashes, which may be escaped or not.
	for _, id := range []string{"{id}", "{topic}/{partition}/{offset}"} {
		routes = append(routes,
			v1.Route{Method: "GET", Path: "/clusters/" + id, Route: read, Handler: s.try(s.cluster)},
			v1.Route{Method: "GET", Path: "/stories/" + id, Route: read, Handler: s.try(s.story)})
	}
	return routes, nil
}

// server renders the pages.
type server struct {
	Options
	templates map[string]*template.Template // by language

	mutex     sync.Mutex
	stats     api.Stats
	statsAt   time.Time
	workers   []string
	workersAt time.Time
}

func newServer(o Options) (*server, error) {
	s := &server{Options: o, templates: make(map[string]*template.Template)}
	for _, language := range languages() {
		t, err := parse(language)
		if err != nil {
			return nil, err
		}
		s.templates[language] = t
	}
	return s, nil
}

// view is what each page is rendered from.
type view struct {
	Language string
	Address  string // of this page, with its parameters
	Other    string // the same in the other language
	Caller   access.Caller
	Labels   bool // there are labels here
	Stories  bool // and stories
	CanLabel bool
	Hidden   bool
	Head     head
	Now      time.Time
	Page     any // what only this page has
}

func (s *server) view(r *http.Request, page any) view {
	caller := access.From(r.Context())
	return view{
		Language: languageOf(r), Address: r.URL.RequestURI(), Other: inOther(r), Caller: caller,
		Labels: s.Labels, CanLabel: s.Labels && caller.Rights.Has(access.Label), Hidden: s.Hidden,
		Stories: s.Options.Stories,
		Head:    s.headNow(r.Context()), Now: time.Now(), Page: page,
	}
}

// statsTime is for how long what the instance does is not asked again: many look at once.
const statsTime = time.Second

func (s *server) statsNow(ctx context.Context) api.Stats {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if time.Since(s.statsAt) > statsTime {
		s.stats, s.statsAt = s.Stats(ctx), time.Now()
		s.stats.AsOf = s.Spaces.AsOf()
	}
	return s.stats
}

// workersTime is for how long the group is not asked again who works.
const workersTime = 5 * time.Second

// workersNow names the instances that work; none where the group does not say.
func (s *server) workersNow(ctx context.Context) []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.Workers == nil || time.Since(s.workersAt) < workersTime {
		return s.workers
	}
	ctx, cancel := context.WithTimeout(ctx, statsTime)
	defer cancel()
	found, err := s.Workers(ctx)
	if err != nil {
		found = nil // the page says what it knows without it
	}
	s.workers, s.workersAt = found, time.Now()
	return s.workers
}

// try makes a handler of a function whose error is shown on a page.
func (s *server) try(handle func(w http.ResponseWriter, r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := handle(w, r)
		if err == nil {
			return
		}
		status, detail := v1.StatusOf(err)
		_ = s.render(w, r, status, "error", failure{status, detail}) // nothing more can be said
	})
}

// failure is why there is no page.
type failure struct {
	Status int
	Detail string
}

// render sends a page, whole or not at all.
func (s *server) render(
	w http.ResponseWriter, r *http.Request, status int, name string, page any,
) error {
	v := s.view(r, page)
	return s.send(w, r, status, name, v)
}

func (s *server) send(
	w http.ResponseWriter, r *http.Request, status int, name string, v view,
) error {
	var body bytes.Buffer
	if err := s.templates[v.Language].ExecuteTemplate(&body, name, v); err != nil {
		return err
	}
	remember(w, r)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", v.Language)
	h.Add("Vary", "Accept-Language, Cookie")
	h.Set("Content-Security-Policy", policy)
	// Forms must say from where they come, and tell it to nobody else.
	h.Set("Referrer-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // whoever asked may have gone
	return nil
}
