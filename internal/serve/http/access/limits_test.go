package access

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// A client may ask so often, whoever else asks: one that has a token wherever it asks from, any
// other by its address.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Options{Token: ownerToken, TokensFile: tokensFile(t, tokensText), Rate: 5})
		ask := func(header map[string]string, from string) *httptest.ResponseRecorder {
			return s.ask(request{line: "GET /read", header: header, from: from})
		}
		for _, client := range []struct {
			name    string
			header  map[string]string
			from    []string
			allowed int
		}{
			{"a token", bearer(readToken), []string{"1.1.1.1:1", "1.1.1.2:1"}, 200},
			{"another token", bearer(ownerToken), []string{"1.1.1.1:1"}, 200},
			{"an address", nil, []string{"1.1.1.1:1", "1.1.1.1:2"}, 401},
			{"an address that guesses", bearer(noToken), []string{"1.1.1.2:1"}, 401},
			{"a network", nil, []string{"[2001:db8::1]:1", "[2001:db8::2]:1"}, 401},
		} {
			for i := range 7 {
				want := client.allowed
				if i >= 5 {
					want = http.StatusTooManyRequests
				}
				w := ask(client.header, client.from[i%len(client.from)])
				if w.Code != want || (want == 429) != (w.Header().Get("Retry-After") == "1") {
					t.Errorf("%s, request %d: %d %v, want %d", client.name, i, w.Code, w.Header(), want)
				}
			}
		}
		time.Sleep(time.Second)
		if w := ask(bearer(readToken), "1.1.1.1:1"); w.Code != 200 {
			t.Errorf("a second later: %d", w.Code)
		}
	})
}

func TestNoRate(t *testing.T) {
	s := newSite(t, Options{})
	for range 1000 {
		if w := s.ask(request{line: "GET /read"}); w.Code != 200 {
			t.Fatalf("%d", w.Code)
		}
	}
}

// Another rate holds from the next request on, for clients that have asked too.
func TestRateChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Options{Rate: 2})
		allowed := func() (n int) {
			for range 10 {
				if s.ask(request{line: "GET /read"}).Code == 200 {
					n++
				}
			}
			return n
		}
		if n := allowed(); n != 2 {
			t.Errorf("%d of 10 are allowed at a rate of 2", n)
		}
		for _, tt := range []struct{ rate, want int }{{5, 5}, {0, 10}, {1, 1}} {
			s.guard.SetRate(tt.rate)
			if n := allowed(); n != tt.want {
				t.Errorf("%d of 10 are allowed at a rate of %d", n, tt.rate)
			}
		}
	})
}

// Of very many clients those are remembered that asked last.
func TestRememberedClientsAreBounded(t *testing.T) {
	s := newSite(t, Options{Rate: 1})
	r, now := &s.guard.rates, time.Now()
	r.most = 3
	for _, key := range []string{"a", "b", "c", "a", "d"} { // d pushes b out
		r.take(key, now)
	}
	for _, tt := range []struct {
		key   string
		fresh bool
	}{{"a", false}, {"c", false}, {"d", false}, {"b", true}} {
		if got := r.take(tt.key, now); got != tt.fresh {
			t.Errorf("%s may ask: %v, want %v", tt.key, got, tt.fresh)
		}
	}
	if len(r.byKey) != 3 || r.recent.Len() != 3 {
		t.Errorf("%d and %d are remembered, want 3", len(r.byKey), r.recent.Len())
	}
}

// hall is a guard with a route that waits until it is told.
type hall struct {
	guard   *Guard
	handler http.Handler
	began   chan context.Context
	finish  chan struct{}
	asked   sync.WaitGroup
}

func newHall(t *testing.T, stopping context.Context, each, all int) *hall {
	t.Helper()
	g, err := New(stopping, Options{
		Token: ownerToken, TokensFile: tokensFile(t, tokensText),
		LongRequests: LongRequests{Each: each, All: all},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h := &hall{guard: g, began: make(chan context.Context, 100), finish: make(chan struct{})}
	h.handler = g.Wrap(g.Require(Route{Right: Read, Long: true}, http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) {
			h.began <- r.Context()
			select {
			case <-h.finish:
			case <-r.Context().Done():
			}
		})))
	return h
}

