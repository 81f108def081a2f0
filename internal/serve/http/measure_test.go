package httpapi

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/serve/http/access"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// requests returns what the metrics say of requests, sorted.
func requests(m *monitor.Monitor) (lines []string) {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if rest, ok := strings.CutPrefix(line, "clusterd_http_requests_total"); ok {
			lines = append(lines, strings.TrimSpace(rest))
		}
	}
	slices.Sort(lines)
	return lines
}

// Every request counts, refused ones too, under one of few routes.
func TestRequestsAreMeasured(t *testing.T) {
	m, o := ready(), at("127.0.0.1:0", canary)
	o.Routes = []v1.Route{{
		Method: "GET", Path: "/v1/clusters/{id}", Route: access.Route{Right: access.Read},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("a cluster"))
		}),
	}}
	address := serveWith(t, o, m, defaultLimits())
	const bearer = "Bearer " + canary
	for _, q := range []struct{ method, path, authorization string }{
		{"GET", "/livez", ""},
		{"GET", "/readyz", bearer},
		{"GET", "/readyz", ""},
		{"GET", "/v1/clusters/1", bearer},
		{"GET", "/v1/clusters/2", bearer},
		{"PUT", "/v1/clusters/3", bearer},
		{"GET", "/a", bearer},
		{"GET", "/b", bearer},
	} {
		ask(t, request(t, q.method, "http://"+address+q.path, "", q.authorization))
	}
	want := []string{
		`{code="200",route="/livez"} 1`, `{code="200",route="/readyz"} 1`,
		`{code="200",route="/v1/clusters/{id}"} 2`, `{code="401",route="/readyz"} 1`,
		`{code="404",route="other"} 2`, `{code="405",route="/v1/clusters/{id}"} 1`,
	}
	// A request counts when its answer was written, which may be read a little before.
	wait.Until(t, "all requests are counted", func() bool { return cmp.Equal(want, requests(m)) })
}
