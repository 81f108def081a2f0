package story

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What is kept is what a sort by weight would keep, in the order of before.
func TestHeaviest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		terms := make([]weighted, r.IntN(300))
		span := uint64(1) << r.IntN(64)
		for i, term := range r.Perm(len(terms)) {
			terms[i] = weighted{uint32(term), r.Uint64N(span)}
		}
		most := r.IntN(len(terms) + 2)
		sorted := slices.SortedFunc(slices.Values(terms), lighter)
		sorted = sorted[:min(most, len(sorted))]
		want := slices.DeleteFunc(slices.Clone(terms), func(w weighted) bool {
			return !slices.Contains(sorted, w)
		})
		if got := heaviest(slices.Clone(terms), most); !slices.Equal(got, want) {
			t.Fatalf("of %v the heaviest %d are %v, want %v", terms, most, got, want)
		}
	}
}
