package simhashverify

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// Whichever bits differ, a point has its turn no later than its distance says, and in the phase in
// which the bucket is read that it is in.
func TestTurnIsNoLaterThanTheDistance(t *testing.T) {
	check.OneGoroutine(t)
	r := rand.New(rand.NewPCG(20, 20))
	for range 200_000 {
		differing := flipped(r, r.IntN(20))
		phase, distance := turn(differing), bits.OnesCount64(differing)
		if phase > distance {
			t.Fatalf("%016x, at distance %d, has its turn in phase %d", differing, distance, phase)
		}
		if got := bits.OnesCount16(quarter(differing, phase%quarters)); got != phase/quarters {
			t.Fatalf("%016x has its turn in phase %d, and differs in %d bits of that quarter", differing,
				phase, got)
		}
	}
}

// Whatever comes and goes, a centre is in each table once, where its bits lead.
func TestQuartersKeepInOrder(t *testing.T) {
	check.OneGoroutine(t)
	for name, hash := range map[string]func(r *rand.Rand) uint64{
		"random":      func(r *rand.Rand) uint64 { return r.Uint64() },
		"few values":  func(r *rand.Rand) uint64 { return r.Uint64() & 0x0001_0003_0101_0000 },
		"one":         func(*rand.Rand) uint64 { return 7 },
		"one quarter": func(r *rand.Rand) uint64 { return r.Uint64() << 16 },
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(21, 21))
			have := make([]singlepass.Centre, 2000)
			for i := range have {
				have[i] = singlepass.Centre{Fingerprint: stream(r, nil), Seq: uint64(i)}
				have[i].Hash = hash(r)
			}
			x := newSketcher(t, 0).NewIndex(MaxDistance).(*verified)
			x.BulkLoad(1000, slices.Values(have[:1000]))
			for _, c := range have[1000:] {
				x.Insert(c)
			}
			for _, rest := range []int{2000, 500, 100, 0} {
				for _, c := range have[rest:] {
					if !x.Remove(c) || x.Remove(c) {
						t.Fatalf("%v must be there to remove once", c)
					}
				}
				have = have[:rest]
				checkQuarters(t, x, have)
			}
		})
	}
}

func checkQuarters(t *testing.T, x *verified, have []singlepass.Centre) {
	t.Helper()
	for i, table := range x.buckets {
		got := make(map[uint64]singlepass.Centre)
		for address := range table {
			b := &table[address]
			count := 0
			add := func(slot uint32) {
				c := x.at(slot).centre()
				if quarter(c.Hash, i) != uint16(address) {
					t.Fatalf("%x is in bucket %x of table %d", c, address, i)
				}
				got[c.Seq] = c
				count++
			}
			for _, p := range b.points {
				add(p.slot)
			}
			if b.capped != nil {
				b.capped.All(add)
			}
			if room := cap(b.points) - len(b.points); room > len(b.points) || b.capped != nil &&
				(len(b.points) > 0 || count <= bucketCap/2) || len(b.points) > bucketCap {
				t.Fatalf("a bucket of %d points, capped %t, with room for %d more", count, b.capped != nil,
					room)
			}
		}
		if len(got) != len(have) {
			t.Fatalf("table %d has %d centres, want %d", i, len(got), len(have))
		}
		for _, c := range have {
			if got[c.Seq] != c {
				t.Fatalf("table %d has %v, want %v", i, got[c.Seq], c)
			}
		}
	}
}

// A query is compared with few centres, at the largest distance too.
func TestCandidates(t *testing.T) {
	check.OneGoroutine(t)
	const size, queries = 1 << 16, 200
	for distance, most := range map[int]int{8: 200, MaxDistance: 450} {
		t.Run(fmt.Sprint(distance), func(t *testing.T) {
			r := rand.New(rand.NewPCG(22, 22))
			index := newSketcher(t, 0).NewIndex(distance)
			for i := range uint64(size) {
				index.Insert(singlepass.Centre{Fingerprint: stream(r, nil), Seq: i})
			}
			for range queries {
				index.Nearest(stream(r, nil), nil)
			}
			if got := int(index.Candidates()) / queries; got > most {
				t.Errorf("%d candidates a query, want at most %d", got, most)
			}
		})
	}
}

// flipped returns a word with so many bits set.
func flipped(r *rand.Rand, n int) (set uint64) {
	for _, bit := range r.Perm(64)[:n] {
		set |= 1 << bit
	}
	return set
}
