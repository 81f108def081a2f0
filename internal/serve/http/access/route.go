package access

import (
	"net/http"
	"time"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// Route says what a request for a route needs, and may take.
type Route struct {
	Right Rights
	Body  int64 // largest body in bytes; 0: none
	// Long is for answers that wait. A client has few of them at once, and so have all. They take as
	// long as they like; only each part of an answer must be taken in time.
	Long bool
	// Stream is for answers that are Long and do not end by themselves. They have places of their own:
	// readers who stay must not keep out who writes.
	Stream bool
}

// Require returns a handler for those who may ask for a route, within its limits.
func (g *Guard) Require(route Route, next http.Handler) http.Handler {
	switch {
	case route.Stream:
		next = g.long(&g.streams, "streams", next)
	case route.Long:
		next = g.long(&g.waiting, "requests that wait for a commit", next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !From(r.Context()).Rights.Has(route.Right):
			need := route.Right.String()
			w.Header().Set("WWW-Authenticate",
				`Bearer realm="clusterd", error="insufficient_scope", scope="`+need+`"`)
			refuse(w, r, http.StatusForbidden, "this needs the right "+need+", which you do not have: use "+
				"a token that has it")
			return
		case r.ContentLength > route.Body || route.Body == 0 && r.ContentLength != 0:
			w.Header().Set("Connection", "close") // rather than read what may follow
			api.WriteTooLarge(w, route.Body)
			return
		}
		if r.ContentLength != 0 {
			r.Body = http.MaxBytesReader(w, r.Body, route.Body)
		}
		next.ServeHTTP(w, r)
	})
}

// long bounds how many of a kind are answered at once.
func (g *Guard) long(of *places, kind string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, _ := r.Context().Value(askedKey{}).(asked)
		giveBack, refused := of.take(a.key)
		if giveBack == nil {
			w.Header().Set("Retry-After", "1")
			refuse(w, r, refused, "too many "+kind+" at once: end others first")
			return
		}
		defer giveBack()
		ctx, release := until(r.Context(), g.stopping)
		defer release()
		control := http.NewResponseController(w)
		_ = control.SetWriteDeadline(time.Time{}) // a writer of a test has none
		next.ServeHTTP(&patient{w, control, g.write}, r.WithContext(ctx))
	})
}
