package simhashverify

import (
	"cmp"
	"fmt"
	"math"

	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// Options say how articles are fingerprinted, and how near they must be.
type Options struct {
	// SimHash makes the 64 bits. Its Index and Distance are not used; its Key also hashes shingles.
	SimHash simhash.Options
	// Distance is the largest one of articles that are the same, in bits, 0 to [MaxDistance].
	Distance int
	// Similarity is the minimum of that of their shingles, above 0 and up to 1; 0 is
	// [DefaultSimilarity].
	Similarity float64
}

// A Method takes articles as the same whose SimHashes are near and whose sketches agree. It is safe
// for concurrent use.
type Method struct {
	simhash   *simhash.Method
	sketcher  *Sketcher
	distance  int
	threshold string
}

// New returns the method. An error names the option and what is allowed.
func New(o Options) (*Method, error) {
	hashes, err := simhash.NewMethod(o.SimHash)
	if err != nil {
		return nil, err
	}
	sketcher, err := NewSketcher(hashes.Cleaner(), o.Similarity, o.SimHash.Key)
	if err != nil {
		return nil, err
	}
	threshold := fmt.Sprintf("verified_distance=%d,similarity=%v", o.Distance,
		cmp.Or(o.Similarity, DefaultSimilarity))
	return &Method{hashes, sketcher, o.Distance, threshold}, nil
}

// Identity names everything that changes fingerprints.
func (m *Method) Identity() string {
	return "method=simhash+verify," + m.sketcher.Identity() + "," + m.simhash.Settings()
}

// NewFingerprinter returns a function that makes the fingerprint of an article, in memory that it
// uses again; each goroutine needs its own. ok is false of an article without a word that counts.
func (m *Method) NewFingerprinter() func(title, content string) (f singlepass.Fingerprint,
	ok bool) {
	hash, sketch := m.simhash.NewFingerprinter(), m.sketcher.NewSketchFunc()
	return func(title, content string) (f singlepass.Fingerprint, ok bool) {
		if f, ok = hash(title, content); ok {
			f.Sketch, ok = sketch(title, content)
		}
		return f, ok
	}
}

// Distance returns the Hamming distance, or +Inf where the sketches do not agree.
func (m *Method) Distance(a, b singlepass.Fingerprint) float64 {
	if !m.sketcher.Agree(a.Sketch, b.Sketch) {
		return math.Inf(1)
	}
	return m.simhash.Distance(a, b)
}

// Threshold returns the largest distance of articles that are the same, in bits.
func (m *Method) Threshold() float64 { return float64(m.distance) }

// ThresholdSettings names the distance and the similarity.
func (m *Method) ThresholdSettings() string { return m.threshold }

// Check returns an error of a fingerprint whose sketch has another length than all sketches have.
func (m *Method) Check(f singlepass.Fingerprint) error { return m.sketcher.Check(f.Sketch) }

// NewIndex returns an empty index of centres at up to this distance, 0 to [MaxDistance].
func (m *Method) NewIndex(threshold float64) (singlepass.Index, error) {
	if !(threshold >= 0 && threshold <= MaxDistance) {
		return nil, fmt.Errorf("distance %v: allowed are 0 to %d", threshold, MaxDistance)
	}
	return m.sketcher.NewIndex(int(threshold)), nil
}
