package story

import "slices"

// undo is what a slot held before a change.
type undo struct {
	slot   uint32
	before entry
	tie    tie
	after  string // the address that it held after it
}

// A batch is what was decided between two calls of [Space.Seal].
type batch struct {
	journal []undo
	before  int64 // stream time
}

// Changes are what was decided in a batch.
type Changes struct {
	Touched []Story  // that are other than they were, or new, in the order in which they first changed
	Expired []string // addresses of those that are gone, likewise; some may not have been there before
}

// Seal ends the batch in hand, and returns what is to be written down with its transaction. What is
// decided from then on belongs to the next batch. A batch may be empty.
func (s *Space) Seal() (c Changes) {
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
	journal := s.batches[len(s.batches)-1].journal
	for i := range journal {
		add(journal[i].before.address)
		add(journal[i].after)
	}
	s.batches = append(s.batches, batch{before: s.streamTime})
	return c
}

// Commit makes the oldest sealed batch last. If there is none, it does nothing.
func (s *Space) Commit() {
	if len(s.batches) > 1 {
		s.batches = slices.Delete(s.batches, 0, 1)
	}
}

// Rollback undoes the newest sealed batch, and what was decided since: that is built on it. Where
// no batch is sealed, it undoes the one in hand. It takes as long as they did.
func (s *Space) Rollback() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undo()
	if n := len(s.batches); n > 1 {
		s.batches = s.batches[:n-1]
		s.undo()
	}
}

// undo empties the batch in hand, the last decision first.
func (s *Space) undo() {
	b := &s.batches[len(s.batches)-1]
	for i := len(b.journal) - 1; i >= 0; i-- {
		u := &b.journal[i]
		switch {
		case u.before.address == "":
			s.free = append(s.free, u.slot)
		case s.entries[u.slot].address == "":
			s.free = s.free[:len(s.free)-1] // it is this slot: they come back in reverse order
		}
		s.apply(u.slot, u.before, u.tie)
	}
	s.streamTime = b.before
	*b = batch{before: b.before}
}

// set changes what a slot holds, such that it can be undone.
func (s *Space) set(slot uint32, e entry, t tie) {
	b := &s.batches[len(s.batches)-1]
	b.journal = append(b.journal, undo{slot, s.entries[slot], s.ties[slot], e.address})
	s.apply(slot, e, t)
}

// apply changes what a slot holds, and all that follows from it.
func (s *Space) apply(slot uint32, e entry, t tie) {
	old := s.entries[slot]
	s.live += counts(e, t) - counts(old, s.ties[slot])
	moved := old.address != e.address
	if moved && old.address != "" {
		s.slots.remove(old.address, s.entries)
	}
	s.entries[slot] = e
	if moved && e.address != "" {
		s.slots.add(slot, s.entries)
	}
	s.due.change(slot, old, e)
	if delete(s.ties, slot); t != (tie{}) {
		s.ties[slot] = t
	}
	if old.vector != e.vector {
		s.index.change(slot, old.vector, e.vector, s.entries)
	}
}

// counts returns 1 for a story that is part of no other.
func counts(e entry, t tie) uint64 {
	if e.address == "" || t.into != "" {
		return 0
	}
	return 1
}
