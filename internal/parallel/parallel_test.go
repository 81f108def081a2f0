package parallel_test

import (
	"sync/atomic"
	"testing"

	"github.com/clusterd/clusterd/internal/parallel"
)

// Each item is done once, whatever their number.
func TestChunks(t *testing.T) {
	for _, n := range []int{0, 1, parallel.ChunkSize, parallel.ChunkSize + 1, 1000} {
		done := make([]atomic.Int32, n)
		parallel.Chunks(n, func(from, to int) {
			if to-from < 1 || to-from > parallel.ChunkSize {
				t.Errorf("%d items: a chunk from %d to %d", n, from, to)
			}
			for i := from; i < to; i++ {
				done[i].Add(1)
			}
		})
		for i := range done {
			if times := done[i].Load(); times != 1 {
				t.Errorf("item %d of %d was done %d times", i, n, times)
			}
		}
	}
}
