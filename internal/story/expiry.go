package story

import (
	"container/heap"
	"math"
)

// expired reports whether the story of a slot has expired at a stream time.
func (s *Space) expired(slot uint32, now int64) bool {
	return s.window >= 0 && now >= math.MinInt64+s.window && s.entries[slot].last < now-s.window
}

// advance moves stream time on, and removes some of the stories that have expired by then: those
// that were last seen first, among equals the older ones.
func (s *Space) advance(at int64) {
	s.streamTime = max(s.streamTime, at)
	for range maxExpired {
		if s.due.Len() == 0 || !s.expired(s.due.slots[0], s.streamTime) {
			return
		}
		slot := s.due.slots[0]
		s.set(slot, entry{}, tie{})
		s.free = append(s.free, slot)
	}
}

// A queue has the slots of all stories of a Space, that of the one that is to expire first at the
// front: a binary heap, which knows where in it each slot is. Without a window it is empty.
type queue struct {
	space  *Space
	slots  []uint32
	places []uint32 // by slot
}

// change enters that a slot holds another entry than before.
func (q *queue) change(slot uint32, before, after entry) {
	switch {
	case q.space.window < 0:
	case before.address == "" && after.address != "":
		heap.Push(q, slot)
	case before.address != "" && after.address == "":
		heap.Remove(q, int(q.places[slot]))
	case after.address != "" && (before.last != after.last || before.seq != after.seq):
		heap.Fix(q, int(q.places[slot]))
	}
}

// Len implements [heap.Interface], as do those below.
func (q *queue) Len() int { return len(q.slots) }

// Less compares what the slots in two places hold.
func (q *queue) Less(i, k int) bool {
	a, b := &q.space.entries[q.slots[i]], &q.space.entries[q.slots[k]]
	return a.last < b.last || a.last == b.last && a.seq < b.seq
}

// Swap changes two places.
func (q *queue) Swap(i, k int) {
	q.slots[i], q.slots[k] = q.slots[k], q.slots[i]
	q.places[q.slots[i]], q.places[q.slots[k]] = uint32(i), uint32(k)
}

// Push appends a slot.
func (q *queue) Push(x any) {
	slot := x.(uint32) //nolint:forcetypeassert // change calls it alone
	for int(slot) >= len(q.places) {
		q.places = append(q.places, 0)
	}
	q.places[slot] = uint32(len(q.slots))
	q.slots = append(q.slots, slot)
}

// Pop takes the last slot off.
func (q *queue) Pop() any {
	last := q.slots[len(q.slots)-1]
	q.slots = q.slots[:len(q.slots)-1]
	return last
}
