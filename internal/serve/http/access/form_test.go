package access

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A browser without script logs in and out by forms; nobody else's page can send them.
func TestForms(t *testing.T) {
	visitors := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "log in")
	})
	s := newSite(t, Options{TokensFile: tokensFile(t, tokensText), Visitors: visitors})
	page := map[string]string{"Accept": "text/html,*/*"}
	typed := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	form := with(typed, "Sec-Fetch-Site", "same-origin")
	for _, line := range []string{"GET /read", "GET /page/style.css", "HEAD /"} {
		if w := s.ask(request{line: line, header: page}); w.Body.String() != "log in" {
			t.Errorf("%s for a visitor: %d %s", line, w.Code, w.Body)
		}
	}
	for name, q := range map[string]request{
		"a program":           {line: "GET /read"},
		"a form":              {line: "POST /label", header: page},
		"a token of nobody's": {line: "GET /read", header: with(bearer(noToken), "Accept", "text/html")},
	} {
		if w := s.ask(q); w.Code != http.StatusUnauthorized || w.Body.String() == "log in" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	fields := url.Values{TokenField: {" " + labelToken + "\r\n"}, NextField: {"/read?title=x&wrong=1"}}
	foreign := with(typed, "Sec-Fetch-Site", "cross-site")
	if w := s.ask(request{line: "POST /login", header: foreign, body: fields.Encode()}); w.Code !=
		http.StatusForbidden {
		t.Errorf("a page of others logs in: %d", w.Code)
	}
	w := s.ask(request{line: "POST /login", header: form, body: fields.Encode()})
	if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != "/read?title=x" {
		t.Fatalf("logged in: %d to %q", w.Code, got)
	}
	session := w.Result().Cookies()[0]
	known := with(page, "Cookie", session.Name+"="+session.Value)
	if w := s.ask(request{line: "GET /read", header: known}); w.Body.String() != "alice read,label" {
		t.Errorf("after logging in: %s", w.Body)
	}
	out := with(typed, "Cookie", session.Name+"="+session.Value)
	if w := s.ask(request{
		line: "POST /logout", header: with(out, "Sec-Fetch-Site", "same-site"),
	}); w.Code != http.StatusForbidden {
		t.Errorf("a page of others logs out: %d", w.Code)
	}
	out = with(out, "Sec-Fetch-Site", "same-origin")
	if w := s.ask(request{line: "POST /logout", header: out}); w.Code != http.StatusSeeOther {
		t.Errorf("logged out: %d %s", w.Code, w.Body)
	}
	if w := s.ask(request{line: "GET /read", header: known}); w.Body.String() != "log in" {
		t.Errorf("after logging out: %s", w.Body)
	}
	fields.Set(TokenField, noToken)
	w = s.ask(request{line: "POST /login", header: form, body: fields.Encode()})
	if got := w.Header().Get("Location"); len(w.Result().Cookies()) > 0 ||
		got != "/read?title=x&wrong=1" {
		t.Errorf("with a token of nobody's: %q, %v", got, w.Result().Cookies())
	}
	fields.Set(TokenField, strings.Repeat("x", 5000))
	if w := s.ask(request{line: "POST /login", header: form, body: fields.Encode()}); w.Code !=
		http.StatusBadRequest {
		t.Errorf("a token that is far too long: %d", w.Code)
	}
}

func TestFormsLeadNowhereElse(t *testing.T) {
	for text, want := range map[string]string{
		"": "/", "/tail": "/tail", "//evil.example/": "/", "https://evil.example/": "/",
		"/\\evil.example": "/", "javascript:alert(1)": "/", "/a?wrong=1&b=c": "/a?b=c", "%zz": "/",
		"/%2f/evil.example": "/",
	} {
		if got := localPath(text).String(); got != want {
			t.Errorf("%q leads to %q, want %q", text, got, want)
		}
	}
}
