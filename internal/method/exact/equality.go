package exact

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/method/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// Equality compares fingerprints that have a hash and no sketch, and are equal or not.
type Equality struct{}

// Distance is 0 between equal fingerprints, and else 1.
func (Equality) Distance(a, b singlepass.Fingerprint) float64 {
	if a.Hash == b.Hash {
		return 0
	}
	return 1
}

// Bound is 0: only equal ones are the same.
func (Equality) Bound() float64 { return 0 }

// Threshold is empty: no setting makes unequal fingerprints the same.
func (Equality) Threshold() string { return "" }

// Check is an error of a fingerprint with a sketch.
func (Equality) Check(f singlepass.Fingerprint) error { return f.CheckNoSketch() }

// NewIndex returns an empty index of equal centres; another bound than 0 is an error.
func (Equality) NewIndex(bound float64) (singlepass.Index, error) {
	if bound != 0 {
		return nil, fmt.Errorf("distance %v: allowed is 0, since articles are equal or not", bound)
	}
	return hamming.Centres(hamming.NewBTree(0)), nil
}
