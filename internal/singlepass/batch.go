package singlepass

import "slices"

// A batch is what a [Space] knows of assignments that are not committed, for readers, who see it as
// of the last Commit.
type batch struct {
	earlier map[uint64]int64 // by Seq: when those of Seen were last seen before it
	moved   map[string]int64 // by value of a divided space: to where its stream time moved
	lacks   bool             // the index lacks centres that readers need until it is committed
}

func newBatch() batch {
	return batch{earlier: make(map[uint64]int64), moved: make(map[string]int64)}
}

// held is a centre that expired and stays in the index for readers.
type held struct {
	Centre
	lastSeen int64 // Unix milliseconds
}

func (s *Space) inHand() *batch { return &s.batches[len(s.batches)-1] }

// Seal ends the batch in hand: what is assigned from then on belongs to the next one, which a
// Commit of this one does not make last. It reports whether a batch may be assigned before this one
// is committed. Readers wait while it is not, and would wait longer.
func (s *Space) Seal() (ahead bool) {
	ahead = !s.inHand().lacks
	s.batches = append(s.batches, newBatch())
	return ahead
}

// needed reports whether readers may still need a centre of a value that has expired and was last
// seen at a time: it lived at the last commit.
func (s *Space) needed(value *stream, seq uint64, at int64) bool {
	for i := range s.batches {
		if earlier, ok := s.batches[i].earlier[seq]; ok {
			at = earlier
			break
		}
	}
	return !expired(at, value.committed, s.window)
}

// Seen says that a centre counts as last seen at another time than before, although no article has
// come. It holds until the next Seen, or until the batch in hand is taken back.
func (s *Space) Seen(seq uint64, before, now int64) {
	if s.window < 0 {
		return
	}
	s.Lower(seq, now)
	b := s.inHand()
	if _, ok := b.earlier[seq]; !ok {
		b.earlier[seq] = before
	}
	s.seen[seq] = now
}

// lack makes readers wait until the batch in hand is committed, from when on they need none of the
// centres that have expired by now.
func (s *Space) lack() {
	s.inHand().lacks = true
	if s.lacking != nil {
		return
	}
	for _, c := range s.held {
		s.letGo(c.Centre)
	}
	clear(s.held)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacking = make(chan struct{})
}

// A Commit is what becomes of a Space when a batch is committed.
type Commit struct {
	State   State    // from which on articles are assigned
	Founded []Centre // elsewhere: they are not in the Space yet, and [Space.Lower] knows them
	Removed []Centre // that have expired
	// Reached are stream times that values of a divided space have reached elsewhere.
	Reached map[string]int64
	// Publish is called when readers see the commit from then on; it must be quick.
	Publish func()
}

// Commit makes the oldest batch last, which is that in hand where none is sealed, or what was
// assigned elsewhere. Each [Space.Find] sees all of it or nothing.
func (s *Space) Commit(c Commit) {
	// What is founded behind the state is passed over by readers. But records of other partitions may
	// come late.
	late := slices.ContainsFunc(c.Founded, func(f Centre) bool { return f.Seq < s.committed.Next })
	if !late {
		for _, f := range c.Founded {
			s.mu.Lock()
			s.insert(f)
			s.mu.Unlock()
		}
	}
	s.publish(c, late)
	for _, r := range c.Removed {
		s.Remove(r)
	}
	s.release()
	s.drop()
}

func (s *Space) publish(c Commit, insert bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if insert {
		for _, f := range c.Founded {
			s.insert(f)
		}
	}
	done := s.batches[0]
	if s.batches = s.batches[1:]; len(s.batches) == 0 {
		s.batches = []batch{newBatch()}
	}
	s.committed = c.State
	s.commits++
	s.settle(done.moved, c.Reached)
	c.Publish()
	if !slices.ContainsFunc(s.batches, func(b batch) bool { return b.lacks }) {
		s.complete()
	}
}

// complete lets readers go on: the index has all that lived at the last commit.
func (s *Space) complete() {
	if s.lacking != nil {
		close(s.lacking)
		s.lacking = nil
	}
}

// release lets go of the expired centres that readers no longer need.
func (s *Space) release() {
	for seq, c := range s.held {
		if !s.needed(s.streamOf(c.Space), seq, c.lastSeen) {
			s.letGo(c.Centre)
			delete(s.held, seq)
		}
	}
}
