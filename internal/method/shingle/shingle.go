// Package shingle compares articles by their shingles, all runs of so many characters or
// words, and finds the nearest exactly. Package minhash estimates the same.
package shingle

import (
	"fmt"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// DefaultSimilarity is that of the comparison published with Single-Pass clustering by
// SimHash.
const DefaultSimilarity = .95

// Options say what is compared, and how similar it must be.
type Options struct {
	Shingles shingling.Shingles
	// Similarity is the minimum of the Jaccard index of articles that are the same, above 0 and up
	// to 1; 0 is [DefaultSimilarity].
	Similarity float64
	// Rule says what decides that articles are the same beside the similarity.
	Rule jaccard.Rule
	// Key hashes shingles; nil is XXH3.
	Key *keyedhash.Key
}

// Method takes articles as the same whose sets of shingles (Broder, "On the Resemblance and
// Containment of Documents", 1997) have a Jaccard index of at least the similarity. It is
// exact up to 50,000 shingles an article, and beyond that estimated from as many.
type Method struct {
	jaccard.Comparer
	shingles shingling.Shingles
	hash     *keyedhash.Hash
	key      *keyedhash.Key
}

// New returns the method. An error names the option and what is allowed.
func New(o Options) (*Method, error) {
	if err := o.Shingles.Check(); err != nil {
		return nil, err
	}
	comparer, err := jaccard.NewComparer(o.Similarity, DefaultSimilarity)
	if err != nil {
		return nil, err
	}
	if comparer, err = comparer.WithRule(o.Rule); err != nil {
		return nil, err
	}
	o.Shingles.MarkQuotes = o.Rule.Containment > 0
	return &Method{comparer, o.Shingles, o.Key.For("shingle"), o.Key}, nil
}

// Identity names everything that changes fingerprints.
func (m *Method) Identity() string {
	s := m.shingles
	return fmt.Sprintf("method=shingle,of=%s,size=%d,%s", s.Unit(), s.Size, s.Identity())
}

// NewFingerprinter returns a function that makes the fingerprint of an article: its sketch is the
// [jaccard.Set] of the 64-bit hashes of its shingles. Each goroutine needs its own. ok is
// false of an article without a letter or a number, or without a word.
func (m *Method) NewFingerprinter() func(title, content string) (f singlepass.Fingerprint,
	ok bool) {
	set := set{extras: m.shingles.NewExtras(m.key)}
	add := characters(m.shingles, m.hash)
	if m.shingles.Words != nil {
		add = words(m.shingles.Words, m.shingles.Size, m.hash)
	}
	return func(title, content string) (singlepass.Fingerprint, bool) {
		ok := add(&set, title, content)
		if set.extras.Quotes() {
			set.Builder.Add(jaccard.Quotation)
		}
		return m.Fingerprint(set.Set()), ok
	}
}

// A set is that of one article after the other.
type set struct {
	jaccard.Builder
	extras *shingling.Extras
}

// Add adds the hash of a shingle, and what else there is with it.
func (s *set) Add(shingle uint64) {
	s.Builder.Add(shingle)
	s.extras.Add(shingle, s.Builder.Add)
}

// An adder adds the hashes of an article's shingles. ok is false of an article without a
// letter or a number.
type adder func(to *set, title, content string) (ok bool)

// characters adds the shingles of so many characters each of an article's text, cleaned and
// without its white space. A shorter text is one shingle.
func characters(of shingling.Shingles, hash *keyedhash.Hash) adder {
	var (
		clean  []byte
		size   = of.Size
		starts = make([]int, size) // of the last characters; the oldest at i%size
	)
	return func(to *set, title, content string) bool {
		clean = of.Cleaner.AppendClean(shingling.Reuse(clean), title, content)
		to.extras.Begin(clean, title, content)
		solid, ok := of.Solid(clean)
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
