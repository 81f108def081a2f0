package shingle

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/text"
)

var newCleaner = sync.OnceValues(func() (*text.Cleaner, error) {
	return text.NewCleaner(text.CleanOptions{})
})

func newMethod(t testing.TB, size int) *Method {
	t.Helper()
	cleaner, err := newCleaner()
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Options{Shingles: shingling.Shingles{Cleaner: cleaner, Size: size}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		size       int
		similarity float64
		want       string // in the error
	}{
		{5, 0, ""},
		{1, 1, ""},
		{0, .5, "size 0"},
		{5, -.1, "similarity -0.1"},
		{5, 1.1, "similarity 1.1"},
		{5, math.NaN(), "similarity NaN"},
	} {
		_, err := New(Options{Shingles: shingling.Shingles{Size: test.size}, Similarity: test.similarity})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("size %d, similarity %v: error %v, want %q", test.size, test.similarity, err, test.want)
		}
	}
	similarity := DefaultSimilarity
	want := fmt.Sprintf("similarity=%v", similarity)
	if m := newMethod(t, 5); m.Threshold() != 1-similarity || m.ThresholdSettings() != want {
		t.Errorf("threshold %v, threshold %s", m.Threshold(), m.ThresholdSettings())
	}
}

func TestIdentity(t *testing.T) {
	if got, want := newMethod(t, 7).Identity(),
		"method=shingle,of=characters,size=7,norm=1,html=auto"; got != want {
		t.Errorf("identity %q, want %q", got, want)
	}
}

func TestCharacters(t *testing.T) {
	for _, test := range []struct {
		title, content string
		size           int
		want           []string // shingles
	}{
		{"", "abcdefg", 5, []string{"abcde", "bcdef", "cdefg"}},
		{"ab", "c d\u3000e", 3, []string{"abc", "bcd", "cde"}},
		{"台风", "登陆,ABC", 3, []string{"台风登", "风登陆", "登陆,", "陆,a", ",ab", "abc"}},
		{"", "abc", 5, []string{"abc"}},
		{"", "abcde", 5, []string{"abcde"}},
		{"", "aaaaaaa", 2, []string{"aa"}},
		{"", "abab", 1, []string{"a", "b"}},
		{"", "<p>台<b>風</b></p>", 2, []string{"台风"}},
		{"", "- 7", 5, []string{"-7"}},
	} {
		var want jaccard.Builder
		for _, s := range test.want {
			want.Add(xxh3.HashString(s))
		}
		f, ok := newMethod(t, test.size).NewFingerprinter()(test.title, test.content)
		if set := want.Set(); f.Sketch != string(set) || f.Hash != xxh3.HashString(f.Sketch) || !ok {
			t.Errorf("%q, %q: %d shingles, %t, want %q", test.title, test.content,
				jaccard.Set(f.Sketch).Len(), ok, test.want)
		}
	}
}

func TestDistance(t *testing.T) {
	m := newMethod(t, 3)
	fingerprint := m.NewFingerprinter()
	for _, test := range []struct {
		a, b string
		want float64
	}{
		{"abcdef", "abcdef", 0},
		{"abcdef", "bcdefg", 1 - 3./5},
		{"abcdef", "abcdefabc", 1 - 4./6},
		{"abcdef", "xyz", 1},
	} {
		a, okA := fingerprint("", test.a)
		b, okB := fingerprint("", test.b)
		if got := m.Distance(a, b); math.Abs(got-test.want) > 1e-15 || !okA || !okB {
			t.Errorf("%q and %q: %v, %t, %t, want %v", test.a, test.b, got, okA, okB, test.want)
		}
	}
}

func TestNothing(t *testing.T) {
	fingerprint := newMethod(t, 5).NewFingerprinter()
	for _, nothing := range []string{"", " \n", "-----", "。,!"} {
		if f, ok := fingerprint("", nothing); ok || f.Sketch != "" {
			t.Errorf("%q has a fingerprint of %d shingles", nothing, jaccard.Set(f.Sketch).Len())
		}
	}
}

// Shingles are those of the definition.
func FuzzCharacters(f *testing.F) {
	f.Add("台风登陆 abc", 3)
	f.Add("a\u0301\u3000\xff<b>x", 1)
	f.Add("ab", 5)
	f.Fuzz(func(t *testing.T, content string, size int) {
		if size < 1 || size > 64 {
			t.Skip()
		}
		m := newMethod(t, size)
		got, ok := m.NewFingerprinter()("", content)
		if !ok {
			return
		}
		characters := []rune(
			strings.Join(strings.Fields(string(m.shingles.Cleaner.AppendClean(nil, "", content))), ""))
		var want jaccard.Builder
		for i := range max(1, len(characters)-size+1) {
			want.Add(xxh3.HashString(string(characters[i:min(i+size, len(characters))])))
		}
		if got.Sketch != string(want.Set()) {
			t.Errorf("%d shingles of %q are not those of %q", size, content, string(characters))
		}
	})
}
