// equality.go compares fingerprints that are equal or not: the rest of a method whose
// fingerprint is one hash.

package exact

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// A Comparer compares fingerprints that have a hash and no sketch, and are equal or not.
type Comparer struct{}

// Distance returns 0 between equal fingerprints, and else 1.
func (Comparer) Distance(a, b singlepass.Fingerprint) float64 {
	if a.Hash == b.Hash {
		return 0
	}
	return 1
}

// Threshold returns 0: only equal ones are the same.
func (Comparer) Threshold() float64 { return 0 }

// ThresholdSettings returns nothing: no setting makes unequal fingerprints the same.
func (Comparer) ThresholdSettings() string { return "" }

// Check returns an error of a fingerprint with a sketch.
func (Comparer) Check(f singlepass.Fingerprint) error { return f.CheckNoSketch() }

// NewIndex returns an empty index of equal centres; another threshold than 0 is an error.
func (Comparer) NewIndex(threshold float64) (singlepass.Index, error) {
	if threshold != 0 {
		return nil, fmt.Errorf("distance %v: allowed is 0, since articles are equal or not", threshold)
	}
	return hamming.Centres(hamming.NewBTree(0)), nil
}
