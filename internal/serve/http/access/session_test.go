package access

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// login shows a token, and returns the cookie that stands for it.
func (s *site) login(token string, encoded bool) *http.Cookie {
	s.Helper()
	w := s.ask(request{
		line: "POST /v1/login", body: `{"token": "` + token + `"}`, encoded: encoded,
		header: map[string]string{"Content-Type": "application/json"},
	})
	cookies := w.Result().Cookies()
	if w.Code != http.StatusOK || len(cookies) != 1 {
		s.Fatalf("login: %d %s, %d cookies", w.Code, w.Body, len(cookies))
	}
	return cookies[0]
}

func cookieOf(c *http.Cookie, more ...string) map[string]string {
	header := map[string]string{"Cookie": c.Name + "=" + c.Value}
	for i := 0; i < len(more); i += 2 {
		header[more[i]] = more[i+1]
	}
	return header
}

// A browser shows a token once, and gets a cookie that no script reads and no other site sends.
func TestLogin(t *testing.T) {
	s := newSite(t, Options{TokensFile: tokensFile(t, tokensText)})
	w := s.ask(request{
		line: "POST /v1/login", body: `{"token": "` + labelToken + `"}`,
		header: map[string]string{"Content-Type": "application/json; charset=utf-8"},
	})
	var body struct {
		Name    string
		Rights  []string
		Expires time.Time
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Name != "alice" ||
		fmt.Sprint(body.Rights) != "[read label]" || time.Until(body.Expires) < 11*time.Hour {
		t.Errorf("%v: %s", err, w.Body)
	}
	cookie := w.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" ||
		cookie.Secure || cookie.MaxAge != 12*60*60 || cookie.Domain != "" {
		t.Errorf("the cookie is %v", cookie)
	}
	encoded := s.login(labelToken, true)
	if !encoded.Secure || encoded.Name != "__Host-clusterd" {
		t.Errorf("with TLS, the cookie is %v", encoded)
	}
	own := []string{"Origin", "http://127.0.0.1:8080"}
	s.check([]answer{
		{"it asks", request{line: "GET /read", header: cookieOf(cookie)}, 200, "alice read,label"},
		{
			"it labels, from the own page",
			request{line: "POST /label", header: cookieOf(cookie, own...)},
			200, "alice",
		},
		{"as the browser says", request{line: "POST /label", header: cookieOf(cookie, "Sec-Fetch-Site",
			"same-origin")}, 200, "alice"},
		{
			"it does not write",
			request{line: "POST /write", header: cookieOf(cookie, own...)},
			403,
			"the right write",
		},
		{
			"it does not say from which page",
			request{line: "POST /label", header: cookieOf(cookie)},
			403,
			"the header Origin must say",
		},
		{
			"by hand",
			request{line: "POST /label", header: cookieOf(cookie, "Sec-Fetch-Site", "none")},
			403,
			"the header Origin must say",
		},
		{"from a page of others", request{line: "POST /label", header: cookieOf(cookie, "Origin",
			"http://127.0.0.1:3000")}, 403, noOrigin},
		{"from a neighbour", request{line: "POST /label", header: cookieOf(cookie, "Origin",
			"http://127.0.0.1:8080", "Sec-Fetch-Site", "same-site")}, 403, noOrigin},
		{"by a name of others", request{line: "GET /read", header: cookieOf(cookie, "Host",
			"evil.example")}, 403, noHost},
		{"a wrong token beside it", request{line: "GET /read", header: cookieOf(cookie, "Authorization",
			"Bearer x")}, 401, nobody},
		{"another id", request{line: "GET /read", header: map[string]string{
			"Cookie": "clusterd=" + strings.Repeat("A", 26),
		}}, 401, "Authorization"},
		{"its hash", request{line: "GET /read", header: map[string]string{
			"Cookie": fmt.Sprintf("clusterd=%x", digestOf(cookie.Value)),
		}}, 401, "Authorization"},
		{
			"no id",
			request{line: "GET /read", header: map[string]string{"Cookie": "clusterd="}},
			401,
			"Authorization",
		},
		{"with TLS, one of plain HTTP", request{
			line: "GET /read", header: cookieOf(cookie),
			encoded: true,
		}, 401, "Authorization"},
		{"with TLS", request{line: "GET /read", header: cookieOf(encoded), encoded: true}, 200, "alice"},
	})
}

// Behind a proxy with TLS, the cookie goes over encrypted connections alone; that it is one, a
// trusted proxy says, and nobody else.
func TestCookieBehindAProxy(t *testing.T) {
	s := newSite(t, Options{Token: ownerToken, TrustedProxies: []string{"10.0.0.1"}})
	for _, tt := range []struct {
		from, proto string
		secure      bool
	}{
		{"10.0.0.1:1", "https", true},
		{"10.0.0.1:1", "http", false},
		{"10.0.0.2:1", "https", false},
	} {
		w := s.ask(request{
			line: "POST /v1/login", body: `{"token": "` + ownerToken + `"}`, from: tt.from,
			header: map[string]string{"Content-Type": "application/json", "X-Forwarded-Proto": tt.proto},
		})
		if cookies := w.Result().Cookies(); len(cookies) != 1 || cookies[0].Secure != tt.secure ||
			strings.HasPrefix(cookies[0].Name, "__Host-") != tt.secure {
			t.Errorf("%s by %s: %v", tt.proto, tt.from, cookies)
		}
	}
}

// A page that http.origins lists bears a token: the cookie is for the server's own pages alone.
func TestCookieIsForTheOwnPages(t *testing.T) {
	s := newSite(t, Options{Token: ownerToken, Origins: []string{"http://127.0.0.1:3000"}})
	cookie := s.login(ownerToken, false)
	w := s.ask(request{
		line: "POST /label", header: cookieOf(cookie, "Origin", "http://127.0.0.1:3000"),
	})
	if w.Code != http.StatusForbidden || w.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestLoginRefuses(t *testing.T) {
	s := newSite(t, Options{TokensFile: tokensFile(t, tokensText)})
	post := func(body string, header map[string]string) request {
		return request{
			line: "POST /v1/login", body: body,
			header: with(header, "Content-Type", "application/json"),
		}
	}
	s.check([]answer{
		{"another token", post(`{"token": "`+noToken+`"}`, nil), 401, nobody},
		{"an empty token", post(`{"token": ""}`, nil), 401, nobody},
		{"no token", post(`{}`, nil), 401, nobody},
		{"no JSON", post(`token=`+readToken, nil), 400, "the body must be"},
		{"no body", post(``, nil), 400, "the body must be"},
		{"a list", post(`["`+readToken+`"]`, nil), 400, "the body must be"},
		{"a large body", post(`{"token": "`+strings.Repeat("x", 5000)+`"}`, nil), 400, "at most 4 KiB"},
		{
			"a form, which any page can send",
			request{line: "POST /v1/login", body: `{"token": "` +
				readToken + `"}`, header: map[string]string{"Content-Type": "text/plain"}},
			415,
			"application/json",
		},
		{"from a page of others", post(`{"token": "`+readToken+`"}`, map[string]string{
			"Origin": "https://evil.example",
		}), 403, noOrigin},
		{"by a name of others", post(`{"token": "`+readToken+`"}`, map[string]string{
			"Host": "evil.example",
		}), 403, noHost},
		{"GET", request{line: "GET /v1/login"}, 405, "only POST"},
		{"GET of the other", request{line: "GET /v1/logout"}, 405, "only POST"},
	})
}

func TestLogout(t *testing.T) {
	s := newSite(t, Options{Token: ownerToken})
	cookie := s.login(ownerToken, false)
	leave := func(header map[string]string) *http.Response {
		return s.ask(request{line: "POST /v1/logout", header: header}).Result()
	}
	if got := leave(cookieOf(cookie)).StatusCode; got != http.StatusForbidden {
		t.Errorf("without an origin: %d", got)
	}
	if w := s.ask(request{line: "GET /read", header: cookieOf(cookie)}); w.Code != 200 {
		t.Errorf("the session has ended all the same: %d", w.Code)
	}
	got := leave(cookieOf(cookie, "Origin", "http://127.0.0.1:8080"))
	if cookies := got.Cookies(); got.StatusCode != 204 || len(cookies) != 1 ||
		cookies[0].MaxAge >= 0 || cookies[0].Name != cookie.Name {
		t.Errorf("%d %v, want the cookie removed", got.StatusCode, cookies)
	}
	if w := s.ask(request{line: "GET /read", header: cookieOf(cookie)}); w.Code != 401 {
		t.Errorf("the session goes on: %d", w.Code)
	}
	if got := leave(nil).StatusCode; got != 204 {
		t.Errorf("who has no session: %d", got)
	}
}

// Sessions end after 12 hours, and with their token. Of one token there are 16 at most, and none
// pushes out those of another.
func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := tokensFile(t, tokensText)
		s := newSite(t, Options{TokensFile: path})
		code := func(c *http.Cookie) int {
			return s.ask(request{line: "GET /read", header: cookieOf(c)}).Code
		}
		other, first := s.login(labelToken, false), s.login(readToken, false)
		for range tokenSessions - 1 {
			time.Sleep(time.Millisecond)
			s.login(readToken, false)
		}
		if got := code(first); got != 200 {
			t.Errorf("the first of 16: %d", got)
		}
		time.Sleep(time.Millisecond)
		s.login(readToken, false)
		if got := code(first); got != 401 {
			t.Errorf("the first of 17: %d", got)
		}
		if got := code(other); got != 200 {
			t.Errorf("the one of another token: %d", got)
		}
		time.Sleep(sessionTime - time.Minute)
		last := s.login(readToken, false)
		if got := code(other); got != 200 {
			t.Errorf("a minute before its end: %d", got)
		}
		time.Sleep(time.Minute)
		if got := code(other); got != 401 {
			t.Errorf("after 12 hours: %d", got)
		}
		s.login(writeToken, false)
		if n := len(s.guard.sessions.all); n != 2 {
			t.Errorf("%d sessions are kept, want the last two", n)
		}
		text := strings.ReplaceAll(tokensText, "reader read ", "reader read,label ")
		rewrite(t, path, text)
		if w := s.ask(request{line: "GET /read", header: cookieOf(last)}); w.Body.String() !=
			"reader read,label" {
			t.Errorf("its rights are not those of the file: %s", w.Body)
		}
		rewrite(t, path, strings.ReplaceAll(text, readToken, noToken))
		if got := code(last); got != 401 {
			t.Errorf("without its token: %d", got)
		}
	})
}

