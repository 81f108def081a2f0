package v1

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/events"
)

// A fake answers for all that the handlers call. There is one cluster, articles/0/12, whose text
// is "known"; "near" is near to it, and "" has nothing to compare. It is the first one of a story
// that has articles/0/40, too, and articles/0/3, articles/1/3 and articles/8/1 are stories.
type fake struct {
	mutex  sync.Mutex
	labels map[string]api.Label
	// exceptions are labels of the article with fingerprint 7, and clicked and harmless who labelled
	// the contact called or said that it is harmless.
	exceptions        map[string]api.Label
	clicked, harmless []api.By
	written           []api.LabelRecord
	texts             []api.NewArticle
	changed           []api.StoryRecord
	into              map[string]string // by story: the one that somebody made it part of
	silent            bool              // neither results nor labels come
	refuses           bool              // label records are dead letters
	erased            bool              // the text of the cluster

	erasures []api.EraseRecord
	err      error // of all

	query api.ClusterQuery // the last one
}

const knownID = "articles/0/12"

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func (f *fake) asOf() api.AsOf {
	return api.AsOf{
		Space: "all", Position: 17, StreamTime: &noon, State: "live", Role: "all",
		Offsets: map[int]int64{0: 17},
	}
}

func (f *fake) cluster() api.Cluster {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	c := api.Cluster{
		ClusterID: knownID, Size: 3, Labels: []api.Label{}, Carried: []string{},
		FirstSeen: noon, LastSeen: noon,
		Signals:        &api.Signals{Publishers: article.NewPublishers(65), Recent: 2},
		Representative: article.Representative{ID: "a1", Title: "A title"}, Fingerprint: 7,
	}
	for _, l := range f.labels {
		c.Labels = append(c.Labels, l)
		c.Carried = append(c.Carried, l.Label)
	}
	if len(f.exceptions) > 0 {
		e := api.Exception{
			ArticleID: "a 1/2", Source: "articles/0/12", MemberPosition: 12, Fingerprint: 7,
		}
		for _, l := range f.exceptions {
			e.Labels = append(e.Labels, l)
		}
		c.Exceptions = []api.Exception{e}
	}
	return c
}

// called is a contact that clusters share.
const called = "number:+447700900123"

func (f *fake) Contacts(_ context.Context, q api.ContactQuery) (api.Contacts, error) {
	page := api.Contacts{Contacts: []api.Contact{}, AsOf: f.AsOf()}
	c, _ := f.Contact(api.ContactRef{Contact: called}, "")
	if q.Shared || q.Marked && len(c.Marks) > 0 {
		page.Contacts = append(page.Contacts, c)
	}
	if q.After == "" && q.Shared {
		page.Next = "after the first"
	}
	return page, f.err
}

func (f *fake) Contact(of api.ContactRef, name string) (api.Contact, error) {
	f.mutex.Lock()
	c := api.Contact{ContactRef: of, Clusters: 4, Marks: []api.Mark{}}
	if len(f.clicked) > 0 {
		c.Marks = append(c.Marks, api.Mark{
			Label: "spam", Votes: 1, Hams: len(f.harmless), Counts: len(f.harmless) == 0, Used: 2, Reach: 6,
			Clicked: f.clicked, Harmless: f.harmless,
		})
	}
	f.mutex.Unlock()
	oldest := f.cluster()
	c.Oldest = &oldest
	if of.Contact != called || name == "ham" && len(c.Marks) == 0 {
		return api.Contact{}, api.ErrUnknown
	}
	return c, f.err
}

func (f *fake) AppliedTo(api.ContactRef, article.Address) bool { return !f.silent }

func (f *fake) Check(_ context.Context, texts []api.Text, o api.CheckOptions) ([]api.Checked,
	error,
) {
	var all []api.Checked
	for _, t := range texts {
		c, none, some := f.cluster(), 0.0, 3.0
		checked := api.Checked{
			Status: article.New, Labels: []string{}, TrialLabels: []string{}, AsOf: f.asOf(),
		}
		switch t.Content {
		case "known":
			checked.Status, checked.Cluster, checked.Distance = article.Joined, &c, &none
			checked.Labels = c.Carried
		case "near":
			checked.Status, checked.Cluster, checked.Distance = article.Joined, &c, &some
			checked.Matched = article.ByText
		case "called":
			checked.Labels = []string{"spam"}
			checked.LabelledBy = []article.LabelledBy{{Label: "spam", Contact: "number:+15550100"}}
		case "":
			if t.Title == "" {
				checked.Status = article.Unclustered
			}
		}
		if o.RunnersUp > 0 {
			checked.RunnersUp = []api.Near{{Cluster: c, Distance: 5}}
			checked.Suspect = &api.Near{Cluster: c, Distance: 17}
		}
		all = append(all, checked)
	}
	return all, f.err
}