// enter asks, and waits until it has begun or was refused: then with which status.
func (h *hall) enter(t *testing.T, token string) (ctx context.Context, refused int) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	answered := make(chan int, 1)
	h.asked.Go(func() {
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, r)
		answered <- w.Code
	})
	select {
	case ctx = <-h.began:
		return ctx, 0
	case refused = <-answered:
		return nil, refused
	}
}

// Of requests that wait or stream, each client has few at once, and so have all.
func TestLongRequestsAreBounded(t *testing.T) {
	h := newHall(t, t.Context(), 2, 3)
	for i, tt := range []struct {
		token   string
		refused int
	}{
		{readToken, 0},
		{readToken, 0},
		{readToken, http.StatusTooManyRequests},
		{labelToken, 0},
		{labelToken, http.StatusServiceUnavailable},
	} {
		if _, refused := h.enter(t, tt.token); refused != tt.refused {
			t.Errorf("request %d: refused with %d, want %d", i, refused, tt.refused)
		}
	}
	close(h.finish)
	h.asked.Wait()
	if p := &h.guard.waiting; p.taken != 0 || len(p.byKey) != 0 {
		t.Errorf("%d places are taken, by %v", p.taken, p.byKey)
	}
	if _, refused := h.enter(t, readToken); refused != 0 {
		t.Errorf("with all gone: refused with %d", refused)
	}
	h.asked.Wait()
}

// Where the server stops, what waits and streams ends.
func TestLongRequestsEndWithTheServer(t *testing.T) {
	stopping, stop := context.WithCancel(t.Context())
	h := newHall(t, stopping, 2, 2)
	ctx, _ := h.enter(t, readToken)
	if ctx.Err() != nil {
		t.Fatal("it has ended by itself")
	}
	stop()
	h.asked.Wait()
}

// A stream may go on for as long as it likes, and an answer may come late, if whoever asks takes
// what comes. Who takes nothing any more is cut off.
func TestStreamOutlivesTheDeadline(t *testing.T) {
	const each = 200 * time.Millisecond
	g, err := New(t.Context(), Options{Listen: "127.0.0.1:0", LongRequests: LongRequests{Write: each}},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	handler := func(flushes bool, until time.Duration) http.Handler {
		return g.Require(Route{Right: Read, Long: true}, http.HandlerFunc(
			func(w http.ResponseWriter, _ *http.Request) {
				control := http.NewResponseController(w)
				var err error
				for begin := time.Now(); err == nil && time.Since(begin) < until; {
					if _, err = fmt.Fprintf(w, "%010000d\n", 1); err == nil && flushes {
						err = control.Flush()
					}
				}
				ended <- err
			}))
	}
	mux := http.NewServeMux()
	for _, flushes := range []bool{true, false} {
		mux.Handle(fmt.Sprintf("/long/%v", flushes), handler(flushes, 3*each))
		mux.Handle(fmt.Sprintf("/endless/%v", flushes), handler(flushes, wait.Timeout))
	}
	mux.Handle("/late", g.Require(Route{Right: Read, Long: true}, http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) {
			<-time.After(3 * each)
			w.WriteHeader(http.StatusNoContent)
		})))
	server := httptest.NewUnstartedServer(g.Wrap(mux))
	server.Config.WriteTimeout = each
	server.Start()
	defer server.Close()
	get := func(path string) *http.Response {
		answer, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer
	}
	for _, path := range []string{"/long/true", "/long/false"} {
		_, err := io.Copy(io.Discard, get(path).Body)
		if sent := <-ended; err != nil || sent != nil {
			t.Errorf("%s: the reader was cut off: %v, %v", path, err, sent)
		}
	}
	for _, path := range []string{"/endless/true", "/endless/false"} {
		get(path)
		if err := <-ended; err == nil {
			t.Errorf("%s still waits for one who reads nothing", path)
		}
	}
	if got := get("/late").StatusCode; got != http.StatusNoContent {
		t.Errorf("late: %d", got)
	}
}

// Few log in at once, since nobody knows yet who sends what slowly.
func TestLoginsAreBounded(t *testing.T) {
	s := newSite(t, Options{Token: ownerToken})
	for range logins {
		s.guard.logins <- struct{}{}
	}
	w := s.ask(request{
		line: "POST /v1/login", body: `{"token": "` + ownerToken + `"}`,
		header: map[string]string{"Content-Type": "application/json"},
	})
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	<-s.guard.logins
	s.login(ownerToken, false)
	if len(s.guard.logins) != logins-1 {
		t.Error("the place was not given back")
	}
}
