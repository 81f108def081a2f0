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
	rule          Rule
}

// NewComparer returns a Comparer to which articles are the same from a [MinSimilarity] on.
func NewComparer(configured, byDefault float64) (Comparer, error) {
	similarity, err := MinSimilarity(configured, byDefault)
	return Comparer{minSimilarity: similarity}, err
}

// WithRule returns a Comparer to which articles are the same by this rule.
func (c Comparer) WithRule(rule Rule) (Comparer, error) {
	c.rule = rule
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

// Same reports whether two articles are the same, as [Rule] says.
func (c Comparer) Same(a, b singlepass.Fingerprint) bool {
	x, y := Set(a.Sketch), Set(b.Sketch)
	return c.rule.Joins(Distance(x, y), c.Threshold(), x.Size(), y.Size())
}

// Threshold returns 1 less the minimum of the similarity.
func (c Comparer) Threshold() float64 { return 1 - c.minSimilarity }

// ThresholdSettings names the minimum of the similarity and what is on of the [Rule].
func (c Comparer) ThresholdSettings() string {
	return fmt.Sprintf("similarity=%v", c.minSimilarity) + c.rule.Settings()
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
// less than 1, that are the same as the query by the rule.
func (c Comparer) NewIndex(threshold float64) (singlepass.Index, error) {
	index, err := NewIndex(threshold, c.rule)
	if err != nil {
		return nil, err // not a nil *Index
	}
	return index, nil
}
