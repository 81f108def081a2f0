package minhash

import (
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text"
)

// Shingles of words are of the tokens, so that stop words make no difference.
func TestWords(t *testing.T) {
	check.OneGoroutine(t)
	words, err := text.New(text.Options{Hash: xxh3.HashString})
	if err != nil {
		t.Fatal(err)
	}
	m := newTest(t,
		func(o *Options) { o.Shingles.Cleaner, o.Shingles.Words, o.Shingles.Size = nil, words, 2 })
	if want := "method=minhash,shingle=words,size=2,signature=fast,hashes=128," +
		words.Identity(); m.Identity() != want {
		t.Errorf("identity %s, want %s", m.Identity(), want)
	}
	fingerprint := m.NewFingerprinter()
	a, okA := fingerprint("Typhoon", "hits the coast of 福建省")
	b, okB := fingerprint("", "typhoon HITS coast, 福建省!")
	c, okC := fingerprint("", "coast hits 福建省 typhoon")
	if !okA || !okB || !okC || a != b || m.Distance(a, c) < 0.9 {
		t.Errorf("fingerprints %x, %x, %x, want the first two the same", a, b, c)
	}
	if f, ok := fingerprint("the", "的！"); ok {
		t.Errorf("stop words alone have a fingerprint, %x", f)
	}
}
