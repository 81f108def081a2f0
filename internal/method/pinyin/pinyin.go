// Package pinyin compares articles by how often the letters occur that their pinyin
// syllables begin with, window by window. Copies in which characters were replaced by others
// of the same sound are the same to it.
package pinyin

import (
	"bytes"
	"fmt"
	"math"

	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// DefaultSimilarity is the minimum share of equal windows where none is configured. It was measured
// on real articles with windows of 24 letters, half overlapping, in two levels: .65 to .75 do about
// as well.
const DefaultSimilarity = .7

// Options say what is compared, and how similar it must be.
type Options struct {
	Cleaner *text.Cleaner
	// Window is how many letters a window has, at least 8.
	Window int
	// Overlap is the share of a window that the next one has too, from 0 up to .9.
	Overlap float64
	// Levels is how finely the frequency of a letter is told, 2 to 10.
	Levels int
	// Boundaries is where windows begin: content or fixed.
	Boundaries string
	// Similarity is the minimum share of equal windows of articles that are the same, above 0 and
	// up to 1; 0 is [DefaultSimilarity].
	Similarity float64
	// Key hashes windows, and where they begin; nil is XXH3.
	Key *keyedhash.Key
}

// Method takes articles as the same the windows of which are, by a share of at least the
// similarity: the Jaccard index of the sets of window numbers.
type Method struct {
	jaccard.Comparer
	cleaner  *text.Cleaner
	letters  *letters
	windows  windows
	text     *keyedhash.Hash // of an article without windows
	identity string
}

// New returns the method. An error names the option and what is allowed.
func New(o Options) (*Method, error) {
	switch {
	case o.Window < 8:
		return nil, fmt.Errorf("windows of %d letters: allowed is 8 or more", o.Window)
	case !(o.Overlap >= 0 && o.Overlap <= .9):
		return nil, fmt.Errorf("overlap %v: allowed is 0 to .9", o.Overlap)
	case o.Levels < 2 || o.Levels > 10:
		return nil, fmt.Errorf("%d levels: allowed are 2 to 10", o.Levels)
	case o.Boundaries != "content" && o.Boundaries != "fixed":
		return nil, fmt.Errorf("unknown boundaries %q: allowed are content and fixed", o.Boundaries)
	}
	comparer, err := jaccard.NewComparer(o.Similarity, DefaultSimilarity)
	if err != nil {
		return nil, err
	}
	step := max(1, int(math.Round(float64(o.Window)*(1-o.Overlap))))
	letters := newLetters()
	windows := windows{
		size: o.Window, step: step, levels: o.Levels, fixed: o.Boundaries == "fixed",
		hash: o.Key.For("window"), anchors: o.Key.For("anchor"),
	}
	windows.tabulate()
	return &Method{
		Comparer: comparer,
		cleaner:  o.Cleaner,
		letters:  letters,
		windows:  windows,
		text:     o.Key.For("text"),
		identity: fmt.Sprintf("method=pinyin,letters=%s,window=%d,step=%d,levels=%d,boundaries=%s,%s",
			letters.checksum(), o.Window, step, o.Levels, o.Boundaries, o.Cleaner.Identity()),
	}, nil
}

// Identity names everything that changes fingerprints.
func (m *Method) Identity() string { return m.identity }

// NewFingerprinter returns a function that makes the fingerprint of an article: its sketch is the
// [jaccard.Set] of its window numbers, hashed. Each goroutine needs its own. ok is false of an
// article without a letter or a number.
//
// An article with neither a Han character that has a reading nor a letter from a to z, such as one
// in Greek, has one number: the hash of its text without white space.
func (m *Method) NewFingerprinter() func(title, content string) (f singlepass.Fingerprint,
	ok bool) {
	var (
		builder        jaccard.Builder
		windows        = m.windows
		clean, letters []byte
	)
	return func(title, content string) (singlepass.Fingerprint, bool) {
		clean = m.cleaner.AppendClean(shingling.Reuse(clean), title, content)
		letters = m.letters.append(shingling.Reuse(letters), clean)
		var before []byte
		windows.each(letters, func(window []byte) {
			if !bytes.Equal(window, before) { // in a run of one letter all are
				builder.Add(windows.number(window))
			}
			before = window
		})
		ok := len(letters) > 0
		if !ok {
			var rest []byte
			rest, ok = shingling.WithoutSpace(clean)
			builder.Add(m.text.Sum(rest))
		}
		return m.Fingerprint(builder.Set()), ok
	}
}