func (f *fake) Compare(_ context.Context, a, b api.Text) (api.Comparison, error) {
	one, two := article.Fingerprint(1), article.Fingerprint(2)
	c := api.Comparison{Threshold: 3, Fingerprints: []*article.Fingerprint{&one, &two}}
	if a.Content == "" || b.Content == "" {
		c.Fingerprints[1] = nil
		return c, f.err
	}
	d := 2.0
	c.Distance, c.Same = &d, true
	return c, f.err
}

func (f *fake) Cluster(_ context.Context, id string) (api.Cluster, api.AsOf, error) {
	switch {
	case f.err != nil:
		return api.Cluster{}, api.AsOf{}, f.err
	case id == "articles/7/1":
		return api.Cluster{}, api.AsOf{}, &api.ElsewhereError{Space: "7", Reason: "another has it"}
	case id == "articles/0/40" || id == "articles/0/3":
		c := f.cluster()
		c.ClusterID, c.StoryID = id, f.storyOf(id)
		return c, f.asOf(), nil
	case id != knownID:
		return api.Cluster{}, api.AsOf{}, api.ErrUnknown
	}
	c := f.cluster()
	c.StoryID = knownID
	if f.erased {
		c.Representative = article.Representative{ID: c.Representative.ID}
	}
	return c, f.asOf(), nil
}

func (f *fake) Clusters(_ context.Context, q api.ClusterQuery) (api.Clusters, error) {
	f.query = q
	page := api.Clusters{Clusters: []api.Cluster{f.cluster()}, AsOf: f.AsOf()}
	if q.After == "" {
		page.Next = "after the first"
	}
	if q.Sort == api.ByGrowth {
		page.Since = noon
	}
	return page, f.err
}

func (f *fake) Labelled(ctx context.Context, after string, limit int) (api.Clusters, error) {
	return f.Clusters(ctx, api.ClusterQuery{After: after, Limit: limit})
}

func (f *fake) story() api.Story {
	return api.Story{
		StoryID: knownID, Headline: article.Headline{Title: "H", ClusterID: knownID, ArticleID: "a1"},
		Clusters: 2, Articles: 9, Publishers: article.NewPublishers(4), Recent: 3,
		FirstSeen: noon, LastSeen: noon, Terms: []string{"bridge"},
	}
}

func (f *fake) Stories(_ context.Context, sort string, _ int) (api.Stories, error) {
	f.query.Sort = sort
	return api.Stories{Stories: []api.Story{f.story()}, AsOf: f.AsOf()}, f.err
}

// storyOf returns the story of a cluster.
func (f *fake) storyOf(cluster string) string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if _, ok := f.into[cluster]; ok || cluster != "articles/0/40" {
		return cluster
	}
	return knownID
}

func (f *fake) Story(ctx context.Context, id, after string, _ int) (api.OneStory, error) {
	f.mutex.Lock()
	into, known := f.into[id]
	f.mutex.Unlock()
	one := api.OneStory{Story: f.story(), Clusters: []api.Cluster{f.cluster()}, AsOf: f.asOf()}
	if known {
		one.Story.StoryID = id
		if into != "" {
			one.Story.StoryID, one.Merged = into, id
		}
	} else if _, _, err := f.Cluster(ctx, id); err != nil || id == "articles/0/40" {
		return api.OneStory{}, cmp.Or(err, api.ErrUnknown)
	}
	if id == "articles/8/1" {
		one.AsOf.Space = "8"
	}
	if after == "" {
		one.Next = "12"
	}
	return one, f.err
}

func (f *fake) Part(_ context.Context, id, other string) (string, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	_, known := f.into[id]
	switch {
	case f.into[id] == other && known:
		return id, f.err
	case f.into[other] == id:
		return other, f.err
	case !known && id != knownID:
		return "", api.ErrUnknown
	}
	return "", api.Invalid("/other", "is not part of this story")
}

func (f *fake) StoryWords(t api.FullText) (vector []byte, han bool, terms string, err error) {
	return []byte("vector"), false, t.Title, f.err
}

func (f *fake) Applied(string, article.Address) bool { return !f.silent }

func (f *fake) AsOf() []api.AsOf { return []api.AsOf{f.asOf()} }

func (f *fake) member(position uint64) api.Member {
	d := 1.0
	return api.Member{
		ArticleID: fmt.Sprint("a", position), Status: article.Joined, Distance: &d, EventTime: noon,
		Position: position, Source: article.Address{Topic: "articles", Offset: int64(position)},
		Labels: []string{"spam"}, Publisher: "desk", Fingerprint: new(article.Fingerprint(7)),
	}
}