// rewrite replaces a file, and waits until it is looked at again.
func rewrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
}

// Tokens that cannot be read leave those before in force, and the log says so without showing them.
func TestTokensAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := tokensFile(t, tokensText)
		s := newSite(t, Options{TokensFile: path})
		code := func(token string) int {
			return s.ask(request{line: "GET /read", header: bearer(token)}).Code
		}
		if code(readToken) != 200 || code(noToken) != 401 {
			t.Fatal("the tokens are not those of the file")
		}
		rewrite(t, path, "# none\nnobody read "+noToken)
		if a, b := code(noToken), code(readToken); a != 200 || b != 401 {
			t.Errorf("after a change: %d and %d, want 200 and 401", a, b)
		}
		rewrite(t, path, "nobody reads "+noToken)
		if got := code(noToken); got != 200 {
			t.Errorf("after a broken change: %d", got)
		}
		if !strings.Contains(s.log.String(), "level=ERROR") || !strings.Contains(s.log.String(),
			path+", line 1: the second word must name rights") {
			t.Errorf("logged %s", s.log)
		}
		rewrite(t, path, "")
		if got := code(noToken); got != 401 {
			t.Errorf("without any: %d", got)
		}
	})
}

func TestTokensThatCannotBeRead(t *testing.T) {
	path := tokensFile(t, "a read short")
	_, err := New(t.Context(), Options{TokensFile: path}, nil)
	want := "http.tokens_file: " + path + ", line 1: the token must have 16 characters"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = New(t.Context(), Options{TokensFile: path + "x"}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "http.tokens_file: stat ") {
		t.Errorf("%v, want that it is not there", err)
	}
}
