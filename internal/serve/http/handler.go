package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
)

const livez = "/livez"

// newMux returns what answers all requests but those for /livez, once a guard has let them in.
func newMux(g *access.Guard, m *monitor.Monitor, routes []v1.Route) *http.ServeMux {
	mux := http.NewServeMux()
	methods := make(map[string][]string)
	for _, r := range routes {
		mux.Handle(r.Method+" "+r.Path, g.Require(r.Route, r.Handler))
		methods[r.Path] = append(methods[r.Path], r.Method)
	}
	for path, of := range methods {
		mux.Handle(path, only(of))
	}
	read := access.Route{Right: access.Read}
	ready := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status := m.Status()
		code := http.StatusOK
		if !status.Ready {
			code = http.StatusServiceUnavailable
		}
		answer(w, code, status)
	})
	mux.Handle("/readyz", g.Require(read, getOnly(ready)))
	mux.Handle("/metrics", g.Require(read, getOnly(m.Handler())))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close") // rather than read what may follow
		}
		api.WriteProblem(w, http.StatusNotFound, "", "there is nothing here: there are the page "+
			"at /, /livez, /readyz, /metrics, and what /v1/openapi.json describes")
	})
	return mux
}

// alive answers /livez: to everybody, before all that could be exhausted.
func alive(w http.ResponseWriter, r *http.Request) {
	access.Protect(w.Header())
	getOnly(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
			api.WriteTooLarge(w, 0)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n")) // whoever asked may have gone
	})).ServeHTTP(w, r)
}

// only answers what has none of the methods of a path.
func only(methods []string) http.Handler {
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	slices.Sort(methods)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		w.Header().Set("Connection", "close") // rather than read what may follow
		api.WriteProblem(w, http.StatusMethodNotAllowed, "", "only "+strings.Join(methods, " and ")+
			" are allowed here")
	})
}

// getOnly refuses what is neither GET nor HEAD.
func getOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			w.Header().Set("Connection", "close") // rather than read what may follow
			api.WriteProblem(w, http.StatusMethodNotAllowed, "", "only GET and HEAD are allowed")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // whoever asked may have gone
}
