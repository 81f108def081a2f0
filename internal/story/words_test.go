package story

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The first words name an article: each once, the title's first, and not too many.
func TestTerms(t *testing.T) {
	var w Words
	if w.Reset(); w.Terms() != "" {
		t.Errorf("nothing has the terms %q", w.Terms())
	}
	w.Title([]byte("flood"))
	w.Title([]byte("morley"))
	w.Content([]byte("flood"))
	w.Content([]byte("洪水"))
	if got, want := w.Terms(), "flood\nmorley\n洪水"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range 40 {
		w.Content(fmt.Appendf(nil, "w%d", i))
	}
	if got := strings.Split(w.Terms(), "\n"); len(got) != maxNames || got[maxNames-1] != "w12" {
		t.Errorf("%q, want 16 words", got)
	}
	w.Reset()
	for i := range byte(16) {
		w.Title([]byte(strings.Repeat(string('a'+rune(i)), 30)))
	}
	w.Content([]byte("short"))
	terms := w.Terms()
	if words := strings.Split(terms, "\n"); len(words) != 8 || len(terms) != 8*31-1 {
		t.Errorf("%d words in %d bytes", len(words), len(terms))
	}
	w.Reset()
	for range maxTitle + 1 {
		w.Title([]byte("many"))
	}
	if w.Title([]byte("late")); w.Terms() != "many" {
		t.Errorf("%q: a word that does not count", w.Terms())
	}
}

func TestTop(t *testing.T) {
	var terms []weighted
	for word, weight := range map[string]uint64{"a": 3, "b": 5, "c": 3, "d": 1} {
		terms = append(terms, weighted{termOf([]byte(word)), weight})
	}
	v := vectorOf(terms, len(terms))
	words := []string{"none", "d", "c", "a", "b", "c"}
	for n, want := range map[int][]string{
		0: nil, 1: {"b"}, 3: {"b", "c", "a"}, 9: {"b", "c", "a", "d"},
	} {
		if got := Top(v, words, n); !slices.Equal(got, want) {
			t.Errorf("the first %d: %v, want %v", n, got, want)
		}
	}
	if got := Top("", words, 3); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}
