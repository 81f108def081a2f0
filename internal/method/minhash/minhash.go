// Package minhash tells articles that are the same by the shingles that they share: in go the title
// and the content of an article, out comes a signature of a byte a component, such that two
// signatures agree in about the share of components that is the Jaccard similarity of the sets of
// shingles. Of many signatures it finds the nearest, by locality-sensitive hashing.
//
// A shingle is a run of characters of the cleaned text without its white space, or of words. A text
// is the set of them: how often one occurs makes no difference, nor does the order of what is
// longer than one.
package minhash

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// DefaultSimilarity is the minimum similarity of articles that are the same where none is
// configured. On real articles .75 to .8 do about as well.
const DefaultSimilarity = 0.77

// Options say how signatures are made and how similar they must be.
type Options struct {
	Shingles shingling.Shingles
	// Signature is how signatures are made: fast, permutation or functions.
	Signature string
	// Hashes is how many components a signature has, 1 to [MaxHashes].
	Hashes int
	// Similarity is the minimum share of equal components of articles that are the same, above 0 and
	// up to 1; 0 is [DefaultSimilarity].
	Similarity float64
	// Recall is the minimum probability, above 0 and up to 1, that an index finds a centre of the
	// minimum similarity. At 1 it finds all.
	Recall float64
	// Rule says what decides that articles are the same beside the similarity.
	Rule jaccard.Rule
	// Key hashes shingles; nil is a public rolling hash, which is faster. The hashes of words are
	// Words' own.
	Key *keyedhash.Key
}

// MaxHashes is the largest number of components of a signature.
const MaxHashes = 1024

// Method makes signatures, compares them and finds the nearest. A fingerprint's Sketch is the
// signature, a byte a component. With a rule that counts them the number of distinct shingles
// follows, in the lower 31 bits of four bytes, little endian; the highest says that the article
// quotes another, where containment asks for it. The fingerprint's Hash is the XXH3 of the sketch.
// A Method is safe for concurrent use.
type Method struct {
	options Options
	sign    signer
	differ  int // components that may differ
}

// New returns a Method. An error names the option and what is allowed.
func New(o Options) (*Method, error) {
	sign, err := signerOf(o.Signature)
	if err != nil {
		return nil, err
	}
	if err := o.Shingles.Check(); err != nil {
		return nil, err
	}
	if o.Similarity, err = jaccard.MinSimilarity(o.Similarity, DefaultSimilarity); err != nil {
		return nil, err
	}
	switch {
	case o.Hashes < 1 || o.Hashes > MaxHashes:
		return nil, fmt.Errorf("%d hashes: allowed are 1 to %d", o.Hashes, MaxHashes)
	case !(o.Recall > 0 && o.Recall <= 1):
		return nil, fmt.Errorf("recall %v: allowed is more than 0, up to 1", o.Recall)
	}
	if err := o.Rule.Check(); err != nil {
		return nil, err
	}
	o.Shingles.MarkQuotes = o.Rule.Containment > 0
	return &Method{options: o, sign: sign, differ: mayDiffer(o.Hashes, o.Similarity)}, nil
}

// Identity names everything that changes signatures, as name=value pairs joined by commas. It is
// the same on every machine.
func (m *Method) Identity() string {
	s := m.options.Shingles
	counted := ""
	if m.options.Rule.Counts() {
		counted = ",sketch=counted"
	}
	return fmt.Sprintf("method=minhash,shingle=%s,size=%d,signature=%s,hashes=%d%s,%s",
		s.Unit(), s.Size, m.options.Signature, m.options.Hashes, counted, s.Identity())
}

// NewFingerprinter returns a function that makes the fingerprint of an article, in memory that it
// uses again; each goroutine needs its own. ok is false of an article without a letter or a number.
func (m *Method) NewFingerprinter() func(title, content string) (f singlepass.Fingerprint,
	ok bool) {
	s := newShingler(m.options)
	components := make([]uint64, m.options.Hashes)
	sketch := make([]byte, sketchBytes(m.options.Hashes, m.options.Rule))
	counter := newDistinctCounter()
	return func(title, content string) (singlepass.Fingerprint, bool) {
		shingles, ok := s.shinglesOf(title, content)
		if !ok {
			return singlepass.Fingerprint{}, false
		}
		if m.options.Rule.Counts() {
			n := uint32(min(counter.count(shingles), quoting-1))
			if s.extras.Quotes() {
				n |= quoting
			}
			binary.LittleEndian.PutUint32(sketch[m.options.Hashes:], n)
		}
		m.sign(sketch[:m.options.Hashes], components, shingles)
		return singlepass.Fingerprint{Hash: xxh3.Hash(sketch), Sketch: string(sketch)}, true
	}
}

