package article_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/message/article"
)

// FuzzDecode: whatever a record holds, it is an article that can be written or a rejection that
// can be read, and the same as in the plain way. The seeds are in testdata/fuzz/FuzzDecode.
func FuzzDecode(f *testing.F) {
	pairs := decoderPairs()
	f.Fuzz(func(t *testing.T, key, value []byte) {
		for name, pair := range pairs {
			pair.same(t, key, value)
			a, rejection := pair.article.Decode(key, value, here())
			if rejection != nil {
				switch {
				case rejection.Class == "" || rejection.Reason == "" || !utf8.ValidString(rejection.Reason):
					t.Errorf("%s: no class or no readable reason: %q", name, rejection)
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
			if !a.PublishedAt.IsZero() &&
				(a.PublishedAt.Location() != time.UTC || a.PublishedAt.Year() < 1 ||
					a.PublishedAt.Year() > 9999) {
				t.Errorf("%s: published at %v", name, a.PublishedAt)
			}
			rep := article.NewRepresentative(a)
			r := article.Result{
				ArticleID: a.ID, Representative: &rep, PublishedAt: &a.PublishedAt,
				Source: here(),
			}
			if back, err := article.ParseResult(r.JSON()); err != nil || back.ArticleID != a.ID ||
				*back.Representative != rep || !back.PublishedAt.Equal(a.PublishedAt) {
				t.Errorf("%s: %+v does not come back: %+v, %v", name, r, back, err)
			}
		}
	})
}

// FuzzClusterJSON: whatever a cluster says, it is written as encoding/json writes it, and comes
// back.
func FuzzClusterJSON(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte, seq uint64, nanoseconds int64) {
		at := time.Unix(0, nanoseconds).UTC()
		c := article.Cluster{
			ClusterID: "a/0/7", Seq: seq, Fingerprint: article.Fingerprint(seq), Size: int(seq),
			FirstSeen: at, LastSeen: at,
			Representative: article.Representative{ID: string(text), Title: string(text)},
			Pipeline:       string(text),
		}
		line := c.JSON()
		if want := plainJSON(c); !bytes.Equal(line, want) {
			t.Errorf("written as\n%s, want\n%s", line, want)
		}
		back, err := article.ParseCluster(line)
		valid := strings.ToValidUTF8(string(text), "")
		if err != nil || valid == string(text) && !reflect.DeepEqual(back, c) {
			t.Errorf("%s comes back as %+v, %v", line, back, err)
		}
	})
}
