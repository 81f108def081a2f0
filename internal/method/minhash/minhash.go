// Package minhash tells articles that are the same by the shingles that they share: in go the title and
// the content of an article, out comes a signature of a byte a place, such that two signatures agree in
// about the share of places that is the Jaccard similarity of the sets of shingles. Of many signatures it
// finds the nearest, by locality-sensitive hashing.
//
// A shingle is a run of characters of the cleaned text without its white space, or of words. A text is the
// set of them: how often one occurs makes no difference, nor does the order of what is longer than one.
package minhash

import (
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/method/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// DefaultSimilarity is the least similarity of articles that are the same where none is configured. On
// real articles .75 to .8 do about as well.
const DefaultSimilarity = 0.77

// Options says how signatures are made and how alike they must be.
type Options struct {
	// Cleaner cleans texts whose shingles are of characters.
	Cleaner *text.Cleaner
	// Words divides texts whose shingles are of words, by their hashes, which must be there: it was made
	// with a [text.Options].Hash. Where it is set, Cleaner is not used.
	Words *text.Tokenizer
	// Size is how many characters or words a shingle has, at least 1.
	Size int
	// Signature is how signatures are made: fast, permutation or functions.
	Signature string
	// Hashes is how many places a signature has, 1 to [MaxHashes].
	Hashes int
	// Similarity is the least share of equal places of articles that are the same, above 0 and up to 1;
	// 0 is [DefaultSimilarity].
	Similarity float64
	// Recall is the least probability, above 0 and up to 1, that an index finds a centre of the least
	// similarity. At 1 it finds all.
	Recall float64
	// Key hashes shingles; nil is a public rolling hash, which is faster. The hashes of words are Words' own.
	Key *keyedhash.Key
}

// MaxHashes is the largest number of places of a signature.
const MaxHashes = 1024

// Method makes signatures, compares them and finds the nearest. A fingerprint's Sketch is the signature,
// a byte a place, and its Hash the XXH3 of that. It is safe for concurrent use.
type Method struct {
	options Options
	sign    signer
	differ  int // places that may differ
}

// New returns a Method. An error names the option and what is allowed.
func New(o Options) (*Method, error) {
	sign, err := signerOf(o.Signature)
	if err != nil {
		return nil, err
	}
	if o.Similarity == 0 {
		o.Similarity = DefaultSimilarity
	}
	switch {
	case o.Size < 1:
		return nil, fmt.Errorf("shingles of size %d: allowed is 1 or more", o.Size)
	case o.Hashes < 1 || o.Hashes > MaxHashes:
		return nil, fmt.Errorf("%d hashes: allowed are 1 to %d", o.Hashes, MaxHashes)
	case !(o.Similarity > 0 && o.Similarity <= 1):
		return nil, fmt.Errorf("similarity %v: allowed is more than 0, up to 1", o.Similarity)
	case !(o.Recall > 0 && o.Recall <= 1):
		return nil, fmt.Errorf("recall %v: allowed is more than 0, up to 1", o.Recall)
	}
	return &Method{options: o, sign: sign, differ: mayDiffer(o.Hashes, o.Similarity)}, nil
}

// Identity names everything that changes signatures, as name=value pairs joined by commas. It is the same
// on every machine.
func (m *Method) Identity() string {
	of, cleaning := "characters", ""
	if m.options.Words != nil {
		of, cleaning = "words", m.options.Words.Identity()
	} else {
		cleaning = m.options.Cleaner.Identity()
	}
	return fmt.Sprintf("method=minhash,shingle=%s,size=%d,signature=%s,hashes=%d,%s",
		of, m.options.Size, m.options.Signature, m.options.Hashes, cleaning)
}

// NewPrinter returns a function that makes the fingerprint of an article, in memory that it uses again;
// each goroutine needs its own. ok is false of an article without a letter or a number.
func (m *Method) NewPrinter() func(title, content string) (f singlepass.Fingerprint, ok bool) {
	s := newShingler(m.options)
	places := make([]uint64, m.options.Hashes)
	signature := make([]byte, m.options.Hashes)
	return func(title, content string) (singlepass.Fingerprint, bool) {
		shingles, ok := s.shinglesOf(title, content)
		if !ok {
			return singlepass.Fingerprint{}, false
		}
		m.sign(signature, places, shingles)
		return singlepass.Fingerprint{Hash: xxh3.Hash(signature), Sketch: string(signature)}, true
	}
}

// Distance is 1 less the estimated Jaccard similarity, which is the share of equal places. Places that
// differ share a byte once in 256, which makes the estimate too high by at most .004; it is left
// so, since the distance then is a share of places as well.
func (m *Method) Distance(a, b singlepass.Fingerprint) float64 {
	return float64(differing(a.Sketch, b.Sketch)) / float64(m.options.Hashes)
}

// Bound is the largest distance at which articles are the same: that of signatures of which the share of
// equal places is just the least similarity or more.
func (m *Method) Bound() float64 { return float64(m.differ) / float64(m.options.Hashes) }

// Threshold is the least similarity.
func (m *Method) Threshold() string { return fmt.Sprintf("similarity=%v", m.options.Similarity) }

// Check is an error of a fingerprint the sketch of which is no signature of so many places, or the hash of which is
// not that of its sketch.
func (m *Method) Check(f singlepass.Fingerprint) error {
	if len(f.Sketch) != m.options.Hashes {
		return fmt.Errorf("the sketch has %d bytes; a signature has %d", len(f.Sketch), m.options.Hashes)
	}
	return f.CheckHash(xxh3.HashString(f.Sketch))
}

// NewIndex returns an empty index of centres at up to this distance. It is of up to 2^32-1 centres.
func (m *Method) NewIndex(bound float64) (singlepass.Index, error) {
	if !(bound >= 0 && bound < 1) {
		return nil, fmt.Errorf("minhash: distance %v: allowed is 0 to less than 1", bound)
	}
	return newIndex(m.options.Hashes, bound, m.options.Recall), nil
}

func unknown(what, got string, allowed ...string) error {
	last := len(allowed) - 1
	return fmt.Errorf("unknown %s %q: allowed are %s and %s", what, got, strings.Join(allowed[:last], ", "), allowed[last])
}
