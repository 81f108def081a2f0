package access

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// The tokens of tests. None may be in an answer or a log.
const (
	ownerToken = "canary-owner-0123456789"
	readToken  = "canary-read-0123456789"
	labelToken = "canary-label-0123456789"
	writeToken = "canary-write-0123456789"
	noToken    = "canary-nobody-0123456789"
)

const tokensText = "# who may do what\n\n" +
	"reader read " + readToken + "\n" +
	"alice  read,label\t" + labelToken + "\r\n" +
	"blog write " + writeToken + "\n"

func tokensFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// site is a guard with routes behind it: each answers who asks.
type site struct {
	*testing.T
	guard   *Guard
	handler http.Handler
	log     *strings.Builder
}

func newSite(t *testing.T, o Options) *site {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:8080"
	}
	s := &site{T: t, log: new(strings.Builder)}
	g, err := New(t.Context(), o, slog.New(slog.NewTextHandler(s.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	whoami := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			api.WriteBodyProblem(w, err)
			return
		}
		c := From(r.Context())
		_, _ = io.WriteString(w, c.Name+" "+c.Rights.String())
	})
	mux.Handle("/read", g.Require(Route{Right: Read}, whoami))
	mux.Handle("/label", g.Require(Route{Right: Label, Body: 100}, whoami))
	mux.Handle("/write", g.Require(Route{Right: Write, Body: 100, Long: true}, whoami))
	s.guard, s.handler = g, g.Wrap(mux)
	return s
}

// request is what a test asks: METHOD PATH, headers, a body.
type request struct {
	line    string
	header  map[string]string // a header of several values has them with | between
	body    string
	from    string // address:port; empty: this machine
	to      string // the address of this end; empty: 127.0.0.1
	encoded bool   // by TLS
	chunked bool   // the body's length is not known
}

func (s *site) ask(q request) *httptest.ResponseRecorder {
	s.Helper()
	method, path, _ := strings.Cut(q.line, " ")
	url := "http://127.0.0.1:8080" + path
	if q.encoded {
		url = "https://127.0.0.1:8080" + path
	}
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	r := httptest.NewRequestWithContext(s.Context(), method, url, body)
	if q.chunked {
		r.ContentLength = -1
	}
	r.RemoteAddr = "127.0.0.1:40000"
	if q.from != "" {
		r.RemoteAddr = q.from
	}
	to := net.ParseIP("127.0.0.1")
	if q.to != "" {
		to = net.ParseIP(q.to)
	}
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
		&net.TCPAddr{IP: to, Port: 8080}))
	for key, values := range q.header {
		if key == "Host" {
			r.Host = values
			continue
		}
		for value := range strings.SplitSeq(values, "|") {
			r.Header.Add(key, value)
		}
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	s.checkAnswer(w)
	return w
}

// checkAnswer wants what holds for every answer.
func (s *site) checkAnswer(w *httptest.ResponseRecorder) {
	s.Helper()
	header := w.Result().Header
	for key, want := range map[string]string{
		"Cache-Control":                "no-store",
		"X-Content-Type-Options":       "nosniff",
		"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Referrer-Policy":              "no-referrer",
	} {
		if got := header.Get(key); got != want {
			s.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if w.Code >= 400 {
		var details api.Problem
		err := json.Unmarshal(w.Body.Bytes(), &details)
		if err != nil || details.Status != w.Code || details.Detail == "" ||
			header.Get("Content-Type") != api.ProblemType {
			s.Errorf("no problem details: %v\n%s", header, w.Body)
		}
	}
	if w.Code == http.StatusUnauthorized != strings.HasPrefix(header.Get("WWW-Authenticate"),
		`Bearer realm="clusterd"`) && w.Code != http.StatusForbidden {
		s.Errorf("WWW-Authenticate: %q with %d", header.Get("WWW-Authenticate"), w.Code)
	}
	for place, text := range map[string]string{"answer": w.Body.String(), "log": s.log.String()} {
		if strings.Contains(text, "canary") {
			s.Errorf("the %s shows a token: %s", place, text)
		}
	}
}

func bearer(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token}
}

// with returns headers with one more.
func with(header map[string]string, key, value string) map[string]string {
	all := map[string]string{key: value}
	for k, v := range header {
		all[k] = v
	}
	return all
}
