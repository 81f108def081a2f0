package page

import (
	"net/http"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/serve/http/access"
)

// Visitors answers browsers that have not said who asks: with the files that a page consists of,
// and else with a form for a token.
func Visitors() (http.Handler, error) {
	s, err := newServer(Options{})
	if err != nil {
		return nil, err
	}
	static := files()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, access.PageFiles) {
			static.ServeHTTP(w, r)
			return
		}
		v := view{
			Language: languageOf(r), Address: r.URL.RequestURI(), Other: inOther(r), Now: time.Now(),
			Page: visit{
				// A browser that follows a link from elsewhere does not send its session, and does so once
				// it asks again from here.
				Again: r.Header.Get("Sec-Fetch-Site") == "cross-site",
				Wrong: r.URL.Query().Has(access.WrongMarker),
			},
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="clusterd"`)
		_ = s.send(w, r, http.StatusUnauthorized, "login", v) // nothing more can be said
	}), nil
}

// visit is what the login form says.
type visit struct{ Again, Wrong bool }
