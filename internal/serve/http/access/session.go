package access

import (
	"crypto/rand"
	"encoding/json"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

const (
	sessionTime   = 12 * time.Hour
	tokenSessions = 16      // of one token at once; for one more, the oldest ends
	loginBytes    = 4 << 10 // of a body with a token
	loginTime     = 2 * time.Second
	logins        = 32 // whose bodies are read at once
)

// sessions are the browsers that have shown a token. A session stands for its token, and ends with
// it.
type sessions struct {
	mutex sync.Mutex
	all   map[digest]session // by the hash of its id, which only the browser has
}

type session struct {
	token   digest
	expires time.Time
}

// begin returns the id of a new session.
func (s *sessions) begin(token digest, now time.Time) (id string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var oldest digest
	of := 0
	for id, other := range s.all {
		switch {
		case !other.expires.After(now):
			delete(s.all, id)
		case other.token == token:
			if of++; of == 1 || other.expires.Before(s.all[oldest].expires) {
				oldest = id
			}
		}
	}
	if of >= tokenSessions {
		delete(s.all, oldest)
	}
	id = rand.Text()
	s.all[digestOf(id)] = session{token: token, expires: now.Add(sessionTime)}
	return id
}

// token returns that which a session stands for.
func (s *sessions) token(id string, now time.Time) (digest, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	one, ok := s.all[digestOf(id)]
	return one.token, ok && one.expires.After(now)
}

func (s *sessions) end(id string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.all, digestOf(id))
}

// cookie returns the cookie of a session, or with an empty id what removes it. Where it only goes
// over encrypted connections, its name keeps other hosts of the domain from setting it.
func cookie(id string, secure bool) *http.Cookie {
	c := &http.Cookie{
		Name: cookieName(secure), Value: id, Path: "/", MaxAge: int(sessionTime.Seconds()),
		Secure: secure, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
	if id == "" {
		c.MaxAge = -1
	}
	return c
}

func cookieName(secure bool) string {
	if secure {
		return "__Host-clusterd"
	}
	return "clusterd"
}

// login answers who shows a token with a cookie that stands for it.
func (g *Guard) login(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		onlyPost(w)
		return
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		refuse(w, r, http.StatusUnsupportedMediaType, `give {"token": "…"} as application/json`)
		return
	}
	giveBack, ok := g.loginPlace(w, r)
	if !ok {
		return
	}
	defer giveBack()
	var body struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, loginBytes)).Decode(&body); err != nil {
		refuse(w, r, http.StatusBadRequest, `the body must be {"token": "…"}, of at most 4 KiB`)
		return
	}
	now := time.Now()
	caller, ok := g.begin(w, r, body.Token, now)
	if !ok {
		g.unknown(w, r, "there is no such token")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // whoever asked may have gone
		"name": caller.Name, "rights": caller.Rights.Names(),
		"expires": now.Add(sessionTime).UTC().Truncate(time.Second),
	})
}

// loginPlace bounds how many bodies with tokens are read at once, and how slowly one may come:
// nobody is known yet who would send it. It answers whoever has no place.
func (g *Guard) loginPlace(w http.ResponseWriter, r *http.Request) (giveBack func(), ok bool) {
	select {
	case g.logins <- struct{}{}:
	default:
		w.Header().Set("Retry-After", "1")
		refuse(w, r, http.StatusServiceUnavailable, "too many log in at once: try again in a second")
		return nil, false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(loginTime))
	return func() { <-g.logins }, true
}

// begin begins a session for who shows a token that is known.
func (g *Guard) begin(w http.ResponseWriter, r *http.Request, token string, now time.Time) (
	caller Caller, ok bool,
) {
	given := digestOf(token)
	if caller, ok = g.find(given); ok {
		http.SetCookie(w, cookie(g.sessions.begin(given, now), g.proxies.secure(r)))
	}
	return caller, ok
}

// logout ends the session of a cookie, if there is one.
func (g *Guard) logout(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		onlyPost(w)
		return
	}
	if g.end(w, r) {
		w.WriteHeader(http.StatusNoContent)
	}
}

// end ends the session of a cookie, if there is one, or answers that it may not.
func (g *Guard) end(w http.ResponseWriter, r *http.Request) bool {
	secure := g.proxies.secure(r)
	if c, err := r.Cookie(cookieName(secure)); err == nil {
		if !g.browsers.ownPage(r) {
			refuse(w, r, http.StatusForbidden, notOwnPage)
			return false
		}
		g.sessions.end(c.Value)
	}
	http.SetCookie(w, cookie("", secure))
	return true
}

func onlyPost(w http.ResponseWriter) {
	w.Header().Set("Allow", http.MethodPost)
	w.Header().Set("Connection", "close")
	api.WriteProblem(w, http.StatusMethodNotAllowed, "", "only POST is allowed here")
}
