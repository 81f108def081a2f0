package tune

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/method/jaccard"
)

func setOf(hashes ...uint64) jaccard.Set {
	slices.Sort(hashes)
	var packed []byte
	for _, h := range slices.Compact(hashes) {
		packed = binary.LittleEndian.AppendUint64(packed, h)
	}
	return jaccard.Set(packed)
}

// oracle compares every set with every other.
func oracle(all []jaccard.Set) (found []pair) {
	for b := range all {
		for a := range b {
			if d := jaccard.Distance(all[a], all[b]); d <= 1-Near {
				found = append(found, pair{a, b, d})
			}
		}
	}
	return found
}

func wantNearPairs(t *testing.T, all []jaccard.Set) {
	t.Helper()
	got, err := nearPairs(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	want := oracle(all)
	for _, pairs := range [][]pair{got, want} {
		slices.SortFunc(pairs, func(p,
			q pair,
		) int {
			return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
		})
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d sets: pairs %v, want %v", len(all), got, want)
	}
}

// randomSets returns sets of up to 40 of so many hashes, half of them an earlier one with some
// hashes changed.
func randomSets(r *rand.Rand, n, universe int) []jaccard.Set {
	var all []jaccard.Set
	var last [][]uint64
	for range n {
		var hashes []uint64
		if len(last) > 0 && r.IntN(2) == 0 {
			hashes = slices.Clone(last[r.IntN(len(last))])
			for range r.IntN(len(hashes)) {
				hashes[r.IntN(len(hashes))] = uint64(r.IntN(universe))
			}
		} else {
			for range 1 + r.IntN(40) {
				hashes = append(hashes, uint64(r.IntN(universe)))
			}
		}
		last = append(last, hashes)
		all = append(all, setOf(slices.Clone(hashes)...))
	}
	return all
}

func TestNearPairs(t *testing.T) {
	wantNearPairs(t, nil)
	wantNearPairs(t, []jaccard.Set{setOf(1)})
	// At .5 exactly, and just below: 2 of 4, 2 of 5.
	wantNearPairs(t, []jaccard.Set{
		setOf(1, 2, 3), setOf(2, 3, 4), setOf(2, 3, 4, 5), setOf(1, 2, 3),
		setOf(9),
	})
	r := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		for _, universe := range []int{5, 60, 100_000} {
			wantNearPairs(t, randomSets(r, 60, universe))
		}
	}
}

func TestTooManyPairs(t *testing.T) {
	common := []uint64{1, 2, 3, 4, 5, 6}
	var all []jaccard.Set
	for i := range 1500 { // more than a million pairs
		all = append(all, setOf(append(slices.Clone(common), uint64(100+i))...))
	}
	if _, err := nearPairs(t.Context(), all); !errors.Is(err, errTooMany) {
		t.Errorf("error %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := nearPairs(cancelled, all); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Whatever the sets, all near pairs are found and no others. A byte is a hash; a zero ends a set.
func FuzzNearPairs(f *testing.F) {
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if len(bytes) > 1000 {
			return
		}
		all, hashes := []jaccard.Set(nil), []uint64(nil)
		for _, b := range bytes {
			if b != 0 {
				hashes = append(hashes, uint64(b))
			} else if len(hashes) > 0 {
				all, hashes = append(all, setOf(hashes...)), nil
			}
		}
		wantNearPairs(t, all)
	})
}
