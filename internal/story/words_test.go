package story

import (
	"fmt"
	"math/rand/v2"
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

// The table makes no difference: vectors are those of a map, also where all words begin alike, and
// where another article was weighed before.
func TestVectorIsThatOfAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 11))
	var alike [][]byte // words whose terms are looked for in the last place
	for i := 0; len(alike) < 100; i++ {
		if word := fmt.Appendf(nil, "%d", i); termOf(word)>>(32-placeBits) == 1<<placeBits-1 {
			alike = append(alike, word)
		}
	}
	var w Words
	for range 300 {
		w.Reset()
		said := make(map[uint32]uint64)
		few := 1 + random.IntN(600)
		word := func() []byte {
			if random.IntN(4) == 0 {
				return alike[random.IntN(min(few, len(alike)))]
			}
			return fmt.Appendf(nil, "w%d", random.IntN(few))
		}
		for range random.IntN(maxTitle + 10) {
			next := word()
			if w.title < maxTitle {
				said[termOf(next)] += titleWeight
			}
			w.Title(next)
		}
		for i := range random.IntN(maxContent + 10) {
			next := word()
			if i < maxContent {
				said[termOf(next)] += one * lead / (lead + uint64(i))
			}
			w.Content(next)
		}
		var terms []weighted
		for term, tf := range said {
			if tf > one {
				tf = one + (log2(tf)-fraction*one)*ln2/one
			}
			terms = append(terms, weighted{term, tf})
		}
		if got, want := w.Vector(), vectorOf(terms, len(terms)); got != want {
			t.Fatalf("%x, want %x", got, want)
		}
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
