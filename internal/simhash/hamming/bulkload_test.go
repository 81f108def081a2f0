package hamming

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// BulkLoad puts in what Insert would: in every copy the same centres, in order.
func TestFillEqualsInsert(t *testing.T) {
	for name, next := range sources() {
		for _, size := range []int{0, 1, degree - 1, degree, degree + 1, 2 * degree, 10 * degree, 5000} {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				r := rand.New(rand.NewPCG(4, uint64(size)))
				inserted, filled := NewBTree(3).(*permutedCopies), NewBTree(3).(*permutedCopies)
				var centres []Point
				for _, seq := range r.Perm(size) {
					c := Point{next(r, centres), uint64(seq)}
					centres = append(centres, c)
					inserted.Insert(c)
				}
				filled.BulkLoad(centres)
				for i := range filled.copies {
					if !slices.Equal(items(filled.copies[i]), items(inserted.copies[i])) {
						t.Errorf("copy %d differs", i)
					}
				}
			})
		}
	}
}

func items(copied permuted) []item {
	var all []item
	copied.tree.Ascend(func(it item) bool {
		all = append(all, it)
		return true
	})
	return all
}

// However the fingerprints are spread, a filled index takes as much memory as one that
// came about by insertions, and does not swell when it grows.
func TestMemoryAfterFill(t *testing.T) {
	if check.Race {
		t.Skip("it measures memory, and TestFillEqualsInsert fills at once too")
	}
	const size, most = 40_000, 110 // bytes a centre
	for name, next := range sources() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 5))
			var centres []Point
			for seq := range uint64(size * 3 / 2) {
				centres = append(centres, Point{next(r, centres), seq})
			}
			before := heapInUse()
			index := NewBTree(3)
			index.BulkLoad(centres[:size])
			for _, part := range slices.Collect(slices.Chunk(centres[size:], size/10)) {
				if got := perCentre(before, index); got > most {
					t.Errorf("%.1f bytes a centre at %d centres, want at most %d", got, index.Len(), most)
				}
				for _, c := range part {
					index.Insert(c)
				}
			}
			runtime.KeepAlive(centres)
		})
	}
}

// perCentre returns what an index takes on the heap, given what was there without it.
func perCentre(before uint64, index Index) float64 {
	taken := float64(heapInUse() - before)
	return taken / float64(index.Len())
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
