package paper

import (
	"errors"
	"iter"
	"math"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// made returns made-up articles in Chinese and English of at least 200 characters.
func made(t testing.TB, n int) []Article {
	t.Helper()
	cleaner, err := text.NewCleaner(text.CleanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	feed := sample.New(1, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	var all []Article
	for len(all) < n {
		a := feed.Next()
		if clean := string(cleaner.AppendClean(nil, a.Title, a.Content)); a.Kind == sample.Original &&
			utf8.RuneCountInString(clean) >= 200 {
			all = append(all, Article{a.Title, a.Content, clean})
		}
	}
	return all
}

func textsOf(articles []Article) (texts []string) {
	for _, a := range articles {
		texts = append(texts, a.Text)
	}
	return texts
}

// byLength is a method by which texts are as far apart as their lengths in characters.
type byLength struct{ centreBytes int }

func (byLength) Identity() string { return "method=length" }

func (byLength) NewFingerprinter() func(title, content string) (singlepass.Fingerprint, bool) {
	return func(title, content string) (singlepass.Fingerprint, bool) {
		n := utf8.RuneCountInString(title + content)
		return singlepass.Fingerprint{Hash: uint64(n)}, n > 0
	}
}

func (byLength) Distance(a, b singlepass.Fingerprint) float64 {
	return math.Abs(float64(a.Hash) - float64(b.Hash))
}

func (byLength) Threshold() float64 { return 0 }

func (byLength) ThresholdSettings() string { return "" }

func (byLength) Check(f singlepass.Fingerprint) error { return f.CheckNoSketch() }

func (m byLength) NewIndex(threshold float64) (singlepass.Index, error) {
	if threshold < 0 {
		return nil, errors.New("less than nothing")
	}
	return &heavyIndex{bytes: m.centreBytes}, nil
}

// heavyIndex finds nothing, and has so many bytes for a centre.
type heavyIndex struct {
	bytes   int
	centres [][]byte
	queries atomic.Uint64
}

func (x *heavyIndex) Insert(singlepass.Centre) {
	x.centres = append(x.centres,
		make([]byte, x.bytes))
}

func (x *heavyIndex) BulkLoad(_ int, centres iter.Seq[singlepass.Centre]) {
	for c := range centres {
		x.Insert(c)
	}
}

func (x *heavyIndex) Remove(singlepass.Centre) bool { return false }

func (x *heavyIndex) Nearest(
	singlepass.Fingerprint, *singlepass.Live,
) (singlepass.Centre, float64, bool) {
	x.queries.Add(1)
	return singlepass.Centre{}, 0, false
}

func (x *heavyIndex) Len() int { return len(x.centres) }

func (x *heavyIndex) Candidates() uint64 { return x.queries.Load() }