// countBytes is how many bytes the number of distinct shingles has in a sketch, and quoting the bit
// of it that says that the article quotes another.
const (
	countBytes = 4
	quoting    = 1 << 31
)

// sketchBytes returns how long sketches are.
func sketchBytes(hashes int, rule jaccard.Rule) int {
	if rule.Counts() {
		return hashes + countBytes
	}
	return hashes
}

// sizeIn returns what a sketch says behind so many components, nothing where it ends there.
func sizeIn[S string | []byte](sketch S, hashes int) jaccard.Size {
	n := 0
	for i := range len(sketch) - hashes {
		n |= int(sketch[hashes+i]) << (8 * i)
	}
	return jaccard.Size{Elements: n &^ quoting, Quotes: n&quoting != 0}
}

// Distance returns 1 less the estimated Jaccard similarity, which is the share of equal components.
// Places that differ share a byte once in 256, which makes the estimate too high by at most .004;
// it is left so, since the distance then is a share of components as well.
func (m *Method) Distance(a, b singlepass.Fingerprint) float64 {
	hashes := m.options.Hashes
	return float64(differing(a.Sketch[:hashes], b.Sketch[:hashes])) / float64(hashes)
}

// Same reports whether two articles are the same, as [jaccard.Rule] says, by the estimated Jaccard
// similarity.
func (m *Method) Same(a, b singlepass.Fingerprint) bool {
	return m.options.Rule.Joins(m.Distance(a, b), m.Threshold(), sizeIn(a.Sketch, m.options.Hashes),
		sizeIn(b.Sketch, m.options.Hashes))
}

// Threshold returns the largest distance at which articles are the same: that of signatures of
// which the share of equal components is just the minimum similarity or more.
func (m *Method) Threshold() float64 { return float64(m.differ) / float64(m.options.Hashes) }

// ThresholdSettings names the similarity and what is on of the rule.
func (m *Method) ThresholdSettings() string {
	return fmt.Sprintf("similarity=%v", m.options.Similarity) + m.options.Rule.Settings()
}

// Check returns an error for a fingerprint the sketch of which is no signature of so many
// components, with a number of shingles where there is to be one, or the hash of which is not that
// of its sketch.
func (m *Method) Check(f singlepass.Fingerprint) error {
	want := sketchBytes(m.options.Hashes, m.options.Rule)
	switch {
	case len(f.Sketch) != want && !m.options.Rule.Counts():
		return fmt.Errorf("the sketch has %d bytes; a signature has %d", len(f.Sketch), want)
	case len(f.Sketch) != want:
		return fmt.Errorf("the sketch has %d bytes; a signature and the number of shingles have %d",
			len(f.Sketch), want)
	case m.options.Rule.Counts() && sizeIn(f.Sketch, m.options.Hashes).Elements == 0:
		return errors.New("the sketch says that there are no shingles; every text has one")
	}
	return f.CheckHash(xxh3.HashString(f.Sketch))
}

// NewIndex returns an empty index of centres at up to this distance. It is of up to 2^28 centres.
func (m *Method) NewIndex(threshold float64) (singlepass.Index, error) {
	if !(threshold >= 0 && threshold < 1) {
		return nil, fmt.Errorf("minhash: distance %v: allowed is 0 to less than 1", threshold)
	}
	return newIndex(m.options.Hashes, threshold, m.options.Recall, m.options.Rule), nil
}

func unknown(what, got string, allowed ...string) error {
	last := len(allowed) - 1
	return fmt.Errorf("unknown %s %q: allowed are %s and %s", what, got,
		strings.Join(allowed[:last], ", "), allowed[last])
}
