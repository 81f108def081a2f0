package minhash

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

func TestDistinctCounter(t *testing.T) {
	check.OneGoroutine(t)
	r, c := rand.New(rand.NewPCG(1, 1)), newDistinctCounter()
	many := make([]uint64, 5*maxCounted)
	for i := range many {
		many[i] = r.Uint64()
	}
	poor := make([]uint64, 3000) // differ in their high bits alone
	for i := range poor {
		poor[i] = uint64(i) << 48
	}
	for _, test := range []struct {
		name     string
		shingles []uint64
		want     int
		within   float64 // a share
	}{
		{"one", []uint64{7}, 1, 0},
		{"shingle 0", []uint64{0, 0, 7}, 2, 0},
		{"each twice", append(slices.Clone(many[:1000]), many[:1000]...), 1000, 0},
		{"poor hashes", poor, 3000, 0},
		{"one of a long text", slices.Repeat([]uint64{3}, 3*maxCounted), 1, 0},
		{"as many as are counted", many[:maxCounted], maxCounted, 0},
		{"more", many, len(many), .02},
		{"few again", many[:10], 10, 0},
	} {
		got := c.count(test.shingles)
		if off := math.Abs(float64(got-test.want)) / float64(test.want); off > test.within {
			t.Errorf("%s: %d distinct shingles, want %d", test.name, got, test.want)
		}
		// Order makes no difference, nor does the table's hash function.
		again := slices.Clone(test.shingles)
		r.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		if other := newDistinctCounter().count(again); other != got {
			t.Errorf("%s: %d distinct shingles, and in another order %d", test.name, got, other)
		}
	}
}
