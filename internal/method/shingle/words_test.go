package shingle

import (
	"math"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/text"
)

func TestWords(t *testing.T) {
	tokenizer, err := text.New(text.Options{Hash: xxh3.HashString})
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Options{Shingles: shingling.Shingles{Words: tokenizer, Size: 2}})
	if err != nil {
		t.Fatal(err)
	}
	fingerprint := m.NewFingerprinter()
	for _, test := range []struct {
		a, b string
		want float64
	}{
		{"storm reaches coast", "Storm reaches, coast!", 0},
		{"storm reaches coast", "the storm reaches a coast", 0}, // stop words are none
		{"storm reaches coast", "storm reaches town", 1 - 1./3},
		{"台风登陆沿海", "颱風登陸沿海。", 0},
		{"storm", "storm", 0},
		{"storm", "storm reaches", 1},
		{"storm reaches", "reaches storm", 1},
	} {
		a, okA := fingerprint("", test.a)
		b, okB := fingerprint("", test.b)
		if got := m.Distance(a, b); math.Abs(got-test.want) > 1e-15 || !okA || !okB {
			t.Errorf("%q and %q: %v, %t, %t, want %v", test.a, test.b, got, okA, okB, test.want)
		}
	}
	for _, nothing := range []string{"", " \n", "-----", "。,!", "the"} {
		if f, ok := fingerprint("", nothing); ok || f.Sketch != "" {
			t.Errorf("%q has a fingerprint", nothing)
		}
	}
	if got, want := m.Identity(), "method=shingle,of=words,size=2,"+tokenizer.Identity(); got != want {
		t.Errorf("identity %q, want %q", got, want)
	}
}
