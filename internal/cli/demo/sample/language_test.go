package sample

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A file with a mistake gives an error that names the mistake.
func TestParseLanguage(t *testing.T) {
	const whole = `
share: 1
comments_share: 1
unit: words
size: {from: 1, to: 2}
space: " "
more: More
subjects:
  - name: trains
    titles: |
      A train to {City}
    leads: |
      A {3-5} hour train
      runs to {City}.
    body: |
      It passes {city}.
ends: |
  More follows.
comments: |
  Fine.
  Late.
words:
  city: [Aa, Bb]
synonyms:
  - [" train ", " tram "]
openings: ["In brief:"]
credits: ["By %s"]
`
	for _, c := range []struct{ name, old, new, want string }{
		{name: "whole"},
		{"a misspelt key", "ends:", "endings:", `unknown field "endings"`},
		{"no such words", "[Aa, Bb]", `[Aa, "the port of {town}"]`, "there are no words for {town}"},
		{"no such fixed words", "train to {City}", "train to {Town}", "there are no words for {town}"},
		{"a range from high to low", "{3-5}", "{5-3}", "there are no words for {5-3}"},
		{"no such unit", "unit: words", "unit: pages", `unit is "pages", want characters or words`},
		{"no title", "    titles: |\n      A train to {City}\n", "", "subject trains: a subject needs"},
		{"no end", "ends: |\n  More follows.\n", "", "a language needs subjects, ends"},
		{"one comment", "  Late.\n", "", "a reader's comment has two sentences"},
		{"no such base", "share: 1", "share: 1\nbase: latin", "latin.yaml: file does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := parseLanguage([]byte(strings.Replace(whole, c.old, c.new, 1)))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s := l.Subjects[0]; len(s.Titles) != 1 || len(s.Leads) != 2 || len(s.Body) != 1 {
				t.Errorf("a block is not read as one text a line: %+v", s)
			}
		})
	}
}

// A language takes from its base all keys that it does not set. It adds words to its words.
func TestBase(t *testing.T) {
	all := map[string]*language{}
	for _, name := range []string{"chinese", "mixed"} {
		l, err := readLanguage(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = l
	}
	base, mixed := all["chinese"], all["mixed"]
	if mixed.Unit != base.Unit || !slices.Equal(mixed.Synonyms, base.Synonyms) ||
		len(mixed.Ends) != len(base.Ends) {
		t.Error("mixed lacks the unit, the synonyms or the ends of its base")
	}
	if len(mixed.Subjects) == len(base.Subjects) || mixed.More == base.More {
		t.Error("mixed does not have its own subjects and link")
	}
	for symbol := range maps.Keys(base.Words) {
		if len(mixed.Words[symbol]) == 0 {
			t.Errorf("mixed has no words for %s", symbol)
		}
	}
	if len(mixed.Words["app"]) == 0 || len(base.Words["app"]) > 0 {
		t.Error("words of mixed are missing, or have come into its base")
	}
}

// Each language has its share of what is drawn.
func TestPick(t *testing.T) {
	all := []*language{{Share: 3}, {Share: 0}, {Share: 1}}
	got := map[*language]int{}
	d := dice{rand.NewPCG(1, 2)}
	for range 1000 {
		got[pick(d, all, func(l *language) int { return l.Share })]++
	}
	if got[all[1]] != 0 || got[all[0]] < 680 || got[all[0]] > 820 {
		t.Errorf("of 1,000, %d, %d and %d are drawn for shares of 3, 0 and 1", got[all[0]],
			got[all[1]], got[all[2]])
	}
}
