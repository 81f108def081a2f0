package pipeline

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// piece is how many records a core takes at a time: few, since one article may be a thousand times as
// long as another, and enough that taking them costs nothing.
const piece = 32

// inPieces has do work on the items from 0 to n, cut into runs, on all cores and in no order.
//
// After each run it lets others go first: fingerprinting would else hold up, for the ten milliseconds that
// the scheduler gives a goroutine, what goes on one by one and bounds the whole.
func inPieces(n int, do func(from, to int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+piece-1)/piece) {
		group.Go(func() {
			for from := int(next.Add(piece)) - piece; from < n; from = int(next.Add(piece)) - piece {
				do(from, min(from+piece, n))
				runtime.Gosched()
			}
		})
	}
	group.Wait()
}
