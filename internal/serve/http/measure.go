package httpapi

import (
	"net/http"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/monitor"
)

// measured tells the monitor of each request that next answers, by the pattern of the mux that its
// path has.
func measured(m *monitor.Monitor, mux *http.ServeMux, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route, begun := routeOf(mux, r), time.Now()
		answer := &measuredWriter{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(answer, r)
		m.Answered(route, answer.code, time.Since(begun))
	})
}

// routeOf returns one of few names, whatever is asked for.
func routeOf(mux *http.ServeMux, r *http.Request) string {
	switch r.URL.Path {
	case livez, "/v1/login", "/v1/logout":
		return r.URL.Path
	}
	_, pattern := mux.Handler(r)
	if pattern == "/" || pattern == "" {
		return "other"
	}
	return pattern[strings.IndexByte(pattern, '/'):] // without the method
}

// measuredWriter remembers the status of an answer.
type measuredWriter struct {
	http.ResponseWriter
	code    int
	written bool
}

// WriteHeader sends the status.
func (w *measuredWriter) WriteHeader(code int) {
	if !w.written {
		w.code, w.written = code, code >= http.StatusOK
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write sends a part of the body.
func (w *measuredWriter) Write(b []byte) (int, error) {
	w.written = true
	return w.ResponseWriter.Write(b)
}

// Unwrap is how an [http.ResponseController] finds all else.
func (w *measuredWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
