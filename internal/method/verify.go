package method

import (
	"cmp"
	"fmt"
	"math"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method/keyedhash"
	"github.com/clusterd/clusterd/internal/method/simhashverify"
	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// verified is simhash at a larger distance, with a second look.
type verified struct {
	hasher   *simHasher
	sketcher *simhashverify.Sketcher
	cluster  config.Cluster
}

func newVerified(c config.Config, key *keyedhash.Key) (Method, error) {
	hasher, err := newSimHasher(c, key)
	if err != nil {
		return nil, err
	}
	sketcher, err := simhashverify.New(hasher.tokenizer.Cleaner, c.Cluster.Similarity, key)
	if err != nil {
		return nil, err
	}
	return &verified{hasher, sketcher, c.Cluster}, nil
}

func (m *verified) Identity() string {
	return "method=simhash+verify," + m.sketcher.Identity() + "," + m.hasher.settings
}

func (m *verified) NewPrinter() func(title, content string) (singlepass.Fingerprint, bool) {
	fingerprint, sketch := m.hasher.newPrinter(), m.sketcher.NewPrinter()
	return func(title, content string) (f singlepass.Fingerprint, ok bool) {
		if f.Hash, ok = fingerprint(title, content); ok {
			f.Sketch, ok = sketch(title, content)
		}
		return f, ok
	}
}

func (m *verified) Distance(a, b singlepass.Fingerprint) float64 {
	if !m.sketcher.Agree(a.Sketch, b.Sketch) {
		return math.Inf(1)
	}
	return float64(simhash.Distance(a.Hash, b.Hash))
}

func (m *verified) Bound() float64 { return float64(m.cluster.VerifiedDistance) }

func (m *verified) Threshold() string {
	return fmt.Sprintf("verified_distance=%d,similarity=%v", m.cluster.VerifiedDistance, cmp.Or(m.cluster.Similarity, simhashverify.DefaultSimilarity))
}

func (m *verified) Check(f singlepass.Fingerprint) error { return m.sketcher.Check(f.Sketch) }

func (m *verified) NewIndex(bound float64) (singlepass.Index, error) {
	if !(bound >= 0 && bound <= simhashverify.MaxDistance) {
		return nil, fmt.Errorf("distance %v: allowed are 0 to %d", bound, simhashverify.MaxDistance)
	}
	return m.sketcher.NewIndex(int(bound)), nil
}
