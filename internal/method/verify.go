package method

import (
	"fmt"
	"math"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/hamming"
	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/verify"
)

// verified is simhash at a larger distance, with a second look.
type verified struct {
	hasher   *simHasher
	sketcher *verify.Sketcher
	distance int
}

func newVerified(c config.Config) (Method, error) {
	hasher, err := newSimHasher(c)
	if err != nil {
		return nil, err
	}
	sketcher, err := verify.New(hasher.tokenizer.Cleaner, c.Cluster.Similarity)
	if err != nil {
		return nil, err
	}
	return &verified{hasher, sketcher, c.Cluster.VerifiedDistance}, nil
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

func (m *verified) Bound() float64 { return float64(m.distance) }

func (m *verified) NewIndex(bound float64) (singlepass.Index, error) {
	if !(bound >= 0 && bound <= hamming.MaxWideDistance) {
		return nil, fmt.Errorf("distance %v: allowed are 0 to %d", bound, hamming.MaxWideDistance)
	}
	return m.sketcher.NewIndex(int(bound)), nil
}
