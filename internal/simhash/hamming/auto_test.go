package hamming

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// An index auto answers as the definition says before, while and after it moves its points; an
// insertion moves few of them, and in the end it is a mih alone.
func TestAuto(t *testing.T) {
	check.OneGoroutine(t)
	const most = 500
	for name, next := range sources() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(50, 50))
			index, scan := newAuto(3, most), NewLinear(3)
			a := index.(*auto)
			var have []Point
			for seq := range uint64(2 * most) {
				p := Point{next(r, have), seq}
				have = append(have, p)
				before := a.few.Len()
				index.Insert(p)
				scan.Insert(p)
				if moved := before - a.few.Len(); moved > autoMoves {
					t.Fatalf("an insertion moved %d points, want %d at most", moved, autoMoves)
				}
				if at := r.IntN(len(have)); r.IntN(10) == 0 {
					if !index.Remove(have[at]) || index.Remove(have[at]) || !scan.Remove(have[at]) {
						t.Fatalf("%v must be there to remove once", have[at])
					}
					have = slices.Delete(have, at, at+1)
				}
				if index.Len() != len(have) {
					t.Fatalf("%d points, want %d", index.Len(), len(have))
				}
				query := flipped(r, have[r.IntN(len(have))].Fingerprint, r.IntN(5))
				for _, live := range []func(Point) bool{nil, filter(r)} {
					got, distance, ok := index.Nearest(query, live)
					want, wantDistance, wantOK := scan.Nearest(query, live)
					if got != want || distance != wantDistance || ok != wantOK {
						t.Fatalf("nearest to %016x is %v at %d, %t; want %v at %d, %t", query, got, distance, ok,
							want, wantDistance, wantOK)
					}
				}
			}
			if a.many == nil || a.few.Len() > 0 {
				t.Errorf("%d points are left in B-trees", a.few.Len())
			}
		})
	}
}

// After a restart the number of points decides.
func TestAutoFill(t *testing.T) {
	for size, wantMany := range map[int]bool{0: false, 500: false, 501: true} {
		index := newAuto(3, 500)
		points := centresOf(rand.New(rand.NewPCG(51, 51)),
			func(r *rand.Rand, _ []Point) uint64 { return r.Uint64() }, size)
		index.BulkLoad(slices.Clone(points))
		if many := index.(*auto).many != nil; many != wantMany || index.Len() != size {
			t.Errorf("filled with %d: a mih %t, want %t; %d points", size, many, wantMany, index.Len())
		}
		for _, p := range points {
			if got, _, ok := index.Nearest(p.Fingerprint, nil); !ok || got != p {
				t.Fatalf("nearest is %v, %t; want %v", got, ok, p)
			}
		}
	}
}
