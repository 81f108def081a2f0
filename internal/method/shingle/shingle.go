// Package shingle compares articles by their shingles, all runs of so many characters or
// words, and finds the nearest exactly: what sketches of shingles estimate.
package shingle

import (
	"fmt"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/method/exact"
	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/method/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// DefaultSimilarity is that of the comparison published with Single-Pass clustering by
// SimHash.
const DefaultSimilarity = .95

// Options says what is compared, and how alike it must be.
type Options struct {
	// Cleaner cleans texts whose shingles are of characters.
	Cleaner *text.Cleaner
	// Words divides texts whose shingles are of words, by their hashes, which must be there: it was made
	// with a [text.Options].Hash. Where it is set, Cleaner is not used.
	Words *text.Tokenizer
	// Size is how many characters or words a shingle has, at least 1.
	Size int
	// Similarity is the least Jaccard index of articles that are the same, above 0 and up to 1; 0 is
	// [DefaultSimilarity].
	Similarity float64
	// Key hashes shingles; nil is XXH3.
	Key *keyedhash.Key
}

// Method takes articles as the same whose sets of shingles (Broder, "On the Resemblance and
// Containment of Documents", 1997) have a Jaccard index of at least the similarity. It is
// exact up to 50,000 shingles an article, and beyond that estimated from as many.
type Method struct{ options Options }

// New returns the method. An error names the option and what is allowed.
func New(o Options) (*Method, error) {
	if o.Similarity == 0 {
		o.Similarity = DefaultSimilarity
	}
	switch {
	case o.Size < 1:
		return nil, fmt.Errorf("shingles of size %d: allowed is 1 or more", o.Size)
	case !(o.Similarity > 0 && o.Similarity <= 1):
		return nil, fmt.Errorf("similarity %v: allowed is more than 0, up to 1", o.Similarity)
	}
	return &Method{o}, nil
}

// Identity names everything that changes fingerprints.
func (m *Method) Identity() string {
	of, cleaning := "characters", ""
	if m.options.Words != nil {
		of, cleaning = "words", m.options.Words.Identity()
	} else {
		cleaning = m.options.Cleaner.Identity()
	}
	return fmt.Sprintf("method=shingle,of=%s,size=%d,%s", of, m.options.Size, cleaning)
}

// NewPrinter returns a function that makes the fingerprint of an article: its sketch is the
// [jaccard.Set] of the 64-bit hashes of its shingles. Each goroutine needs its own. ok is
// false of an article without a letter or a number, or without a word.
func (m *Method) NewPrinter() func(title, content string) (f singlepass.Fingerprint, ok bool) {
	var builder jaccard.Builder
	hash := m.options.Key.For("shingle")
	add := characters(m.options.Cleaner, m.options.Size, hash)
	if m.options.Words != nil {
		add = words(m.options.Words, m.options.Size, hash)
	}
	return func(title, content string) (singlepass.Fingerprint, bool) {
		ok := add(&builder, title, content)
		sketch := string(builder.Set())
		return singlepass.Fingerprint{Hash: xxh3.HashString(sketch), Sketch: sketch}, ok
	}
}

// Distance is 1 less the Jaccard index.
func (m *Method) Distance(a, b singlepass.Fingerprint) float64 {
	return jaccard.Distance(jaccard.Set(a.Sketch), jaccard.Set(b.Sketch))
}

// Bound is 1 less the least similarity.
func (m *Method) Bound() float64 { return 1 - m.options.Similarity }

// Threshold is the least similarity.
func (m *Method) Threshold() string { return fmt.Sprintf("similarity=%v", m.options.Similarity) }

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

// An adder adds the hashes of an article's shingles. ok is false of an article without a
// letter or a number.
type adder func(to *jaccard.Builder, title, content string) (ok bool)

// characters adds the shingles of so many characters each of an article's text, cleaned and
// without its white space. A shorter text is one shingle.
func characters(cleaner *text.Cleaner, size int, hash *keyedhash.Hash) adder {
	var (
		clean  []byte
		starts = make([]int, size) // of the last characters; the oldest at i%size
	)
	return func(to *jaccard.Builder, title, content string) bool {
		clean = cleaner.AppendClean(exact.Reuse(clean), title, content)
		solid, ok := exact.Solid(clean)
		n := 0
		for i, b := range solid {
			if !utf8.RuneStart(b) {
				continue
			}
			if n >= size {
				to.Add(hash.Sum(solid[starts[n%size]:i]))
			}
			starts[n%size] = i
			n++
		}
		if ok {
			to.Add(hash.Sum(solid[starts[max(0, n-size)%size]:]))
		}
		return ok
	}
}
