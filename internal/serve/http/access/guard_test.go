package access

import (
	"net/http"
	"strings"
	"testing"
)

// answer is what a request should get: who it was, or why not.
type answer struct {
	name string
	request
	code int
	want string // within the body
}

func (s *site) check(all []answer) {
	s.Helper()
	for _, tt := range all {
		s.Run(tt.name, func(t *testing.T) {
			inner := *s
			inner.T = t
			if w := inner.ask(tt.request); w.Code != tt.code || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("%d %s\nwant %d and %q", w.Code, w.Body, tt.code, tt.want)
			}
		})
	}
}

const (
	noHost   = "names no host of this server"
	noOrigin = "of another origin"
	nobody   = "there is no such token"
)

// Whoever is on this machine needs no token. A page of others needs a name by which it calls the
// server, and says of which origin it is.
func TestThisMachine(t *testing.T) {
	s := newSite(t, Options{
		Hosts: []string{"Desk.example.com"}, Origins: []string{"https://news.example.com"},
	})
	get := func(header ...string) request {
		q := request{line: "GET /read", header: map[string]string{}}
		for i := 0; i < len(header); i += 2 {
			q.header[header[i]] = header[i+1]
		}
		return q
	}
	post := func(header ...string) request {
		q := get(header...)
		q.line = "POST /label"
		return q
	}
	s.check([]answer{
		{"no header at all", get(), 200, "local read,label,write"},
		{"a change", post(), 200, "local"},
		{"what looks like a token", get("Authorization", "Bearer "+noToken), 200, "local"},
		{"not on this machine", request{line: "GET /read", to: "10.0.0.5", header: map[string]string{
			"Host": "localhost",
		}}, 401, "Authorization"},

		{"localhost", get("Host", "localhost:8080"), 200, "local"},
		{"localhost, by another port", get("Host", "LOCALHOST.:9999"), 200, "local"},
		{"another loopback address", get("Host", "127.9.9.9"), 200, "local"},
		{"IPv6", get("Host", "[::1]:8080"), 200, "local"},
		{"IPv6 without a port", get("Host", "[::1]"), 200, "local"},
		{"IPv4 within IPv6", get("Host", "[::ffff:127.0.0.1]:8080"), 200, "local"},
		{"a host of http.hosts", get("Host", "desk.example.com:8080"), 200, "local"},
		{"no host", get("Host", ""), 403, noHost},
		{"the page's own name for this machine", get("Host", "evil.example:8080"), 403, noHost},
		{"a name that begins alike", get("Host", "localhost.evil.example"), 403, noHost},
		{"a name that ends alike", get("Host", "evil-localhost"), 403, noHost},
		{"a user before the name", get("Host", "localhost@evil.example"), 403, noHost},
		{"another address", get("Host", "10.0.0.5:8080"), 403, noHost},
		{"an address that is none", get("Host", "127.0.0.1.evil.example"), 403, noHost},
		{
			"a page by its own name", post("Host", "evil.example", "Origin", "http://evil.example"), 403,
			noHost,
		},
		{"no way around by what a proxy says", get("Host", "evil.example", "X-Forwarded-Host",
			"localhost"), 403, noHost},
		{
			"nor by a token, which is none here", get("Host", "evil.example", "Authorization", "Bearer x"),
			403, noHost,
		},

		{"the own origin", post("Origin", "http://127.0.0.1:8080"), 200, "local"},
		{"the own origin, said by the browser", post("Sec-Fetch-Site", "same-origin"), 200, "local"},
		{"an origin of http.origins", post("Origin", "https://news.example.com", "Sec-Fetch-Site",
			"cross-site"), 200, "local"},
		{"typed in by hand", get("Sec-Fetch-Site", "none"), 200, "local"},
		{"followed a link", get("Sec-Fetch-Site", "cross-site"), 200, "local"},
		{"another port", post("Origin", "http://127.0.0.1:3000"), 403, noOrigin},
		{"another port, reading", get("Origin", "http://127.0.0.1:3000"), 403, noOrigin},
		{
			"another scheme than that of http.origins", get("Origin", "http://news.example.com"), 403,
			noOrigin,
		},
		{"beneath that of http.origins", get("Origin", "https://a.news.example.com"), 403, noOrigin},
		{"a page without an origin", post("Origin", "null"), 403, noOrigin},
		{"an empty origin", post("Origin", ""), 403, noOrigin},
		{"no URL", post("Origin", "http://[127.0.0.1:8080"), 403, noOrigin},
		{"two origins", post("Origin", "http://127.0.0.1:8080|http://evil.example"), 403, noOrigin},
		{"said by the browser", post("Sec-Fetch-Site", "cross-site"), 403, noOrigin},
		{"said by the browser, a neighbour", post("Sec-Fetch-Site", "same-site"), 403, noOrigin},
	})
}

