// Package pinyin compares articles by how often the letters occur that their pinyin
// syllables begin with, window by window. Copies in which characters were replaced by others
// of the same sound are the same to it.
package pinyin

import (
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/method/exact"
	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/method/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// DefaultSimilarity is the least share of equal windows where none is configured. It was measured on
// real articles with windows of 24 letters, half overlapping, in two levels: .65 to .75 do about as
// well.
const DefaultSimilarity = .7

// Options says what is compared, and how alike it must be.
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
	// Similarity is the least share of equal windows of articles that are the same, above 0 and up to 1;
	// 0 is [DefaultSimilarity].
	Similarity float64
	// Key hashes windows, and where they begin; nil is XXH3.
	Key *keyedhash.Key
}

// Method takes articles as the same the windows of which are, by a share of at least the
// similarity: the Jaccard index of the sets of window numbers.
type Method struct {
	cleaner    *text.Cleaner
	letters    *letters
	windows    windows
	text       *keyedhash.Hash // of an article without windows
	similarity float64
	identity   string
}

// New returns the method. An error names the option and what is allowed.
func New(o Options) (*Method, error) {
	if o.Similarity == 0 {
		o.Similarity = DefaultSimilarity
	}
	switch {
	case o.Window < 8:
		return nil, fmt.Errorf("windows of %d letters: allowed is 8 or more", o.Window)
	case !(o.Overlap >= 0 && o.Overlap <= .9):
		return nil, fmt.Errorf("overlap %v: allowed is 0 to .9", o.Overlap)
	case o.Levels < 2 || o.Levels > 10:
		return nil, fmt.Errorf("%d levels: allowed are 2 to 10", o.Levels)
	case o.Boundaries != "content" && o.Boundaries != "fixed":
		return nil, fmt.Errorf("unknown boundaries %q: allowed are content and fixed", o.Boundaries)
	case !(o.Similarity > 0 && o.Similarity <= 1):
		return nil, fmt.Errorf("similarity %v: allowed is more than 0, up to 1", o.Similarity)
	}
	step := max(1, int(math.Round(float64(o.Window)*(1-o.Overlap))))
	letters := newLetters()
	return &Method{
		cleaner: o.Cleaner,
		letters: letters,
		windows: windows{
			size: o.Window, step: step, levels: o.Levels, fixed: o.Boundaries == "fixed",
			hash: o.Key.For("window"), anchors: o.Key.For("anchor"),
		},
		text:       o.Key.For("text"),
		similarity: o.Similarity,
		identity: fmt.Sprintf("method=pinyin,letters=%s,window=%d,step=%d,levels=%d,boundaries=%s,%s",
			letters.checksum(), o.Window, step, o.Levels, o.Boundaries, o.Cleaner.Identity()),
	}, nil
}

// Identity names everything that changes fingerprints.
func (m *Method) Identity() string { return m.identity }

// NewPrinter returns a function that makes the fingerprint of an article: its sketch is the
// [jaccard.Set] of its window numbers, hashed. Each goroutine needs its own. ok is false of an
// article without a letter or a number.
//
// An article with neither a Han character that has a reading nor a letter from a to z, such as one in Greek, has one
// number: the hash of its text without white space.
func (m *Method) NewPrinter() func(title, content string) (f singlepass.Fingerprint, ok bool) {
	var (
		builder        jaccard.Builder
		windows        = m.windows
		clean, letters []byte
	)
	return func(title, content string) (singlepass.Fingerprint, bool) {
		clean = m.cleaner.AppendClean(exact.Reuse(clean), title, content)
		letters = m.letters.append(exact.Reuse(letters), clean)
		windows.each(letters, func(window []byte) { builder.Add(windows.number(window)) })
		ok := len(letters) > 0
		if !ok {
			var solid []byte
			solid, ok = exact.Solid(clean)
			builder.Add(m.text.Sum(solid))
		}
		sketch := string(builder.Set())
		return singlepass.Fingerprint{Hash: xxh3.HashString(sketch), Sketch: sketch}, ok
	}
}

// Distance is 1 less the share of equal windows.
func (m *Method) Distance(a, b singlepass.Fingerprint) float64 {
	return jaccard.Distance(jaccard.Set(a.Sketch), jaccard.Set(b.Sketch))
}

// Bound is 1 less the least similarity.
func (m *Method) Bound() float64 { return 1 - m.similarity }

// Threshold is the least similarity.
func (m *Method) Threshold() string { return fmt.Sprintf("similarity=%v", m.similarity) }

// Check is an error of a fingerprint the sketch of which is no [jaccard.Set], or the hash of which is not that of
// its sketch.
func (m *Method) Check(f singlepass.Fingerprint) error {
	if err := jaccard.Set(f.Sketch).Check(); err != nil {
		return err
	}
	return f.CheckHash(xxh3.HashString(f.Sketch))
}

// NewIndex returns an empty index of centres at up to this distance, which must be at
// least 0 and less than 1.
func (m *Method) NewIndex(bound float64) (singlepass.Index, error) {
	index, err := jaccard.NewIndex(bound)
	if err != nil {
		return nil, err // not a nil *sets.Index
	}
	return index, nil
}
