package singlepass

import (
	"cmp"
	"container/heap"
	"math"
	"time"
)

// An expiry knows when the live centres were last seen and which of them are
// overdue. Times are Unix milliseconds.
type expiry struct {
	window   uint64           // milliseconds
	now      int64            // stream time: the highest event time seen
	lastSeen map[uint64]int64 // of every live centre, by Seq
	// queue holds every live centre once. Its times may lag behind lastSeen: they
	// are brought up to date only when they come first, so that a centre which many
	// articles join costs a map write for each and not a move in the queue.
	queue queue
}

// newExpiry drops what the window has below a millisecond, which makes no
// difference to times in whole milliseconds.
func newExpiry(window time.Duration) *expiry {
	return &expiry{
		window:   uint64(window.Milliseconds()),
		now:      math.MinInt64,
		lastSeen: make(map[uint64]int64),
	}
}

// seen notes that a member of the centre's cluster has this event time.
func (e *expiry) seen(c Centre, at int64) {
	e.now = max(e.now, at)
	last, live := e.lastSeen[c.Seq]
	if !live {
		heap.Push(&e.queue, queued{at, c})
		last = at
	}
	e.lastSeen[c.Seq] = max(last, at)
}

// advance moves stream time to at, unless it is further already, and takes out the
// centres that are overdue, the one last seen longest ago first, among equals the
// oldest.
func (e *expiry) advance(at int64) (expired []Centre) {
	e.now = max(e.now, at)
	// No time in the queue is later than the true one. So if the first is not
	// overdue, none is; and if the first is true, it is the least of all.
	for len(e.queue) > 0 && e.overdue(e.queue[0].lastSeen) {
		first := &e.queue[0]
		if last := e.lastSeen[first.centre.Seq]; last > first.lastSeen {
			first.lastSeen = last
			heap.Fix(&e.queue, 0)
			continue
		}
		expired = append(expired, first.centre)
		delete(e.lastSeen, first.centre.Seq)
		heap.Pop(&e.queue)
	}
	return expired
}

// overdue reports whether stream time is past lastSeen + window. lastSeen is never
// ahead of stream time, so the unsigned difference is exact for any two times,
// where the sum could overflow.
func (e *expiry) overdue(lastSeen int64) bool {
	return uint64(e.now)-uint64(lastSeen) > e.window
}

type queued struct {
	lastSeen int64
	centre   Centre
}

// A queue is a [heap.Interface] ordered by last seen, then Seq.
type queue []queued

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	return cmp.Or(
		cmp.Compare(q[i].lastSeen, q[j].lastSeen),
		cmp.Compare(q[i].centre.Seq, q[j].centre.Seq),
	) < 0
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *queue) Push(x any) { *q = append(*q, x.(queued)) }

func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
