package story

import (
	"container/heap"
	"math"
)

// undo is what a slot held before a change.
type undo struct {
	slot   uint32
	before entry
	into   string
	after  string // the address that it held after it
}

// Commit makes all decisions last. The Changes so far are forgotten.
func (s *Space) Commit() {
	clear(s.journal) // what they hold may go
	s.journal = s.journal[:0]
	s.before = s.streamTime
}

// Rollback undoes all decisions since the last Commit, the last one first. It takes as long as
// they did, and where stories expire, some 0.1 µs for each of them.
func (s *Space) Rollback() {
	for i := len(s.journal) - 1; i >= 0; i-- {
		u := &s.journal[i]
		switch {
		case u.before.address == "":
			s.free = append(s.free, u.slot)
		case s.entries[u.slot].address == "":
			s.free = s.free[:len(s.free)-1] // it is this slot: they come back in reverse order
		}
		s.apply(u.slot, u.before, u.into)
	}
	s.streamTime = s.before
	s.Commit()
	// Of what was undone, some stories are no longer in the queue, some too late, some gone.
	s.due = s.due[:0]
	for slot := range s.entries {
		if e := &s.entries[slot]; e.address != "" && s.window >= 0 {
			s.due = append(s.due, dueStory{e.last, uint32(slot)})
		}
	}
	heap.Init(&s.due)
}

// Changes are what was decided since the last Commit.
type Changes struct {
	Touched []Story  // that are other than they were, or new, in the order in which they first changed
	Expired []string // addresses of those that are gone, likewise; some may not have been there before
}

// Changes returns what is to be written down with a transaction.
func (s *Space) Changes() (c Changes) {
	seen := make(map[string]bool)
	add := func(address string) {
		if address == "" || seen[address] {
			return
		}
		seen[address] = true
		if story, ok := s.Of(address); ok {
			c.Touched = append(c.Touched, story)
		} else {
			c.Expired = append(c.Expired, address)
		}
	}
	for i := range s.journal {
		add(s.journal[i].before.address)
		add(s.journal[i].after)
	}
	return c
}

// set changes what a slot holds, such that it can be undone.
func (s *Space) set(slot uint32, e entry, into string) {
	s.journal = append(s.journal, undo{slot, s.entries[slot], s.into[slot], e.address})
	s.apply(slot, e, into)
}

// apply changes what a slot holds, and all that follows from it.
func (s *Space) apply(slot uint32, e entry, into string) {
	old := s.entries[slot]
	s.live += counts(e, into) - counts(old, s.into[slot])
	s.entries[slot] = e
	if old.address != e.address {
		delete(s.slots, old.address)
		if e.address != "" {
			s.slots[e.address] = slot
		}
	}
	if delete(s.into, slot); into != "" {
		s.into[slot] = into
	}
	if old.vector != e.vector {
		s.index.change(slot, old.vector, e.vector, s.entries)
	}
}

// counts returns 1 for a story that is part of no other.
func counts(e entry, into string) uint64 {
	if e.address == "" || into != "" {
		return 0
	}
	return 1
}

// advance moves stream time on, and removes the stories that have expired by then.
func (s *Space) advance(at int64) {
	s.streamTime = max(s.streamTime, at)
	if s.window < 0 || s.streamTime < math.MinInt64+s.window {
		return
	}
	horizon := s.streamTime - s.window
	for len(s.due) > 0 && s.due[0].last < horizon {
		first := &s.due[0]
		if last := s.entries[first.slot].last; last >= horizon {
			first.last = last
			heap.Fix(&s.due, 0)
			continue
		}
		s.set(first.slot, entry{}, "")
		s.free = append(s.free, first.slot)
		heap.Pop(&s.due)
	}
}

// dueStory is a story that was last seen at a time, or later.
type dueStory struct {
	last int64
	slot uint32
}

// A queue has all stories once, that of the smallest time first. Without a window it is empty.
type queue []dueStory

// add enters a story, unless the window says that none expires.
func (q *queue) add(slot uint32, last, window int64) {
	if window >= 0 {
		heap.Push(q, dueStory{last, slot})
	}
}

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, k int) bool { return q[i].last < q[k].last }
func (q queue) Swap(i, k int)      { q[i], q[k] = q[k], q[i] }

// Push implements [heap.Interface].
func (q *queue) Push(x any) { *q = append(*q, x.(dueStory)) }

// Pop implements [heap.Interface].
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
