package access

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The addresses to which a page's forms are sent, so that logging in and out needs no script.
const (
	LoginForm  = "/login"
	LogoutForm = "/logout"
)

// The fields of the login form, and the parameter of the address to which whoever showed no token
// that is known is sent back.
const (
	TokenField  = "token"
	NextField   = "next" // where to go on: a path of this server
	WrongMarker = "wrong"
)

// PageFiles is where the files lie that a page consists of, which everybody may have.
const PageFiles = "/page/"

// opensPage reports whether a browser asks for a page, or for what a page consists of.
func opensPage(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead ||
		r.Header.Get("Authorization") != "" {
		return false
	}
	return strings.HasPrefix(r.URL.Path, PageFiles) ||
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// loginForm takes a token from a page's form, and sends the browser on.
func (g *Guard) loginForm(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || g.visitors == nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	giveBack, ok := g.loginPlace(w, r)
	if !ok {
		return
	}
	defer giveBack()
	r.Body = http.MaxBytesReader(w, r.Body, loginBytes)
	if err := r.ParseForm(); err != nil {
		refuse(w, r, http.StatusBadRequest, "the body must be a form of at most 4 KiB")
		return
	}
	next := localPath(r.PostForm.Get(NextField))
	if _, ok := g.begin(w, r, strings.TrimSpace(r.PostForm.Get(TokenField)), time.Now()); !ok {
		query := next.Query()
		query.Set(WrongMarker, "1")
		next.RawQuery = query.Encode()
	}
	http.Redirect(w, r, next.String(), http.StatusSeeOther)
}

// logoutForm ends a session, and sends the browser to the start.
func (g *Guard) logoutForm(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		onlyPost(w)
		return
	}
	if g.end(w, r) {
		http.Redirect(w, r, "/", http.StatusSeeOther)
	}
}

// localPath returns the path and the query of an address of this server, or else "/": a form may
// not lead elsewhere.
func localPath(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		!strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") ||
		strings.Contains(u.Path, "\\") {
		return &url.URL{Path: "/"}
	}
	query := u.Query()
	query.Del(WrongMarker)
	return &url.URL{Path: u.Path, RawQuery: query.Encode()}
}
