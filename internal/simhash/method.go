package simhash

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// Options say how articles are fingerprinted, and how near their fingerprints must be.
type Options struct {
	Hash   string         // one of [Hashes]; with a key it takes the place of all of them
	Weight string         // one of [Weights]
	Table  *IDF           // of the weight tfidf; nil is the built-in one
	Pairs  bool           // whether pairs of neighbouring words count beside words
	Key    *keyedhash.Key // hashes words and pairs; nil is Hash
	// Tokenizer makes the tokenizer of articles, for words with these hashes.
	Tokenizer func(hash func(string) uint64) (*text.Tokenizer, error)
	Index     string // one that [hamming.NewIndex] names
	Distance  int    // the largest of articles that are the same
}

// A Method takes articles as the same whose fingerprints differ in few bits. It is safe for
// concurrent use.
type Method struct {
	hasher    *Hasher
	tokenizer *text.Tokenizer
	options   Options
	settings  string
}

// NewMethod returns the method. An error names the option and what is allowed.
func NewMethod(o Options) (*Method, error) {
	hash := o.Hash
	if o.Key != nil {
		if hash == "sdbm-raw" {
			return nil, errors.New("sdbm-raw is for matching old fingerprints, and there are none with a " +
				"secret: choose another hash")
		}
		hash = "siphash" // in place of the others: from what collides there nothing keyed could be made
	}
	hasher, err := newHasher(o)
	if err != nil {
		return nil, err
	}
	tokenHash := hasher.Hash
	if o.Key != nil {
		tokenHash = o.Key.For("token").SumString
	}
	tokenizer, err := o.Tokenizer(tokenHash)
	if err != nil {
		return nil, err
	}
	// What came later is named only where it is not the default, so that older fingerprints stay
	// valid.
	settings := []string{"hash=" + hash, "weight=" + o.Weight}
	if o.Pairs {
		settings = append(settings, "features=pairs")
	}
	if o.Table != nil {
		settings = append(settings, "idf="+o.Table.Identity())
	}
	settings = append(settings, tokenizer.Identity())
	return &Method{hasher, tokenizer, o, strings.Join(settings, ",")}, nil
}

func newHasher(o Options) (*Hasher, error) {
	if o.Table != nil {
		return NewTFIDF(o.Hash, o.Table)
	}
	return New(o.Hash, o.Weight)
}

// Identity names everything that changes fingerprints.
func (m *Method) Identity() string { return "method=simhash," + m.settings }

// Settings returns Identity without the name of the method.
func (m *Method) Settings() string { return m.settings }

// Cleaner returns what cleans texts before they are divided into words.
func (m *Method) Cleaner() *text.Cleaner { return m.tokenizer.Cleaner }

// NewFingerprinter returns a function that makes the fingerprint of an article, which has no
// sketch; each goroutine needs its own. ok is false of an article without a word that counts.
func (m *Method) NewFingerprinter() func(title, content string) (f singlepass.Fingerprint,
	ok bool) {
	counter := m.tokenizer.NewCounter()
	tokensOf := counter.Tokens
	if m.options.Pairs {
		tokensOf = NewPairs(counter, m.options.Key).Tokens
	}
	return func(title, content string) (singlepass.Fingerprint, bool) {
		tokens := tokensOf(title, content)
		return singlepass.Fingerprint{Hash: m.hasher.Fingerprint(tokens)}, len(tokens) > 0
	}
}

// Distance returns the Hamming distance.
func (m *Method) Distance(a, b singlepass.Fingerprint) float64 {
	return float64(Distance(a.Hash, b.Hash))
}

// Threshold returns the largest distance of articles that are the same, in bits.
func (m *Method) Threshold() float64 { return float64(m.options.Distance) }

// ThresholdSettings names the distance.
func (m *Method) ThresholdSettings() string {
	return fmt.Sprintf("distance=%d",
		m.options.Distance)
}

// Check returns an error of a fingerprint with a sketch.
func (m *Method) Check(f singlepass.Fingerprint) error { return f.CheckNoSketch() }

// NewIndex returns an empty index of centres at up to this distance, see [hamming.NewIndex].
func (m *Method) NewIndex(threshold float64) (singlepass.Index, error) {
	points, err := hamming.NewIndex(m.options.Index, int(threshold))
	if err != nil {
		return nil, err
	}
	return hamming.Centres(points), nil
}