func (f *fake) Members(_ context.Context, id string, from uint64, limit int) ([]api.Member, bool,
	api.View, error,
) {
	if id != knownID {
		return nil, false, api.View{}, api.ErrUnknown
	}
	page := []api.Member{}
	for p := max(from, 12); p < 15 && len(page) < limit; p++ {
		page = append(page, f.member(p))
	}
	more := len(page) > 0 && page[len(page)-1].Position < 14
	return page, more, api.View{Lag: 2, Complete: true}, f.err
}

func (f *fake) Article(_ context.Context, id string) (api.Member, string, api.View, error) {
	switch id {
	case "a 1/2":
		return f.member(12), knownID, api.View{Complete: true}, f.err
	case "lost":
		return f.member(1), "articles/0/1", api.View{Complete: true}, f.err
	case "nothing":
		m := f.member(13)
		m.Status, m.Distance = article.Unclustered, nil
		return m, "", api.View{}, f.err
	}
	return api.Member{}, "", api.View{}, api.ErrUnknown
}

type fakeTopics struct{ *fake }

func (f fakeTopics) Article(_ context.Context, a api.NewArticle) (article.Address, Waiter, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.texts = append(f.texts, a)
	return article.Address{Topic: "articles", Offset: 12}, fakeWaiter(f), f.err
}

type fakeWaiter struct{ *fake }

func (f fakeWaiter) Close() {}

func (f fakeWaiter) Result(ctx context.Context) (events.Event, error) {
	if f.silent {
		<-ctx.Done()
		return events.Event{}, ctx.Err()
	}
	id, d, fingerprint := knownID, 0.0, article.Fingerprint(7)
	r := article.Result{
		ArticleID: "a1", ClusterID: &id, Status: article.New, Distance: &d, Size: 1,
		Representative: &article.Representative{ID: "a1"}, Fingerprint: &fingerprint,
		Source: article.Address{Topic: "articles", Offset: 12}, Pipeline: "simhash",
	}
	return events.Event{Kind: events.Result, Value: r.JSON(), Position: 17}, nil
}

func (f fakeTopics) ChangeStory(_ context.Context, r api.StoryRecord) (article.Address, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.changed = append(f.changed, r)
	switch {
	case f.refuses || f.silent:
	case r.Action == api.Merge:
		f.into[r.Other] = r.StoryID
	case r.Action == api.Unmerge:
		f.into[r.Other] = ""
	default:
		f.into[r.ClusterID] = ""
	}
	return article.Address{Topic: "labels"}, f.err
}

func (f fakeTopics) Erase(_ context.Context, r api.EraseRecord) (article.Address, error) {
	f.erasures = append(f.erasures, r)
	return article.Address{Topic: "labels"}, f.err
}

func (f fakeTopics) Labels(_ context.Context, records []api.LabelRecord) ([]article.Address,
	error,
) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var at []article.Address
	for _, r := range records {
		at = append(at, article.Address{Topic: "labels", Offset: int64(len(f.written))})
		f.written = append(f.written, r)
		switch {
		case f.refuses || f.silent || r.Action == api.Resume:
		case r.Target == api.ForContact:
			f.labelContact(&r, at[len(at)-1])
		case r.Action == api.Remove:
			delete(f.labelsOf(&r), r.Label)
		default:
			f.labelsOf(&r)[r.Label] = api.Label{
				Label: r.Label, By: r.By, At: r.At, Note: r.Note, Trial: r.Trial, Position: 17,
			}
		}
	}
	return at, f.err
}

// labelsOf returns the labels of what a record names.
func (f *fake) labelsOf(r *api.LabelRecord) map[string]api.Label {
	if r.Target == api.ForArticle {
		return f.exceptions
	}
	return f.labels
}

func (f *fake) labelContact(r *api.LabelRecord, at article.Address) {
	by := api.By{By: r.By, At: r.At, Record: at.String()}
	switch {
	case r.Action == api.Remove:
		f.clicked = nil
	case r.Label == "ham":
		by.Label = "ham"
		f.harmless = append(f.harmless, by)
	default:
		f.clicked = append(f.clicked, by)
	}
}

func (f fakeTopics) Texts(_ context.Context, of []article.Address) ([]Text, error) {
	var all []Text
	for _, a := range of {
		t := Text{FullText: api.FullText{Title: "T", Content: "C"}}
		if a.Offset == 13 {
			t = Text{Gone: "retention"}
		}
		all = append(all, t)
	}
	return all, f.err
}

func newFake() *fake {
	return &fake{
		labels: make(map[string]api.Label), exceptions: make(map[string]api.Label),
		into: map[string]string{"articles/0/3": "", "articles/1/3": "", "articles/8/1": ""},
	}
}

