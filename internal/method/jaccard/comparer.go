package jaccard

import (
	"cmp"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// MinSimilarity returns the similarity from which on articles are the same: the configured one, or
// of 0 a method's own. The error says which are allowed.
func MinSimilarity(configured, byDefault float64) (float64, error) {
	similarity := cmp.Or(configured, byDefault)
	if !(similarity > 0 && similarity <= 1) {
		return 0, fmt.Errorf("similarity %v: allowed is more than 0, up to 1", similarity)
	}
	return similarity, nil
}

// A Comparer compares fingerprints whose sketches are sets: the rest of a method whose fingerprint
// is the [Set] of what an article has.
type Comparer struct {
	minSimilarity float64
	containment   Containment
}

// NewComparer returns a Comparer to which articles are the same from a [MinSimilarity] on.
func NewComparer(configured, byDefault float64) (Comparer, error) {
	similarity, err := MinSimilarity(configured, byDefault)
	return Comparer{minSimilarity: similarity}, err
}

// WithContainment returns a Comparer to which articles are also the same by this rule.
func (c Comparer) WithContainment(rule Containment) (Comparer, error) {
	c.containment = rule
	return c, rule.Check()
}

// Fingerprint returns the fingerprint of a set: the set is its sketch.
func (Comparer) Fingerprint(s Set) singlepass.Fingerprint {
	return singlepass.Fingerprint{Hash: xxh3.HashString(string(s)), Sketch: string(s)}
}

// Distance returns 1 less the Jaccard index.
func (Comparer) Distance(a, b singlepass.Fingerprint) float64 {
	return Distance(Set(a.Sketch), Set(b.Sketch))
}

// Contained reports whether the one of two articles contains the other, as [Containment] says.
func (c Comparer) Contained(a, b singlepass.Fingerprint) bool {
	return c.containment.Holds(c.Distance(a, b), Set(a.Sketch).Size(), Set(b.Sketch).Size())
}

// Threshold returns 1 less the minimum of the similarity.
func (c Comparer) Threshold() float64 { return 1 - c.minSimilarity }

// ThresholdSettings names the minimum of the similarity and, where it is used, of the containment.
func (c Comparer) ThresholdSettings() string {
	return fmt.Sprintf("similarity=%v", c.minSimilarity) + c.containment.Setting()
}

// Check returns an error of a fingerprint whose sketch is no [Set], or whose hash is not that of
// its sketch.
func (Comparer) Check(f singlepass.Fingerprint) error {
	if err := Set(f.Sketch).Check(); err != nil {
		return err
	}
	return f.CheckHash(xxh3.HashString(f.Sketch))
}

// NewIndex returns an empty index of centres at up to this distance, which must be at least 0 and
// less than 1, and of those that contain the query or are contained in it.
func (c Comparer) NewIndex(threshold float64) (singlepass.Index, error) {
	index, err := NewIndex(threshold, c.containment)
	if err != nil {
		return nil, err // not a nil *Index
	}
	return index, nil
}
