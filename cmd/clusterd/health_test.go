package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// A container's health check needs the exit code, and who looks at it why.
func TestHealth(t *testing.T) {
	answer := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/readyz" {
				t.Errorf("asked for %s", r.URL.Path)
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, test := range []struct {
		name, flag string
		answer     http.HandlerFunc
		code       int
		out, errs  string
	}{
		{"live", "", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/livez" {
				t.Errorf("asked for %s", r.URL.Path)
			}
		}, 0, "live\n", ""},
		{"another server", "", http.NotFound, exitFailed, "", "refuses: 404 Not Found"},
		{
			"ready", "--ready", answer(200, `{"ready":true,"reason":"it works"}`),
			0, "ready: it works\n", "",
		},
		{
			"not ready", "--ready", answer(503, `{"ready":false,"reason":"joining the consumer group"}`),
			exitFailed, "", "not ready: joining the consumer group",
		},
		{"no token", "--ready", func(w http.ResponseWriter, _ *http.Request) {
			api.WriteProblem(w, http.StatusUnauthorized, "", "who asks must show a token")
		}, exitFailed, "", "give one by CLUSTERD_TOKEN or --token-file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := httptest.NewServer(test.answer)
			t.Cleanup(s.Close)
			args := append(strings.Fields("health --server "+s.URL), strings.Fields(test.flag)...)
			got := clusterd(t, "", args...)
			if got.code != test.code || got.out != test.out || !strings.Contains(got.errs, test.errs) {
				t.Errorf("%+v, want %+v", got, test)
			}
		})
	}
	got := clusterd(t, "", "health", "--server", "http://127.0.0.1:1")
	if got.code != exitFailed || !strings.Contains(got.errs, "is clusterd running there") {
		t.Errorf("without a server: %+v", got)
	}
}