// A token says who asks and what they may do, whatever the host.
func TestTokens(t *testing.T) {
	s := newSite(t, Options{Token: ownerToken, TokensFile: tokensFile(t, tokensText)})
	ask := func(line, token string) request { return request{line: line, header: bearer(token)} }
	s.check([]answer{
		{"the token of all rights", ask("GET /read", ownerToken), 200, "http.token read,label,write"},
		{"it labels", ask("POST /label", ownerToken), 200, "http.token"},
		{"it writes", ask("POST /write", ownerToken), 200, "http.token"},
		{"one that reads", ask("GET /read", readToken), 200, "reader read"},
		{"it does not label", ask("POST /label", readToken), 403, "this needs the right label"},
		{"it does not write", ask("POST /write", readToken), 403, "this needs the right write"},
		{"one that labels", ask("POST /label", labelToken), 200, "alice read,label"},
		{"it reads", ask("GET /read", labelToken), 200, "alice read,label"},
		{"one that writes", ask("POST /write", writeToken), 200, "blog write"},
		{"it does not read", ask("GET /read", writeToken), 403, "this needs the right read"},
		{"another scheme in lower case", request{line: "GET /read", header: map[string]string{
			"Authorization": "bearer " + readToken,
		}}, 200, "reader"},
		{"any host", request{line: "GET /read", header: with(bearer(readToken), "Host",
			"clusterd.news.svc:8080")}, 200, "reader"},
		{"from anywhere", request{
			line: "GET /read", header: bearer(readToken), from: "8.8.8.8:1",
			to: "10.0.0.5",
		}, 200, "reader"},
		{"a page of others, which has the token", request{line: "GET /read", header: with(
			bearer(readToken), "Origin", "https://evil.example")}, 403, noOrigin},

		{"no token", request{line: "GET /read"}, 401, "Authorization: Bearer"},
		{"no token for nowhere", request{line: "GET /x"}, 401, "Authorization: Bearer"},
		{"another", ask("GET /read", noToken), 401, nobody},
		{"its hash", ask("GET /read", "sha256:"+strings.Repeat("0", 64)), 401, nobody},
		{"an empty one", ask("GET /read", ""), 401, nobody},
		{"its beginning", ask("GET /read", readToken[:16]), 401, nobody},
		{"and more", ask("GET /read", readToken+"x"), 401, nobody},
		{"two", ask("GET /read", readToken+" "+readToken), 401, nobody},
		{"the right one after a wrong one", request{line: "GET /read", header: map[string]string{
			"Authorization": "Bearer x|Bearer " + readToken,
		}}, 401, nobody},
		{"another scheme", request{line: "GET /read", header: map[string]string{
			"Authorization": "Basic " + readToken,
		}}, 401, "Authorization: Bearer"},
		{"in the address", request{line: "GET /read?token=" + readToken}, 401, "Authorization: Bearer"},
		{"a body that is too large", request{
			line: "POST /label", header: bearer(labelToken), body: strings.Repeat("x", 101),
		}, 413, "at most 100 bytes"},
		{"a body that fits", request{
			line: "POST /label", header: bearer(labelToken), body: strings.Repeat("x", 100),
		}, 200, "alice"},
		{
			"a body where there is none",
			request{line: "GET /read", header: bearer(readToken), body: "x"},
			413, "no body",
		},
	})
	if n := strings.Count(s.log.String(), "without a token that is known"); n != 1 {
		t.Errorf("that strangers ask is logged %d times, want once a minute:\n%s", n, s.log)
	}
	w := s.ask(ask("POST /label", readToken))
	if got, want := w.Header().Get("WWW-Authenticate"),
		`Bearer realm="clusterd", error="insufficient_scope", scope="label"`; got != want {
		t.Errorf("WWW-Authenticate: %s, want %s", got, want)
	}
}

