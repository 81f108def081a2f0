package fingerprint

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/texts"
)

var load = sync.OnceValues(func() (*Fingerprinter, error) { return New(config.Default()) })

func newFingerprinter(t testing.TB) *Fingerprinter {
	t.Helper()
	f, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A record becomes what assignment needs of it, and refers to nothing of the record.
func TestRecord(t *testing.T) {
	f, at := newFingerprinter(t), article.Address{Topic: "articles", Partition: 2, Offset: 7}
	w := f.workers.Get().(*Worker)
	value := []byte(`{"id":"a","title":"台风","content":"登陆沿海","published_at":"2026-05-01T12:00:00Z"}`)
	got, rejection := w.Record([]byte("k"), value, at)
	clear(value)
	want := Article{
		Source: at, PublishedAt: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
		Representative: article.Representative{ID: "a", Title: "台风"},
		Fingerprint:    got.Fingerprint, Comparable: true,
	}
	if diff := cmp.Diff(want, got); diff != "" || rejection != nil {
		t.Errorf("%v (-want +got):\n%s", rejection, diff)
	}
	again := w.Article(article.Article{
		ID: "a", Title: "台风", Content: "登陆沿海", PublishedAt: want.PublishedAt,
	}, at)
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("the same article (-want +got):\n%s", diff)
	}
	bare, rejection := w.Record(nil, texts.ArticleJSON("b", "!!!", ""), at)
	if bare.Comparable || rejection != nil {
		t.Errorf("%+v, %v: nothing in it can be compared", bare, rejection)
	}
	if _, rejection = w.Record(nil, []byte("{"), at); rejection == nil ||
		rejection.Class != article.BadJSON {
		t.Errorf("rejection = %v", rejection)
	}
}

// Items are done once each, by as many workers as there are cores, until the context ends.
func TestForEach(t *testing.T) {
	f := newFingerprinter(t)
	hashes := make([]uint64, 1003)
	err := f.ForEach(t.Context(), len(hashes), func(w *Worker, i int) {
		a, _ := w.Record(nil, texts.ArticleJSON("a", "", "台风登陆"), article.Address{})
		hashes[i] += a.Fingerprint.Hash
	})
	for i, hash := range hashes {
		if hash != hashes[0] || hash == 0 || err != nil {
			t.Fatalf("item %d: %x, want %x; %v", i, hash, hashes[0], err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = f.ForEach(ctx, 5,
		func(*Worker, int) { t.Error("an item is done after the context has ended") })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	c := config.Default()
	c.Text.StopWords = []string{"no such file"}
	_, err := New(c)
	check.ErrorHas(t, err, "loading dictionaries and stop words", "no such file")
	c.Fingerprint.Hash = "md5"
	_, err = New(c)
	check.ErrorHas(t, err, "md5", strings.Join(simhash.Hashes(), ", "))
}
