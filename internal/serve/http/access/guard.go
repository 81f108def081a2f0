package access

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/clusterd/clusterd/internal/secret/redacted"
	"github.com/clusterd/clusterd/internal/secret/reload"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// Options say to whom a [Guard] opens. Where they have neither tokens nor a header of users, it
// opens to everybody on this machine, and to nobody else.
type Options struct {
	Listen         string // host:port: the host is one that requests may name
	Token          redacted.Text
	TokensFile     string   // empty: none
	Hosts          []string // further hosts that requests may name
	Origins        []string // further origins of pages that may ask
	TrustedProxies []string // addresses or CIDRs
	UserHeader     string   // by which these name who asks; empty: they do not
	Rate           int      // requests a second of a client; 0: no limit
	LongRequests   LongRequests
	// Visitors answers whoever opens a page and has not said who asks: it offers to log in. Nil: they
	// get problem details, as programs do.
	Visitors http.Handler
}

// LongRequests are those that wait or stream. Zero values are the usual ones.
type LongRequests struct {
	Each  int           // of those that wait, and of those that stream: at once of a client
	All   int           // of either: at once
	Write time.Duration // for each part of an answer
}

// Guard stands before all that is served. It may be asked by several goroutines at once.
type Guard struct {
	named    *reload.Value[tokens] // nil: no file
	owner    tokens                // http.token, or nothing
	open     bool                  // to this machine
	proxies  proxies
	header   string
	browsers *browsers
	sessions sessions
	logins   chan struct{}
	rates    rates
	waiting  places
	streams  places
	write    time.Duration
	visitors http.Handler    // nil: there is no page
	stopping context.Context // ends long requests
	log      *slog.Logger
	denied   rate.Sometimes // logs that somebody was refused
}

const (
	rememberedClients = 10_000
	eachLong          = 64
	allLong           = 512
	writeTime         = 15 * time.Second
)

// New returns a guard. When stopping ends, so do the contexts of long requests. An error names the
// key to change.
func New(stopping context.Context, o Options, log *slog.Logger) (*Guard, error) {
	trusted, err := parseProxies(o.TrustedProxies)
	if err != nil {
		return nil, err
	}
	pages, err := newBrowsers(o.Listen, o.Hosts, o.Origins)
	if err != nil {
		return nil, err
	}
	g := &Guard{
		open:    o.Token == "" && o.TokensFile == "" && o.UserHeader == "",
		proxies: trusted, header: o.UserHeader, browsers: pages,
		sessions: sessions{all: make(map[digest]session)},
		logins:   make(chan struct{}, logins),
		rates:    rates{most: rememberedClients},
		waiting:  newPlaces(o.LongRequests), streams: newPlaces(o.LongRequests),
		write: cmp.Or(o.LongRequests.Write, writeTime), visitors: o.Visitors, stopping: stopping,
		log:    log,
		denied: rate.Sometimes{Interval: time.Minute},
	}
	g.rates.set(o.Rate)
	if o.Token != "" {
		g.owner = tokens{{digest: digestOf(o.Token.Reveal()), caller: Caller{Owner, All}}}
	}
	if o.TokensFile != "" {
		g.named, err = reload.New("http.tokens_file",
			[]reload.Source{{Path: o.TokensFile, Private: true}},
			func(files [][]byte) (tokens, error) {
				all, err := parseTokens(files[0])
				if err != nil {
					err = fmt.Errorf("%s, %w", o.TokensFile, err)
				}
				return all, err
			}, log)
	}
	return g, err
}

// SetRate changes how many requests a second a client may make; 0 is no limit.
func (g *Guard) SetRate(limit int) { g.rates.set(limit) }

