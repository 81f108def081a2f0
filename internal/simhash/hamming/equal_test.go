package hamming

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// A source makes fingerprints; have are those of the live centres.
type source func(r *rand.Rand, have []Point) uint64

func sources() map[string]source {
	uniform := func(r *rand.Rand, _ []Point) uint64 { return r.Uint64() }
	return map[string]source{
		"uniform": uniform,
		"clustered": func(r *rand.Rand, have []Point) uint64 {
			if len(have) == 0 || r.IntN(4) == 0 {
				return r.Uint64()
			}
			return flipped(r, have[r.IntN(len(have))].Fingerprint, r.IntN(9))
		},
		"biased": func(r *rand.Rand, _ []Point) uint64 {
			// Every bit is set 31 times out of 32.
			return r.Uint64() | r.Uint64() | r.Uint64() | r.Uint64() | r.Uint64()
		},
		"equal prefixes": func(r *rand.Rand, _ []Point) uint64 {
			return 0xabcdef0123<<24 | r.Uint64()&0xf00f0f
		},
		"around zero and all ones: ties": func(r *rand.Rand, _ []Point) uint64 {
			return flipped(r, -uint64(r.IntN(2)), r.IntN(8))
		},
		"duplicates": func(r *rand.Rand, have []Point) uint64 {
			if len(have) == 0 || r.IntN(8) == 0 {
				return uniform(r, have)
			}
			return have[r.IntN(len(have))].Fingerprint
		},
	}
}

// flipped returns the fingerprint with up to n random bits flipped.
func flipped(r *rand.Rand, fingerprint uint64, n int) uint64 {
	for range n {
		fingerprint ^= 1 << r.IntN(64)
	}
	return fingerprint
}

// Whatever centres come and go, and whichever are live, the indexes answer every query
// as the definition says, also at distances for which they are not made.
func TestIndexesEqualDefinition(t *testing.T) {
	for name, next := range sources() {
		distances := []int{0, 1, 2, 3, 4, 5, MaxDistance, 8, wide}
		if check.Race { // only filling an index has goroutines
			distances = []int{3}
		}
		for _, distance := range distances {
			t.Run(fmt.Sprintf("%s/%d", name, distance), func(t *testing.T) {
				compareIndexes(t, name, distance, next)
			})
		}
	}
}

func compareIndexes(t *testing.T, name string, distance int, next source) {
	t.Helper()
	const operations = 1000
	r := rand.New(rand.NewPCG(2, uint64(distance)))
	indexes := []Index{NewLinear(distance), NewBTree(distance), NewMIH(distance), soonAuto(distance)}
	seqs := r.Perm(operations) // centres need not come in the order of their founding
	var have []Point
	for i := range min(distance, MaxDistance) * 100 {
		have = append(have, Point{next(r, have), uint64(seqs[i])})
	}
	for _, index := range indexes {
		index.BulkLoad(slices.Clone(have))
	}
	var hits int
	for i := len(have); i < operations; i++ {
		if r.IntN(4) == 0 && len(have) > 0 {
			at := r.IntN(len(have))
			c := have[at]
			have[at] = have[len(have)-1]
			have = have[:len(have)-1]
			for _, index := range indexes {
				if !index.Remove(c) {
					t.Fatalf("operation %d: %v is not there to remove from the %T", i, c, index)
				}
			}
		} else {
			c := Point{next(r, have), uint64(seqs[i])}
			have = append(have, c)
			for _, index := range indexes {
				index.Insert(c)
			}
		}
		if compareNearest(t, indexes, have, next(r, have), distance, filter(r)) {
			hits++
		}
		for _, index := range indexes {
			if index.Len() != len(have) {
				t.Fatalf("operation %d: the %T has length %d, want %d", i, index, index.Len(), len(have))
			}
		}
	}
	if name != "uniform" && hits < operations/100 {
		t.Errorf("only %d of %d queries found a centre: the fingerprints test little", hits, operations)
	}
}

// filter returns one by which all centres are live, most, few, or none.
func filter(r *rand.Rand) func(Point) bool {
	live, salt := r.Uint64N(5), r.Uint64()|1
	if live == 4 {
		return nil
	}
	return func(c Point) bool { return c.Seq*salt>>32%3 < live }
}

