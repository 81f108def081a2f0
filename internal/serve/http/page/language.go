package page

import (
	"net/http"
	"net/url"
	"slices"

	"golang.org/x/text/language"

	"github.com/clusterd/clusterd/internal/serve/http/access"
)

// The languages of the pages.
const (
	english = "en"
	chinese = "zh"
)

func languages() []string { return []string{english, chinese} }

const (
	languageParameter = "lang"
	languageCookie    = "clusterd-lang"
)

// chosen returns the language that an address asks for, or else nothing.
func chosen(r *http.Request) string {
	if asked := r.URL.Query().Get(languageParameter); slices.Contains(languages(), asked) {
		return asked
	}
	return ""
}

// languageOf returns the language of a page: the one that its address asks for, or did before, or
// that the browser prefers.
func languageOf(r *http.Request) string {
	if asked := chosen(r); asked != "" {
		return asked
	}
	if c, err := r.Cookie(languageCookie); err == nil && slices.Contains(languages(), c.Value) {
		return c.Value
	}
	matcher := language.NewMatcher([]language.Tag{language.English, language.Chinese})
	_, i := language.MatchStrings(matcher, r.Header.Get("Accept-Language"))
	return languages()[i]
}

// remember keeps the language that an address asked for.
func remember(w http.ResponseWriter, r *http.Request) {
	if asked := chosen(r); asked != "" {
		http.SetCookie(w, &http.Cookie{
			Name: languageCookie, Value: asked, Path: "/", MaxAge: 365 * 24 * 60 * 60,
			HttpOnly: true, SameSite: http.SameSiteLaxMode,
		})
	}
}

// inOther returns the address of the same page in the other language; the answer to a form has
// none, and leads to the start.
func inOther(r *http.Request) string {
	other := url.URL{Path: "/"}
	query := url.Values{}
	if r.Method == http.MethodGet {
		other.Path, query = r.URL.Path, r.URL.Query()
		query.Del(access.WrongMarker)
	}
	query.Set(languageParameter, chinese)
	if languageOf(r) == chinese {
		query.Set(languageParameter, english)
	}
	other.RawQuery = query.Encode()
	return other.String()
}
