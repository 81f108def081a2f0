package hamming

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// Of the copies, as many as there are bits in which a centre differs would not do for it, and no
// more: so it has its turn in one of the first, and in one where the range of equal first blocks
// has it.
func TestTurn(t *testing.T) {
	check.OneGoroutine(t)
	r := rand.New(rand.NewPCG(30, 30))
	for distance := range MaxDistance + 1 {
		p := NewBTree(distance).(*permutedCopies)
		for range 100_000 {
			differing := flipped(r, 0, r.IntN(distance+1))
			turn := p.turn(differing)
			if n := bits.OnesCount64(differing); turn > n {
				t.Fatalf("%016x, at distance %d, has its turn in copy %d", differing, n, turn)
			}
			rotated := bits.RotateLeft64(differing, p.copies[turn].rotate)
			if first := rotated >> (64 - p.widths[turn]); first != 0 {
				t.Fatalf("%016x has its turn in copy %d, and its first block differs in %b", differing, turn,
					first)
			}
		}
	}
}

// crowdedBlocks returns centres that share their blocks, each in its own way.
func crowdedBlocks() map[string]func(r *rand.Rand, i int) uint64 {
	return map[string]func(r *rand.Rand, i int) uint64{
		"one quarter":  func(r *rand.Rand, _ int) uint64 { return r.Uint64() >> 16 },
		"two quarters": func(r *rand.Rand, _ int) uint64 { return r.Uint64() >> 32 },
		"two that are apart": func(r *rand.Rand,
			_ int,
		) uint64 {
			return r.Uint64() & 0xffff_0000_ffff
		},
		"three quarters": func(_ *rand.Rand, i int) uint64 { return uint64(i) & 0xffff },
		"few bits": func(r *rand.Rand,
			_ int,
		) uint64 {
			return r.Uint64() & r.Uint64() & r.Uint64() & r.Uint64()
		},
		"few bits in two": func(r *rand.Rand,
			_ int,
		) uint64 {
			return r.Uint64() & r.Uint64() & r.Uint64() >> 32
		},
		"each quarter the same": func(r *rand.Rand,
			_ int,
		) uint64 {
			return r.Uint64() >> 48 * 0x0001_0001_0001_0001
		},
		"counted":              func(_ *rand.Rand, i int) uint64 { return uint64(i) },
		"words at 4 of a code": func(r *rand.Rand, _ int) uint64 { return codeWord(r) },
		"one or another quarter": func(r *rand.Rand,
			i int,
		) uint64 {
			return r.Uint64() &^ (0xffff << (16 * (i % 4)))
		},
		"all but one, each other": func(r *rand.Rand,
			i int,
		) uint64 {
			return uint64(r.Uint32()&0xffff) << (16 * (i % 4))
		},
	}
}

// codeWord returns one of the extended Hamming code of 32 bits, twice as long with zeros: each
// differs from any other in four bits at least, and very many in just four.
func codeWord(r *rand.Rand) uint64 {
	word := r.Uint32() &^ (1 | 1<<1 | 1<<2 | 1<<4 | 1<<8 | 1<<16)
	check := 0
	for i := range 32 {
		if word>>i&1 == 1 {
			check ^= i
		}
	}
	for i := range 5 {
		word |= uint32(check>>i&1) << (1 << i)
	}
	return uint64(word | uint32(bits.OnesCount32(word)&1))
}

// Where very many share a block an index answers as the definition says, and what a query is
// compared with does not grow with their number.
func TestCrowdedBlocks(t *testing.T) {
	if check.Race {
		t.Skip("each case is alone, and TestFillEqualsInsert fills at once too")
	}
	for name, next := range crowdedBlocks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const size = 60_000
			r := rand.New(rand.NewPCG(31, 31))
			index, scan := NewBTree(3), NewLinear(3)
			all := make([]Point, size)
			for i := range all {
				all[i] = Point{next(r, i), uint64(i)}
			}
			index.BulkLoad(slices.Clone(all))
			scan.BulkLoad(all)
			found := 0
			for range 60 {
				query := flipped(r, next(r, r.IntN(size)), r.IntN(4))
				for _, live := range []func(Point) bool{nil, filter(r)} {
					got, distance, ok := index.Nearest(query, live)
					want, wantDistance, wantOK := scan.Nearest(query, live)
					if got != want || distance != wantDistance || ok != wantOK {
						t.Fatalf("nearest to %016x is %v at %d, %t; want %v at %d, %t", query, got, distance, ok,
							want, wantDistance, wantOK)
					}
					if ok {
						found++
					}
				}
			}
			if perQuery := index.Candidates() / 120; perQuery > 12*many {
				t.Errorf("%d candidates a query, want %d at most", perQuery, 12*many)
			}
			if found == 0 && name != "one quarter" && name != "one or another quarter" {
				t.Error("no query has found a centre: the test shows little")
			}
		})
	}
}

// BenchmarkCrowdedBlock asks for what no centre is near to, where all have a quarter in common.
func BenchmarkCrowdedBlock(b *testing.B) {
	for name, next := range crowdedBlocks() {
		b.Run(name, func(b *testing.B) {
			eachKind(b, func(b *testing.B, build func(distance int) Index) {
				b.Helper()
				r := rand.New(rand.NewPCG(32, 32))
				index, all := build(3), make([]Point, *large)
				for i := range all {
					all[i] = Point{next(r, i), uint64(i)}
				}
				index.BulkLoad(all)
				before, queries := index.Candidates(), 0
				for b.Loop() {
					index.Nearest(flipped(r, next(r, r.IntN(*large)), 4), nil)
					queries++
				}
				b.ReportMetric(float64(index.Candidates()-before)/float64(queries), "candidates/op")
			})
		})
	}
}