func (f *fake) options() Options {
	return Options{
		Spaces: f, Members: f, Topics: fakeTopics{f}, Events: events.NewHub(), Labels: true,
		Stats: func(context.Context) api.Stats {
			return api.Stats{
				State: "live", Since: noon, Clusters: map[string]int{"all": 1}, Lag: map[int]int64{0: 3},
				DeadLetters: map[string]int64{"bad_json": 1}, View: &api.ViewStats{},
				Labels: []api.LabelCount{{Label: "spam", Clusters: 1, Hits: 2, AboveFlood: true}},
			}
		},
	}
}

// handler serves the routes as alice, who may do all.
func handler(o Options) http.Handler {
	mux := http.NewServeMux()
	for _, r := range Routes(o) {
		mux.Handle(r.Method+" "+r.Path, r.Handler)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := access.With(r.Context(), access.Caller{Name: "alice", Rights: access.All})
		r.Body = http.MaxBytesReader(w, r.Body, api.MaxBody)
		mux.ServeHTTP(w, r.WithContext(ctx))
	})
}

// A document is openapi.json, in which each answer and request is looked up.
type document struct {
	compiler *jsonschema.Compiler
	paths    map[string]map[string]operation
	schemas  map[string]map[string]any
}

type operation struct {
	Responses   map[string]content
	RequestBody content
	Parameters  []struct {
		Name, In, Description string
		Schema                map[string]any
	}
}

type content struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema any }
}

var description = sync.OnceValue(func() *document {
	var d struct {
		Paths      map[string]map[string]operation
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal(api.Description, &d); err != nil {
		panic(err)
	}
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(api.Description))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///openapi.json", raw); err != nil {
		panic(err)
	}
	return &document{c, d.Paths, d.Components.Schemas}
})

// check returns why a JSON value is not what the description has at a place in it.
func (d *document) check(t *testing.T, place string, value []byte) error {
	t.Helper()
	schema, err := d.compiler.Compile("mem:///openapi.json#" + place)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// at returns the place of a schema: of a response, or of a request if there is no status.
func at(method, path, status, contentType string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace
	where := "requestBody"
	if status != "" {
		where = "responses/" + status
	}
	return fmt.Sprintf("/paths/%s/%s/%s/content/%s/schema", escape(path), strings.ToLower(method),
		where, escape(contentType))
}

// documented returns the path of the description that a route is.
func documented(path string) string {
	return strings.NewReplacer("{id...}", "{id}", "{topic}/{partition}/{offset}", "{id}").Replace(path)
}

// A got is an answer.
type got struct {
	*http.Response
	body string
}

// send sends a request, and holds its answer to the description.
func send(t *testing.T, h http.Handler, method, target, contentType, body string) got {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return sendRequest(t, h, r)
}

func sendRequest(t *testing.T, h http.Handler, r *http.Request) got {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	answer := got{w.Result(), w.Body.String()}
	path := documented(strings.TrimPrefix(r.Pattern, r.Method+" "))
	if r.Pattern == "" {
		path = patternOf(t, r)
	}
	d := description()
	status := fmt.Sprint(answer.StatusCode)
	response, ok := d.paths[path][strings.ToLower(r.Method)].Responses[status]
	if !ok {
		t.Fatalf("%s %s answers %s, which is not described: %s", r.Method, path, status, w.Body)
	}
	kind, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	place := at(r.Method, path, status, kind)
	if response.Ref != "" {
		place = strings.TrimPrefix(response.Ref, "#") + "/content/application~1problem+json/schema"
		if kind != api.ProblemType {
			t.Errorf("%s %s: %s is %s", r.Method, path, status, kind)
		}
	} else if _, ok := response.Content[kind]; !ok {
		t.Fatalf("%s %s answers %s with %q, which is not described", r.Method, path, status, kind)
	}
	lines := []string{w.Body.String()}
	if kind == typeLines {
		lines = strings.Split(strings.TrimSpace(lines[0]), "\n")
	}
	for _, line := range lines {
		if err := d.check(t, place, []byte(line)); err != nil {
			t.Errorf("%s %s answers %s, which is not as described: %v", r.Method, path, line, err)
		}
	}
	return answer
}

// patternOf returns the path of the description that a request is for.
func patternOf(t *testing.T, r *http.Request) string {
	t.Helper()
	mux := http.NewServeMux()
	for _, route := range Routes(newFake().options()) {
		mux.Handle(route.Method+" "+route.Path, route.Handler)
	}
	_, pattern := mux.Handler(r)
	return documented(strings.TrimPrefix(pattern, r.Method+" "))
}
