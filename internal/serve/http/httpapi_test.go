package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/secret/redacted"
	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

const canary = "hunter2-hunter2-hunter2"

// quick returns limits that a test can wait for.
func quick() limits {
	l := defaultLimits()
	l.header, l.read, l.idle, l.grace = 50*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond,
		50*time.Millisecond
	return l
}

// at returns the options of a server at an address, with a token or none.
func at(address, token string) Options {
	return Options{Access: access.Options{Listen: address, Token: redacted.Text(token)}}
}

// serve runs a server on a free port until the test ends, and gives its address.
func serve(t *testing.T, token string, m *monitor.Monitor, l limits) (address string) {
	t.Helper()
	return serveWith(t, at("127.0.0.1:0", token), m, l)
}

// serveWith does what serve does, with all options.
func serveWith(t *testing.T, o Options, m *monitor.Monitor, l limits) (address string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s, err := listen(ctx, o, m, slog.New(slog.DiscardHandler), l)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
	return s.Address()
}

// ready returns the monitor of an instance that stands by.
func ready() *monitor.Monitor {
	m := monitor.New("v1.2.3")
	m.Joined(nil)
	return m
}

// ask sends a request on a connection of its own.
func ask(t *testing.T, request *http.Request) (answer *http.Response, body string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

func request(t *testing.T, method, url, body, authorization string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return r
}

func TestAnswers(t *testing.T) {
	open, closed := serve(t, "", ready(), defaultLimits()), serve(t, canary, ready(), defaultLimits())
	unready := serve(t, "", monitor.New("v1.2.3"), defaultLimits())
	for _, tt := range []struct {
		name, address, method, path, body, authorization string
		code                                             int
		want                                             string // within the body
	}{
		{"lives", open, "GET", "/livez", "", "", 200, "ok\n"},
		{"lives, whether it is ready or not", unready, "GET", "/livez", "", "", 200, "ok\n"},
		{"ready", open, "GET", "/readyz", "", "", 200, `"ready": true`},
		{"not ready", unready, "GET", "/readyz", "", "", 503, `"reason": "joining the consumer group"`},
		{"metrics", open, "GET", "/metrics", "", "", 200, `clusterd_build_info{`},
		{"head only", open, "HEAD", "/readyz", "", "", 200, ""},
		{"a query changes nothing", open, "GET", "/livez?verbose", "", "", 200, "ok\n"},

		{
			"nothing there", open, "GET", "/", "", "", 404,
			`"detail": "there is nothing here: there are the page at /, /livez, /readyz, /metrics, and`,
		},
		{"nothing beneath", open, "GET", "/livez/x", "", "", 404, `"detail"`},
		{"post", open, "POST", "/readyz", "", "", 405, `"detail": "only GET and HEAD are allowed"`},
		{"post to nowhere", open, "POST", "/x", "", "", 404, `"detail"`},
		{"post of something to nowhere", open, "POST", "/x", "x", "", 404, `"detail"`},
		{"a method that is none", open, "BREW", "/livez", "", "", 405, `"detail"`},
		{"a body", open, "GET", "/livez", "x", "", 413, `"detail": "a request must have no body here"`},

		{"lives, without a token", closed, "GET", "/livez", "", "", 200, "ok\n"},
		{"the token", closed, "GET", "/readyz", "", "Bearer " + canary, 200, `"ready": true`},
		{
			"the token, scheme in lower case", closed, "GET", "/metrics", "", "bearer " + canary, 200,
			"clusterd_ready 1",
		},
		{"no token", closed, "GET", "/readyz", "", "", 401, `"detail"`},
		{"no token for nowhere", closed, "GET", "/x", "", "", 401, `"detail"`},
		{"no way around by another path", closed, "GET", "//livez", "", "", 401, `"detail"`},
		{"an empty token", closed, "GET", "/readyz", "", "Bearer ", 401, `"detail"`},
		{
			"another token", closed, "GET", "/readyz", "", "Bearer " + strings.ToUpper(canary), 401,
			`"detail"`,
		},
		{"the token's beginning", closed, "GET", "/readyz", "", "Bearer " + canary[:16], 401, `"detail"`},
		{"the token and more", closed, "GET", "/readyz", "", "Bearer " + canary + "x", 401, `"detail"`},
		{"another scheme", closed, "GET", "/readyz", "", "Basic " + canary, 401, `"detail"`},
		{"the token alone", closed, "GET", "/readyz", "", canary, 401, `"detail"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer, body := ask(t, request(t, tt.method, "http://"+tt.address+tt.path, tt.body,
				tt.authorization))
			if answer.StatusCode != tt.code || !strings.Contains(body, tt.want) {
				t.Errorf("%d %s\nwant %d and %s", answer.StatusCode, body, tt.code, tt.want)
			}
			if tt.want == `"detail"` && answer.Header.Get("Content-Type") != api.ProblemType ||
				tt.code >= 400 && !json.Valid([]byte(body)) {
				t.Errorf("no problem details: %s %s", answer.Header, body)
			}
			if strings.Contains(fmt.Sprint(answer.Header, body), "hunter2") {
				t.Errorf("shows the token: %v\n%s", answer.Header, body)
			}
			for key, want := range map[string]string{
				"Cache-Control":          "no-store",
				"X-Content-Type-Options": "nosniff",
			} {
				if got := answer.Header.Get(key); got != want {
					t.Errorf("%s: %q, want %q", key, got, want)
				}
			}
			for code, key := range map[int]string{401: "Www-Authenticate", 405: "Allow"} {
				if has := answer.Header.Get(key) != ""; has != (answer.StatusCode == code) {
					t.Errorf("%s is %q with %d", key, answer.Header.Get(key), answer.StatusCode)
				}
			}
		})
	}
}

// What the routes do not have is refused as a problem, whatever the method is.
func TestRoutes(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	o := at("127.0.0.1:0", "")
	handle := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	})
	o.Routes = []v1.Route{
		{Method: "GET", Path: "/v1/x/{id}", Route: access.Route{Right: access.Read}, Handler: handle},
		{
			Method: "POST", Path: "/v1/x/{id}", Route: access.Route{Right: access.Read, Body: 3},
			Handler: handle,
		},
		{Method: "POST", Path: "/v1/y", Route: access.Route{Right: access.Read}, Handler: handle},
	}
	s, err := listen(ctx, o, ready(), slog.New(slog.DiscardHandler), defaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	for _, tt := range []struct {
		method, path, body string
		code               int
		want, allow        string
	}{
		{"GET", "/v1/x/1", "", 200, "", ""},
		{"HEAD", "/v1/x/1", "", 200, "", ""},
		{"POST", "/v1/x/1", "abc", 200, "abc", ""},
		{"POST", "/v1/x/1", "abcd", 413, "at most 3 bytes", ""},
		{"GET", "/v1/x/1", "abc", 413, "no body here", ""},
		{"PUT", "/v1/x/1", "abc", 405, "only GET and HEAD and POST", "GET, HEAD, POST"},
		{"GET", "/v1/y", "", 405, "only POST", "POST"},
		{"GET", "/v1/z", "", 404, "/v1/openapi.json", ""},
		{"BREW", "/v1/y", "", 405, "only POST", "POST"},
	} {
		answer, body := ask(t, request(t, tt.method, "http://"+s.Address()+tt.path, tt.body, ""))
		if answer.StatusCode != tt.code || !strings.Contains(body, tt.want) ||
			answer.Header.Get("Allow") != tt.allow {
			t.Errorf("%s %s: %d %v %s", tt.method, tt.path, answer.StatusCode, answer.Header, body)
		}
		if tt.code >= 400 && answer.Header.Get("Content-Type") != api.ProblemType {
			t.Errorf("%s %s: %d is %v", tt.method, tt.path, tt.code, answer.Header)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestReadyzIsTheStatus(t *testing.T) {
	m := ready()
	_, body := ask(t, request(t, "GET", "http://"+serve(t, "", m, defaultLimits())+"/readyz", "", ""))
	want, err := json.MarshalIndent(m.Status(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if body != string(want)+"\n" {
		t.Errorf("got  %s\nwant %s", body, want)
	}
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(wait.Timeout)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// say sends text, and gives all that comes until the server closes the connection.
func say(t *testing.T, conn net.Conn, text string) string {
	t.Helper()
	// The server may have closed already, having heard enough.
	_, _ = io.WriteString(conn, text)
	answer, err := io.ReadAll(conn)
	if ne, ok := err.(net.Error); ok && ne.Timeout() {
		t.Fatalf("the connection is still open after %q", answer)
	}
	return string(answer)
}

// A connection is not closed for another one while its request is answered, and one for which there
// is no room is.
func TestRequestsInHandAreFinished(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	bounded := &connections{Listener: inner, most: 1, inHand: 1}
	began, finish := make(chan struct{}), make(chan struct{})
	server := &http.Server{
		ConnContext: remember,
		Handler: bounded.answering(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(began)
			<-finish
		})),
	}
	go func() { _ = server.Serve(bounded) }()
	defer server.Close()
	conn := dial(t, inner.Addr().String())
	if _, err := io.WriteString(conn, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-began
	if got := say(t, dial(t, inner.Addr().String()), getLivez); got != "" {
		t.Errorf("there is no room, and it is answered with %q", got)
	}
	close(finish)
	if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
		t.Errorf("the request in hand: %v", err)
	}
	wait.Until(t, "room for the next", func() bool {
		bounded.mutex.Lock()
		defer bounded.mutex.Unlock()
		return bounded.busy == 0 && len(bounded.idle) == 1
	})
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the connection to be forgotten", func() bool {
		bounded.mutex.Lock()
		defer bounded.mutex.Unlock()
		return len(bounded.idle) == 0
	})
}

func TestAddressThatIsTaken(t *testing.T) {
	address := serve(t, "", ready(), defaultLimits())
	_, err := Listen(t.Context(), at(address, canary), ready(),
		slog.New(slog.DiscardHandler))
	want := "http.listen: listen tcp " + address +
		": bind: address already in use: give another host:port, or \"\" to serve neither health nor " +
		"metrics"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestNothingToServe(t *testing.T) {
	s, err := Listen(t.Context(), Options{}, ready(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil || s.Address() != "" {
		t.Errorf("Run = %v on %q, want nothing", err, s.Address())
	}
}

// Run ends with its context although somebody still sends, and then nothing listens any more.
func TestStop(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	l := defaultLimits()
	l.grace = 50 * time.Millisecond
	var logged bytes.Buffer
	s, err := listen(ctx, at("127.0.0.1:0", canary), ready(),
		slog.New(slog.NewTextHandler(&logged, nil)), l)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()

	conn := dial(t, s.Address())
	if _, err := io.WriteString(conn, getLivez+getLivez[:20]); err != nil {
		t.Fatal(err)
	}
	if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("Run = %v", err)
	}
	if conn, err := net.Dial("tcp", s.Address()); err == nil {
		_ = conn.Close()
		t.Error("it still listens")
	}
	if logged.Len() > 0 {
		t.Errorf("logged %s", &logged)
	}
}

func TestStopBeforeItBegan(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	s, err := Listen(ctx, at("127.0.0.1:0", ""), ready(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := s.Run(ctx); err != nil {
		t.Errorf("Run = %v", err)
	}
	if conn, err := net.Dial("tcp", s.Address()); err == nil {
		_ = conn.Close()
		t.Error("it still listens")
	}
}

// A listener that breaks is an error, which the owner sees.
func TestListenerThatBreaks(t *testing.T) {
	s, err := Listen(t.Context(), at("127.0.0.1:0", ""), ready(),
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(),
		"http.listen: serving") {
		t.Errorf("Run = %v, want an error about http.listen", err)
	}
}
