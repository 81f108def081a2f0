package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/clusterd/clusterd/internal/monitor"
)

const livez = "/livez"

// handler answers all requests. Token is asked for except by /livez, unless it is empty.
func handler(token string, m *monitor.Monitor) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(livez, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n")) // whoever asked may have gone
	})
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		status := m.Status()
		code := http.StatusOK
		if !status.Ready {
			code = http.StatusServiceUnavailable
		}
		answer(w, code, status)
	})
	mux.Handle("/metrics", m.Handler())
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "there are /livez, /readyz and /metrics")
	})
	return guard(token, mux)
}

// guard lets through what is harmless and may ask.
func guard(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			h.Set("Connection", "close") // rather than read what may follow
			refuse(w, http.StatusMethodNotAllowed, "only GET and HEAD are allowed")
		case r.ContentLength != 0:
			h.Set("Connection", "close")
			refuse(w, http.StatusRequestEntityTooLarge, "a request must have no body")
		case r.URL.Path != livez && !authorized(r, token):
			h.Set("WWW-Authenticate", "Bearer")
			refuse(
				w, http.StatusUnauthorized,
				"the header must be Authorization: Bearer, and the token of http.token",
			)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// authorized takes as long for a token that is nearly right as for any other: it compares hashes,
// which are of one length, in constant time.
func authorized(r *http.Request, token string) bool {
	if token == "" {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(given))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

func refuse(w http.ResponseWriter, code int, why string) {
	answer(w, code, map[string]string{"error": why})
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // whoever asked may have gone
}
