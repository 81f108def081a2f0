// Package diff finds which passages two texts share and which only one of them has.
package diff

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/clusterd/clusterd/internal/text"
)

// A Kind says whose a passage is.
type Kind string

// The kinds of passages.
const (
	Same  Kind = "same"
	OnlyA Kind = "only_a"
	OnlyB Kind = "only_b"
)

// A Passage is a run of a text.
type Passage struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"` // of Same, as A has it
}

// A Comparer compares texts as clusterd reads them: what is the same to it after cleaning is the
// same. It is safe for concurrent use.
type Comparer struct{ strip, keep *text.Cleaner }

// New returns a Comparer of texts that are cleaned with these options.
func New(o text.CleanOptions) (*Comparer, error) {
	strip, err := text.NewCleaner(o)
	if err != nil {
		return nil, err
	}
	o.HTML = "never"
	keep, err := text.NewCleaner(o)
	if err != nil {
		return nil, err
	}
	return &Comparer{strip, keep}, nil
}

// searchTimeout is how long the search for the shortest edit script may take: for texts of some
// hundred thousand words that have nothing in common. What is found by then is right, but may be
// longer.
const searchTimeout = 10 * time.Second

// Passages divides two articles, each the title, a line break and the content, into what they share
// and what only one has, in order; where they differ, A's comes first. Joined, those of one text
// are the text: as it is, or if it has markup, cleaned.
//
// White space at the ends is left out. Units are words, of Chinese and Japanese characters (UAX
// #29), and the passages those of a shortest edit script (Myers, "An O(ND) Difference Algorithm and
// Its Variations", 1986), in which what is shared by chance between longer differences counts as
// different. The error says that the texts are too large.
func (c *Comparer) Passages(titleA, contentA, titleB, contentB string) ([]Passage, error) {
	a, b := units(c.readable(titleA, contentA)), units(c.readable(titleB, contentB))
	known := make(alphabet)
	inA, inB := c.spell(known, a), c.spell(known, b)
	if len(known) > letters {
		return nil, fmt.Errorf("the texts have %d different words; at most %d can be compared",
			len(known), letters)
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = searchTimeout
	runs := d.DiffMainRunes(inA, inB, false)
	var passages []Passage
	for _, run := range d.DiffCleanupSemantic(runs) {
		n := utf8.RuneCountInString(run.Text)
		switch run.Type {
		case diffmatchpatch.DiffEqual:
			passages = append(passages, Passage{Same, strings.Join(a[:n], "")})
			a, b = a[n:], b[n:]
		case diffmatchpatch.DiffDelete:
			passages = append(passages, Passage{OnlyA, strings.Join(a[:n], "")})
			a = a[n:]
		case diffmatchpatch.DiffInsert:
			passages = append(passages, Passage{OnlyB, strings.Join(b[:n], "")})
			b = b[n:]
		}
	}
	return passages, nil
}

// readable returns an article as it is shown: without markup, but where there is none, not changed.
func (c *Comparer) readable(title, content string) string {
	clean := c.strip.AppendClean(nil, title, content)
	if string(clean) != string(c.keep.AppendClean(nil, title, content)) {
		return strings.TrimSpace(string(clean))
	}
	return strings.TrimSpace(strings.ToValidUTF8(title+"\n"+content, "\uFFFD"))
}

// units returns a text as words and what is between them, of which a run of white space is one.
func units(text string) (all []string) {
	state := -1
	for len(text) > 0 {
		var word string
		word, text, state = uniseg.FirstWordInString(text, state)
		if last := len(all) - 1; last >= 0 && isSpace(word) && isSpace(all[last]) {
			all[last] += word
		} else {
			all = append(all, word)
		}
	}
	return all
}

func isSpace(unit string) bool { return strings.TrimSpace(unit) == "" }

// An alphabet has a letter for each unit, since the library compares letters. They are none that it
// takes for a space or a mark.
type alphabet map[string]rune

const (
	firstLetter = 0x10000
	letters     = utf8.MaxRune - firstLetter
)

// spell returns units in letters, the same for those that are the same when cleaned. All white
// space is the same.
func (c *Comparer) spell(known alphabet, units []string) []rune {
	spelt := make([]rune, len(units))
	var clean []byte
	for i, u := range units {
		clean = bytes.TrimSpace(c.keep.AppendClean(clean[:0], "", u))
		letter, ok := known[string(clean)]
		if !ok {
			letter = firstLetter + rune(len(known))
			known[string(clean)] = letter
		}
		spelt[i] = letter
	}
	return spelt
}