// A body of unknown length is cut at the limit.
func TestBodyOfUnknownLength(t *testing.T) {
	s := newSite(t, Options{})
	for _, tt := range []struct{ bytes, code int }{{100, 200}, {101, 413}} {
		if w := s.ask(request{
			line: "POST /label", body: strings.Repeat("x", tt.bytes),
			chunked: true,
		}); w.Code != tt.code {
			t.Errorf("%d bytes: %d %s, want %d", tt.bytes, w.Code, w.Body, tt.code)
		}
	}
	if w := s.ask(request{line: "GET /read", body: "x", chunked: true}); w.Code != 413 {
		t.Errorf("where none is allowed: %d %s", w.Code, w.Body)
	}
}

// A proxy that is trusted says who asks, and for whom; nobody else does.
func TestTrustedProxy(t *testing.T) {
	s := newSite(t, Options{
		Listen: ":8080", Token: ownerToken, TokensFile: tokensFile(t, tokensText),
		UserHeader: "X-Forwarded-User", TrustedProxies: []string{"10.1.0.0/16", "::1"},
		Hosts:   []string{"desk.example.com"},
		Origins: []string{"https://desk.example.com"},
	})
	ask := func(line, from, user string) request {
		return request{line: line, from: from, header: map[string]string{
			"X-Forwarded-User": user, "Host": "desk.example.com",
		}}
	}
	s.check([]answer{
		{"its user", ask("GET /read", "10.1.2.3:4", "bob"), 200, "bob read,label"},
		{"its user labels", ask("POST /label", "10.1.2.3:4", "bob"), 200, "bob read,label"},
		{"its user does not write", ask("POST /write", "10.1.2.3:4", "bob"), 403, "the right write"},
		{"IPv4 within IPv6", ask("GET /read", "[::ffff:10.1.2.3]:4", "bob"), 200, "bob"},
		{"IPv6", ask("GET /read", "[::1]:4", "Bob M\u00fcller"), 200, "Bob M\u00fcller"},
		{"a token through the proxy", request{
			line: "POST /write", from: "10.1.2.3:4",
			header: with(bearer(ownerToken), "X-Forwarded-User", "bob"),
		}, 200, "http.token"},
		{"a wrong token through the proxy", request{
			line: "GET /read", from: "10.1.2.3:4",
			header: with(bearer(noToken), "X-Forwarded-User", "bob"),
		}, 401, nobody},
		{"another address", ask("GET /read", "10.2.0.1:4", "bob"), 401, "Authorization"},
		{"this machine, which is none", ask("GET /read", "127.0.0.1:4", "bob"), 401, "Authorization"},
		{"no address", ask("GET /read", "@", "bob"), 401, "Authorization"},
		{"another that says that it is the proxy", request{
			line: "GET /read", from: "10.2.0.1:4",
			header: map[string]string{
				"X-Forwarded-User": "bob", "X-Forwarded-For": "10.1.2.3",
				"Host": "desk.example.com",
			},
		}, 401, "Authorization"},
		{"nobody", ask("GET /read", "10.1.2.3:4", ""), 401, "Authorization"},
		{"white space", ask("GET /read", "10.1.2.3:4", "  "), 401, "Authorization"},
		{"two users", ask("GET /read", "10.1.2.3:4", "bob|eve"), 401, "has no name"},
		{"a long name", ask("GET /read", "10.1.2.3:4", strings.Repeat("x", 65)), 401, "has no name"},
		{"control characters", ask("GET /read", "10.1.2.3:4", "b\x1b[2Job"), 401, "has no name"},
		{"no UTF-8", ask("GET /read", "10.1.2.3:4", "b\xff"), 401, "has no name"},
		{"a name like another", ask("GET /read", "10.1.2.3:4", "b\u200bob"), 401, "has no name"},
		{"a name that is turned around", ask("GET /read", "10.1.2.3:4", "\u202ebob"), 401, "has no name"},
		{"the name of a named token", ask("POST /label", "10.1.2.3:4", "alice"), 401, "give the token"},
		{"the name of the token", ask("GET /read", "10.1.2.3:4", Owner), 401, "has no name"},
		{"the name of this machine", ask("GET /read", "10.1.2.3:4", Local), 401, "has no name"},
		{"a host of others", request{line: "GET /read", from: "10.1.2.3:4", header: map[string]string{
			"X-Forwarded-User": "bob", "Host": "evil.example",
		}}, 403, noHost},
		{"the address of the connection", request{
			line: "GET /read", from: "10.1.2.3:4", to: "10.1.0.9",
			header: map[string]string{"X-Forwarded-User": "bob", "Host": "10.1.0.9:8080"},
		}, 200, "bob"},
		{"a page of others", request{line: "POST /label", from: "10.1.2.3:4", header: map[string]string{
			"X-Forwarded-User": "bob", "Host": "desk.example.com", "Origin": "https://evil.example",
		}}, 403, noOrigin},
		{"its own page", request{line: "POST /label", from: "10.1.2.3:4", header: map[string]string{
			"X-Forwarded-User": "bob", "Host": "desk.example.com", "Origin": "https://desk.example.com",
		}}, 200, "bob"},
	})
}

