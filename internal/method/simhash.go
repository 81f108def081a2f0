package method

import (
	"errors"
	"fmt"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method/hamming"
	"github.com/clusterd/clusterd/internal/method/idf"
	"github.com/clusterd/clusterd/internal/method/keyedhash"
	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// A simHasher makes the fingerprints of articles as the configuration says.
type simHasher struct {
	tokenizer *text.Tokenizer
	hasher    *simhash.Hasher
	pairs     bool
	key       *keyedhash.Key
	// settings are what changes fingerprints, as name=value pairs joined by commas. What came later
	// is named only where it is not the default, so that older fingerprints stay valid.
	settings string
}

func newSimHasher(c config.Config, key *keyedhash.Key) (*simHasher, error) {
	hash := c.Fingerprint.Hash
	if key != nil {
		if hash == "sdbm-raw" {
			return nil, errors.New("sdbm-raw is for matching old fingerprints, and there are none with a secret: choose another hash")
		}
		hash = "siphash" // in place of the others: from what collides there nothing keyed could be made
	}
	s := &simHasher{
		pairs:    c.Fingerprint.Features == "pairs",
		settings: "hash=" + hash + ",weight=" + c.Fingerprint.Weight,
		key:      key,
	}
	if s.pairs {
		s.settings += ",features=pairs"
	}
	if err := s.setWeight(c.Fingerprint); err != nil {
		return nil, err
	}
	tokenHash := s.hasher.Hash
	if key != nil {
		tokenHash = key.For("token").SumString
	}
	var err error
	if s.tokenizer, err = NewTokenizer(c.Text, tokenHash); err != nil {
		return nil, err
	}
	s.settings += "," + s.tokenizer.Identity()
	return s, nil
}

// NewTokenizer loads the dictionary, for words with these hashes.
func NewTokenizer(c config.Text, hash func(string) uint64) (*text.Tokenizer, error) {
	t, err := text.New(text.Options{Dictionaries: c.Dictionaries, StopWords: c.StopWords, HTML: c.HTML, Extract: c.Extract, Hash: hash})
	if err != nil {
		return nil, fmt.Errorf("loading dictionaries and stop words: %w", err)
	}
	return t, nil
}

func (s *simHasher) setWeight(c config.Fingerprint) (err error) {
	if c.Weight != simhash.TFIDF {
		s.hasher, err = simhash.New(c.Hash, c.Weight)
		return err
	}
	table, err := idf.Load(c.IDF)
	if err != nil {
		return fmt.Errorf("loading the table of how rare words are: %w", err)
	}
	s.settings += ",idf=" + table.Identity()
	s.hasher, err = simhash.NewTFIDF(c.Hash, table)
	return err
}

// newPrinter returns a function that makes the fingerprint of an article. ok is false of an article
// without a word that counts.
func (s *simHasher) newPrinter() func(title, content string) (fingerprint uint64, ok bool) {
	counter := s.tokenizer.NewCounter()
	tokensOf := counter.Tokens
	if s.pairs {
		tokensOf = simhash.NewPairs(counter, s.key).Tokens
	}
	return func(title, content string) (uint64, bool) {
		tokens := tokensOf(title, content)
		return s.hasher.Fingerprint(tokens), len(tokens) > 0
	}
}

type simHash struct {
	hasher   *simHasher
	index    string
	distance int
}

func newSimHash(c config.Config, key *keyedhash.Key) (Method, error) {
	hasher, err := newSimHasher(c, key)
	if err != nil {
		return nil, err
	}
	return &simHash{hasher, c.Cluster.Index, c.Cluster.Distance}, nil
}

func (m *simHash) Identity() string { return "method=simhash," + m.hasher.settings }

func (m *simHash) NewPrinter() func(title, content string) (singlepass.Fingerprint, bool) {
	print := m.hasher.newPrinter()
	return func(title, content string) (singlepass.Fingerprint, bool) {
		fingerprint, ok := print(title, content)
		return singlepass.Fingerprint{Hash: fingerprint}, ok
	}
}

func (m *simHash) Distance(a, b singlepass.Fingerprint) float64 {
	return float64(simhash.Distance(a.Hash, b.Hash))
}

func (m *simHash) Bound() float64 { return float64(m.distance) }

func (m *simHash) Threshold() string { return fmt.Sprintf("distance=%d", m.distance) }

func (m *simHash) Check(f singlepass.Fingerprint) error { return f.CheckNoSketch() }

func (m *simHash) NewIndex(bound float64) (singlepass.Index, error) {
	points, err := hamming.NewIndex(m.index, int(bound))
	if err != nil {
		return nil, err
	}
	return hamming.Centres(points), nil
}
