package article_test

import (
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/article"
)

// FuzzDecode: whatever a record holds, it is an article that can be written or a rejection that
// can be read. The seeds are in testdata/fuzz/FuzzDecode.
func FuzzDecode(f *testing.F) {
	decoders := map[string]*article.Decoder{
		"json": article.NewDecoder(defaultFields(), 1<<16),
		"paths": article.NewDecoder(article.Fields{
			ID: "a.*", Title: "@this", Content: "a|b.#", PublishedAt: "时.0", Source: `!x.\`,
		}, 1<<16),
		"text": article.NewTextDecoder(1 << 16),
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		for name, decoder := range decoders {
			a, err := decoder.Decode(key, value, here())
			if err != nil {
				var r *article.Rejection
				switch {
				case !errors.As(err, &r):
					t.Fatalf("%s: error of type %T, want a rejection: %v", name, err, err)
				case r.Class == "" || r.Reason == "" || !utf8.ValidString(r.Reason):
					t.Errorf("%s: no class or no readable reason: %q", name, r)
				case a != (article.Article{}):
					t.Errorf("%s: article %+v beside an error", name, a)
				}
				continue
			}
			if a.ID == "" || len(a.ID) > article.MaxIDBytes {
				t.Errorf("%s: id of %d bytes", name, len(a.ID))
			}
			for _, s := range []string{a.ID, a.Title, a.Content, a.Source} {
				if !utf8.ValidString(s) {
					t.Errorf("%s: invalid UTF-8: %q", name, s)
				}
			}
			if !a.PublishedAt.IsZero() && (a.PublishedAt.Location() != time.UTC || a.PublishedAt.Year() < 1 || a.PublishedAt.Year() > 9999) {
				t.Errorf("%s: published at %v", name, a.PublishedAt)
			}
			rep := article.NewRepresentative(a)
			r := article.Result{ArticleID: a.ID, Representative: &rep, PublishedAt: &a.PublishedAt, Source: here()}
			if back, err := article.ParseResult(r.JSON()); err != nil || back.ArticleID != a.ID || *back.Representative != rep || !back.PublishedAt.Equal(a.PublishedAt) {
				t.Errorf("%s: %+v does not come back: %+v, %v", name, r, back, err)
			}
		}
	})
}