// A server that no key opens is open to nobody but this machine, whatever it listens on.
func TestOpenToThisMachineAlone(t *testing.T) {
	s := newSite(t, Options{Listen: ":8080"})
	for to, code := range map[string]int{
		"127.0.0.1": 200, "::1": 200, "10.0.0.5": 401, "8.8.8.8": 401,
	} {
		if w := s.ask(request{line: "GET /read", to: to}); w.Code != code {
			t.Errorf("by %s: %d, want %d", to, w.Code, code)
		}
	}
}

func TestCORS(t *testing.T) {
	ask := func(origins ...string) *http.Response {
		s := newSite(t, Options{Token: ownerToken, Origins: origins})
		return s.ask(request{line: "OPTIONS /label", header: map[string]string{
			"Origin": "https://news.example.com", "Access-Control-Request-Method": "POST",
			"Access-Control-Request-Headers": "authorization",
		}}).Result()
	}
	allowed := ask("https://news.example.com")
	for key, want := range map[string]string{
		"Access-Control-Allow-Origin":      "https://news.example.com",
		"Access-Control-Allow-Methods":     "GET, HEAD, POST",
		"Access-Control-Allow-Headers":     "Accept, Authorization, Content-Type, Last-Event-ID",
		"Access-Control-Allow-Credentials": "",
		"Vary":                             "Origin",
	} {
		if got := allowed.Header.Get(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if allowed.StatusCode != http.StatusNoContent {
		t.Errorf("%d, want 204", allowed.StatusCode)
	}
	for name, refused := range map[string]*http.Response{
		"off by default": ask(), "another origin": ask("https://other.example.com"),
	} {
		if refused.StatusCode != http.StatusForbidden ||
			refused.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", name, refused.StatusCode, refused.Header)
		}
	}
	s := newSite(t, Options{Token: ownerToken, Origins: []string{"https://news.example.com"}})
	w := s.ask(request{line: "GET /read", header: with(bearer(ownerToken), "Origin",
		"https://news.example.com")})
	if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "https://news.example.com" {
		t.Errorf("the page cannot read its answer: %d %v", w.Code, w.Header())
	}
	w = s.ask(request{line: "GET /read", header: with(bearer(noToken), "Origin",
		"https://news.example.com")})
	if w.Code != 401 || w.Header().Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("the page cannot read why it is refused: %d %v", w.Code, w.Header())
	}
}
