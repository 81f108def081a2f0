package hamming

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// Whichever bits differ, a point has its turn no later than its distance says, and in the phase in which
// the bucket is read that it is in.
func TestTurnIsNoLaterThanTheDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 20))
	for range 200_000 {
		differing := flipped(r, 0, r.IntN(20))
		phase, distance := turn(differing), bits.OnesCount64(differing)
		if phase > distance {
			t.Fatalf("%016x, at distance %d, has its turn in phase %d", differing, distance, phase)
		}
		if got := bits.OnesCount16(quarter(differing, phase%quarters)); got != phase/quarters {
			t.Fatalf("%016x has its turn in phase %d, and differs in %d bits of that quarter", differing, phase, got)
		}
	}
}

// Whatever comes and goes, a point is in each table once, where its bits lead.
func TestQuartersKeepInOrder(t *testing.T) {
	for name, next := range skewed() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(21, 21))
			have := centresOf(r, next, 2000)
			q := NewQuarters(MaxWideDistance).(*quarterIndex)
			q.Fill(slices.Clone(have[:1000]))
			insert(q, have[1000:])
			for _, rest := range []int{2000, 500, 0} {
				for _, p := range have[rest:] {
					if !q.Remove(p) || q.Remove(p) {
						t.Fatalf("%v must be there to remove once", p)
					}
				}
				have = have[:rest]
				checkQuarters(t, q, have)
			}
		})
	}
}

func checkQuarters(t *testing.T, q *quarterIndex, have []Point) {
	t.Helper()
	bySeq := func(a, b Point) int { return int(a.Seq) - int(b.Seq) }
	want := slices.SortedFunc(slices.Values(have), bySeq)
	for i, table := range q.buckets {
		var got []Point
		for address, bucket := range table {
			for _, p := range bucket {
				if quarter(p.Fingerprint, i) != uint16(address) {
					t.Fatalf("%x is in bucket %x of table %d", p, address, i)
				}
			}
			if room := cap(bucket) - len(bucket); room > len(bucket) {
				t.Fatalf("a bucket of %d has room for %d more", len(bucket), room)
			}
			got = append(got, bucket...)
		}
		if slices.SortFunc(got, bySeq); !slices.Equal(got, want) {
			t.Fatalf("table %d has %d points, want %d", i, len(got), len(want))
		}
	}
}

// A query is compared with few points, at the largest distance too.
func TestQuartersCandidates(t *testing.T) {
	const size, queries = 1 << 16, 200
	for distance, most := range map[int]int{8: 200, MaxWideDistance: 450} {
		t.Run(fmt.Sprint(distance), func(t *testing.T) {
			r := rand.New(rand.NewPCG(22, 22))
			index := NewQuarters(distance)
			index.Fill(randomCentres(r, size))
			for range queries {
				index.Nearest(r.Uint64(), nil)
			}
			if got := int(index.Candidates()) / queries; got > most {
				t.Errorf("%d candidates a query, want at most %d", got, most)
			}
		})
	}
}
