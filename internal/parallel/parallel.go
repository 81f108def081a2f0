// Package parallel divides work among all cores.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// ChunkSize is how many items a core takes at a time: few, since one article may be a thousand
// times as long as another, and enough that taking them costs nothing.
const ChunkSize = 32

// Chunks calls do for the items from 0 to n in chunks of [ChunkSize], on all cores and in no order.
// It returns when all are done.
//
// After each chunk a goroutine lets others go first. Fingerprinting would otherwise hold up, for
// the ten milliseconds that the scheduler gives a goroutine, what goes on one by one and bounds the
// whole.
func Chunks(n int, do func(from, to int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+ChunkSize-1)/ChunkSize) {
		group.Go(func() {
			for from := int(next.Add(ChunkSize)) - ChunkSize; from < n; from = int(
				next.Add(ChunkSize)) - ChunkSize {
				do(from, min(from+ChunkSize, n))
				runtime.Gosched()
			}
		})
	}
	group.Wait()
}