// Wrap answers who may not ask, logs in and out, and hands all else on with its [Caller]. It goes
// around all routes but those that everybody may ask.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Protect(w.Header())
		who := g.identify(r)
		switch {
		case !g.rates.take(who.key, time.Now()):
			w.Header().Set("Retry-After", "1")
			refuse(w, r, http.StatusTooManyRequests, "too many requests for http.rate: ask more slowly")
		case !who.bearer && !g.browsers.knows(r):
			refuse(w, r, http.StatusForbidden, "the header Host names no host of this server, and may be "+
				"of a page of others: bear a token, or let the host be named in http.hosts")
		case g.browsers.foreign(r):
			refuse(w, r, http.StatusForbidden, "the page that asks is of another origin: let it be named "+
				"in http.origins")
		case g.browsers.share(w.Header(), r):
			w.WriteHeader(http.StatusNoContent)
		case r.URL.Path == "/v1/login":
			g.login(w, r)
		case r.URL.Path == "/v1/logout":
			g.logout(w, r)
		case r.URL.Path == LoginForm:
			g.loginForm(w, r)
		case r.URL.Path == LogoutForm:
			g.logoutForm(w, r)
		case who.Rights == 0 && g.visitors != nil && opensPage(r):
			g.visitors.ServeHTTP(w, r)
		case who.Rights == 0:
			g.unknown(w, r, who.why)
		case who.cookie && !g.browsers.ownPage(r):
			refuse(w, r, http.StatusForbidden, notOwnPage)
		default:
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), askedKey{}, who.asked)))
		}
	})
}

const notOwnPage = "with a cookie, only a page of this server may ask for a change, " +
	"which the header Origin must say: a program bears a token"

// identity is who asks, and how that is known.
type identity struct {
	asked
	bearer bool   // by a token that no browser sends by itself
	cookie bool   // by what a browser does send by itself
	why    string // somebody is nobody
}

// identify says who asks: the first that the request has of a token, a proxy's word and a cookie.
func (g *Guard) identify(r *http.Request) identity {
	address := addressKey(g.proxies.client(r))
	known := func(c Caller) identity { return identity{asked: asked{c, "name " + c.Name}} }
	nobody := func(why string) identity {
		return identity{asked: asked{key: "address " + address}, why: why}
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") && !g.open {
		caller, ok := g.find(digestOf(given))
		if !ok {
			return nobody("there is no such token")
		}
		who := known(caller)
		who.bearer = true
		return who
	}
	user, valid := g.proxies.user(r, g.header)
	switch {
	case !valid:
		return nobody("the proxy's header of the user has no name: it must have one, of at most 64 " +
			"bytes, without characters that nobody sees")
	case user != "" && g.isToken(user):
		return nobody("the proxy's user has the name of a token in http.tokens_file, and records would " +
			"not tell the two apart: give the token another name")
	case user != "":
		return known(Caller{user, Read | Label})
	}
	secure := g.proxies.secure(r)
	if c, err := r.Cookie(cookieName(secure)); err == nil {
		if token, ok := g.sessions.token(c.Value, time.Now()); ok {
			if caller, ok := g.find(token); ok {
				who := known(caller)
				who.cookie = true
				return who
			}
		}
	}
	if g.open && local(r).IsLoopback() {
		return identity{asked: asked{Caller{Local, All}, "address " + address}}
	}
	return nobody("give the header Authorization: Bearer, and the token of http.token or one of " +
		"http.tokens_file")
}

// find returns who has the token with a hash.
func (g *Guard) find(given digest) (Caller, bool) {
	caller, ok := g.owner.find(given)
	if g.named != nil {
		if named, found := g.named.Get().find(given); found && !ok {
			return named, true
		}
	}
	return caller, ok
}

// isToken reports whether a name is that of a token.
func (g *Guard) isToken(name string) bool {
	return g.named != nil && slices.ContainsFunc(g.named.Get(),
		func(t token) bool { return t.caller.Name == name })
}

// unknown refuses somebody who did not say who asks.
func (g *Guard) unknown(w http.ResponseWriter, r *http.Request, why string) {
	g.denied.Do(func() {
		g.log.Warn("somebody asked over HTTP without a token that is known; this is logged at most once "+
			"a minute", "address", g.proxies.client(r).String())
	})
	challenge := `Bearer realm="clusterd"`
	if r.Header.Get("Authorization") != "" {
		challenge += `, error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	refuse(w, r, http.StatusUnauthorized, why)
}

// refuse answers a request without reading its body.
func refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close") // rather than read what may follow
	}
	api.WriteProblem(w, status, "", why)
}
