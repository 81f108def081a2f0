package text

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

func TestRuns(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" ", nil},
		{"台风", []string{"台风"}},
		{"，台风。登陆 abc-12", []string{"台风", "登陆", "abc", "12"}},
		{"a\u0301b", []string{"a\u0301b"}},
		{"台风\ufffd登陆", []string{"台风", "登陆"}},
		{"\U00030000😀\ue000中", []string{"\U00030000", "中"}},
	} {
		if got := slices.Collect(runs(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("runs(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestLongRunsAreCut(t *testing.T) {
	for _, unit := range []string{"a", "é", "中", "𠀀", "a中"} {
		text := strings.Repeat(unit, 3*maxRun/len(unit))
		var joined strings.Builder
		for run := range runs(text) {
			if len(run) > maxRun || len(run) == 0 || !utf8.ValidString(run) {
				t.Errorf("%q: run of %d bytes, valid: %v", unit, len(run), utf8.ValidString(run))
			}
			joined.WriteString(run)
		}
		if joined.String() != text {
			t.Errorf("%q: the runs are not the text", unit)
		}
	}
}

// In one run of a million bytes gse would lose word boundaries.
func TestWordsOfLongRuns(t *testing.T) {
	check.OneGoroutine(t)
	const unit = "研究生命起源"
	n := 1 << 20 / len(unit)
	got := shared(t).Tokens("", strings.Repeat(unit, n))
	cuts := 2 + n*len(unit)/maxRun
	for _, word := range []string{"研究", "生命", "起源"} {
		if got[word] < n-cuts {
			t.Errorf("%s: %d times, want %d, less at most %d cuts", word, got[word], n, cuts)
		}
	}
}

// To segment runs is to segment the text.
func TestRunsLoseNoWords(t *testing.T) {
	check.OneGoroutine(t)
	counter, plain := shared(t).NewCounter(), sharedOracle(t)
	for _, text := range randomTexts(plain, 2000) {
		want := make(map[string]int)
		for _, word := range plain.seg.Segment([]byte(text)) {
			if w := text[word.Start():word.End()]; plain.isToken(w) {
				want[w]++
			}
		}
		if got := counts(counter.Tokens("", text)); !maps.Equal(got, want) {
			t.Fatalf("%q\n got %s\nwant %s", text, tokens(got), tokens(want))
		}
	}
}

// randomTexts returns n normalised texts: words of the dictionary, each with what may lie
// between words after it.
func randomTexts(plain *oracle, n int) []string {
	words := plain.seg.Dict.Tokens
	between := []string{
		"，", "。", " ", "\n", "·", "“", "😀", "-", "abc", "12", "é", "ы7", "\u0302", "한", "𠀀", "ẖ", "䶮",
		"的", "", "", "",
	}
	random := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range 12 {
			b.WriteString(words[random.IntN(len(words))].Text())
			b.WriteString(between[random.IntN(len(between))])
		}
		// at&t, c# and c++ hold what runs end at.
		texts[i] = plain.norm.normalize(strings.NewReplacer("&", "", "+", "", "#",
			"").Replace(b.String()))
	}
	return texts
}
