package paper

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// longest returns how many characters the longest unit of the texts has.
func longest(texts []string) (n int) {
	for _, t := range texts {
		for _, u := range words(t) {
			n = max(n, utf8.RuneCountInString(u))
		}
	}
	return n
}

// solid counts the characters that are no spaces.
func solid(text string) (n int) {
	for _, r := range text {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// isPartOf reports whether all characters of part are in text, in this order.
func isPartOf(part, text string) bool {
	rest := []rune(part)
	for _, r := range text {
		if len(rest) > 0 && rest[0] == r {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

// isCut reports whether part is text without one run of characters.
func isCut(part, text string) bool {
	i := 0
	for i < len(part) && part[i] == text[i] {
		i++
	}
	return strings.HasSuffix(text, part[i:])
}

// What is edited has as many characters as the share says, or more by less than the longest word.
func TestEditsReachTheirShare(t *testing.T) {
	check.OneGoroutine(t)
	texts := textsOf(made(t, 20))
	others, most := newDonor(texts), longest(texts)
	for _, share := range []float64{0, .01, .05, .1, .2, .5} {
		for i, text := range texts {
			others.self = i
			want, d := target(text, share), newDice(7, 0, i)
			within := func(what string, n int) {
				t.Helper()
				if n < want || n >= want+max(most, 1) && want > 0 || want == 0 && n != 0 {
					t.Errorf("%s, share %v: %d characters of %d, want %d", what, share, n,
						utf8.RuneCountInString(text), want)
				}
			}

			added := adding(share)(text, d, others)
			within("added", solid(added)-solid(text))
			if !isPartOf(text, added) {
				t.Errorf("added: something is gone: %q", added)
			}

			passage := addingPassage(share)(text, d, others)
			// A space after it is no part of the passage.
			within("passage added", max(want,
				utf8.RuneCountInString(passage)-utf8.RuneCountInString(text)-1))
			if !isCut(text, passage) {
				t.Errorf("passage added: in several places: %q", passage)
			}

			deleted := deleting(share)(text, d, others)
			within("deleted", utf8.RuneCountInString(text)-utf8.RuneCountInString(deleted))
			if !isPartOf(deleted, text) {
				t.Errorf("deleted: something is new: %q", deleted)
			}

			cut := deletingPassage(share)(text, d, others)
			within("passage deleted", utf8.RuneCountInString(text)-utf8.RuneCountInString(cut))
			if !isCut(cut, text) {
				t.Errorf("passage deleted: in several places: %q", cut)
			}

			marked := replacing(share, func(dice, donor) string { return "§" })(text, d, others)
			within("changed", utf8.RuneCountInString(
				text)-utf8.RuneCountInString(marked)+strings.Count(marked, "§"))
		}
	}
}

// Edits are spread: no half of a text has nearly all of them.
func TestWordsAreChangedAllOver(t *testing.T) {
	texts := textsOf(made(t, 20))
	first, all := 0, 0
	for i, text := range texts {
		marked := replacing(.2, func(dice, donor) string { return "§" })(text, newDice(3, 0, i), donor{})
		first += strings.Count(marked[:len(marked)/2], "§")
		all += strings.Count(marked, "§")
	}
	if share := float64(first) / float64(all); share < .4 || share > .6 {
		t.Errorf("%v of the changes are in the first half", share)
	}
}

func TestReordering(t *testing.T) {
	sorted := func(text string) []string {
		all := sentences(text)
		for i := range all {
			all[i] = strings.TrimSpace(all[i])
		}
		slices.Sort(all)
		return all
	}
	for i, text := range textsOf(made(t, 20)) {
		got := reordering(text, newDice(1, 0, i), donor{})
		if got == text || !slices.Equal(sorted(got), sorted(text)) {
			t.Errorf("reordered\n%q\nbecame\n%q", text, got)
		}
	}
	for text, want := range map[string]string{
		"": "", "one": "one", "First. second": "second First. ",
		"第一句。第二句": "第二句第一句。",
	} {
		if got := reordering(text, newDice(1, 0, 0),
			donor{}); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// What is added comes from other articles only.
func TestDonorLeavesTheArticleOut(t *testing.T) {
	others := newDonor([]string{"aa aa", "bb bb", "cc cc"})
	for self, own := range []string{"a", "b", "c"} {
		others.self = self
		d := newDice(1, 0, self)
		for range 50 {
			if text := others.word(d) + others.passage(d, 20); strings.Contains(text, own) {
				t.Fatalf("%s is in what is added: %q", own, text)
			}
		}
	}
}

// The same seed gives the same texts on every machine, and for each article and experiment others.
func TestEditsFollowFromTheSeed(t *testing.T) {
	texts := textsOf(made(t, 3))
	others := newDonor(texts)
	var b strings.Builder
	for number, e := range experiments() {
		edited := e.edit(texts[0], newDice(1, uint32(number), 0), others)
		if again := e.edit(texts[0], newDice(1, uint32(number), 0), others); again != edited {
			t.Errorf("%s: not the same again", e.name)
		}
		for what, d := range map[string]dice{
			"seed": newDice(2, uint32(number), 0), "experiment": newDice(1, 99, 0),
			"article": newDice(1, uint32(number), 5),
		} {
			if other := e.edit(texts[0], d, others); other == edited {
				t.Errorf("%s: another %s gives the same", e.name, what)
			}
		}
		fmt.Fprintf(&b, "== %s\n%s\n", e.name, edited)
	}
	golden.Check(t, "testdata/edits.txt", []byte(b.String()))
}

// Whatever the text, an edit ends, and what it leaves is valid UTF-8.
func FuzzEdits(f *testing.F) {
	others := newDonor([]string{"港口大桥今天通车。", "the bridge is open"})
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		text = strings.ToValidUTF8(text, "?")
		for number, e := range experiments() {
			if got := e.edit(text, newDice(seed, uint32(number), 0), others); !utf8.ValidString(got) {
				t.Errorf("%s: %q became %q", e.name, text, got)
			}
		}
	})
}