// compareNearest reports whether there is a live centre within the distance.
func compareNearest(
	t *testing.T, indexes []Index, have []Point, query uint64, distance int, live func(Point) bool,
) bool {
	t.Helper()
	rank := func(a, b Point) int {
		return cmp.Or(
			cmp.Compare(bits.OnesCount64(a.Fingerprint^query), bits.OnesCount64(b.Fingerprint^query)),
			cmp.Compare(a.Seq, b.Seq),
		)
	}
	var within []Point
	for _, c := range have {
		if bits.OnesCount64(c.Fingerprint^query) <= distance && (live == nil || live(c)) {
			within = append(within, c)
		}
	}
	asked := make(map[Point]bool)
	for _, index := range indexes {
		clear(asked)
		best := Point{query ^ (1<<(distance+1) - 1), 0} // would be just out of reach
		ask := func(c Point) bool {
			if rank(c, best) >= 0 || asked[c] {
				t.Fatalf("Nearest(%016x) of the %T asks for %x, after %x, with %x as the best", query, index, c,
					slices.Collect(maps.Keys(asked)), best)
			}
			asked[c] = true
			if live(c) {
				best = c
			}
			return best == c
		}
		if live == nil {
			ask = nil
		}
		got, at, ok := index.Nearest(query, ask)
		switch {
		case len(within) == 0 && ok:
			t.Fatalf("Nearest(%016x) of the %T = %x at %d, want none", query, index, got, at)
		case len(within) > 0:
			want := slices.MinFunc(within, rank)
			if !ok || got != want || at != bits.OnesCount64(want.Fingerprint^query) {
				t.Fatalf("Nearest(%016x) of the %T = %x at %d, %t; want %x", query, index, got, at, ok, want)
			}
		}
	}
	return len(within) > 0
}

// FuzzIndexes reads bytes as a distance and then operations, each on some dozen centres,
// that make deep and uneven indexes, and compares these with the definition.
func FuzzIndexes(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		distance := int(data[0]) % (wide + 1)
		r := rand.New(rand.NewPCG(uint64(data[0]), 12))
		indexes := []Index{NewLinear(distance), NewBTree(distance), NewMIH(distance), soonAuto(distance)}
		var have []Point
		var seq uint64
		for i, op := range data[1:min(len(data), 40)] {
			batch := fuzzBatch(r, op, &seq)
			switch {
			case op>>6 == 3:
				r.Shuffle(len(have), func(i, j int) { have[i], have[j] = have[j], have[i] })
				gone := have[len(have)-min(len(have), 3*len(batch)):]
				have = have[:len(have)-len(gone)]
				for _, index := range indexes {
					for _, c := range gone {
						if !index.Remove(c) {
							t.Fatalf("%v is not there to remove from the %T", c, index)
						}
					}
				}
			case i == 0:
				have = batch
				for _, index := range indexes {
					index.BulkLoad(slices.Clone(batch))
				}
			default:
				have = append(have, batch...)
				for _, index := range indexes {
					insert(index, batch)
				}
			}
			for _, c := range batch[:4] {
				compareNearest(t, indexes, have, flipped(r, c.Fingerprint, r.IntN(distance+4)), distance,
					filter(r))
			}
			for _, index := range indexes {
				if index.Len() != len(have) {
					t.Fatalf("the %T has length %d, want %d", index, index.Len(), len(have))
				}
			}
		}
		checkTables(t, indexes[2].(*multiIndex), have)
	})
}

// fuzzBatch makes centres that agree in some of their quarters, as the low bits of op say,
// and whose Seqs are one after the other or far apart.
func fuzzBatch(r *rand.Rand, op byte, seq *uint64) []Point {
	centres := make([]Point, 50)
	for i := range centres {
		fingerprint := r.Uint64()
		for quarter := range 4 {
			if op>>quarter&1 == 1 {
				fingerprint &^= 0xffff << (16 * quarter)
			}
		}
		*seq++
		if op>>4&1 == 1 {
			*seq += 1 << 40
		}
		centres[i] = Point{fingerprint, *seq}
	}
	return centres
}
