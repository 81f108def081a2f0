package singlepass

import "math"

// A stream is the stream time of a value of a divided space, or of the whole of another one, in
// Unix milliseconds; math.MinInt64 before the first article.
//
// That of a value follows from its clusters, as that of a space does: the cluster that was last
// seen at stream time cannot expire before another article of the value moves it on.
type stream struct {
	now       int64 // for the one that assigns
	committed int64 // as of the last [Space.Commit]; changed under the lock
}

// streamOf returns that of a value, and makes it where there is none.
func (s *Space) streamOf(value string) *stream {
	if !s.divided {
		value = ""
	}
	if t := s.streams[value]; t != nil {
		return t
	}
	t := &stream{math.MinInt64, math.MinInt64}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[value] = t
	return t
}

// advance makes the stream of a value the current one, and moves it on to an event time.
func (s *Space) advance(value string, at int64) {
	s.current = s.streamOf(value)
	s.state.StreamTime = max(s.state.StreamTime, at)
	if at > s.current.now {
		if s.current.now = at; s.divided {
			s.inHand().moved[value] = at
		}
	}
}

// StreamTime returns the highest event time of a value so far, in Unix milliseconds, or
// math.MinInt64 before the first. A space that is not divided has one for all.
func (s *Space) StreamTime(value string) int64 {
	if !s.divided {
		return s.state.StreamTime
	}
	if t := s.streams[value]; t != nil {
		return t.now
	}
	return math.MinInt64
}

// CommittedStreamTime does what StreamTime does, as of the last [Space.Commit]. It may be called
// by any goroutine.
func (s *Space) CommittedStreamTime(value string) int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.committedStream(value)
}

// committedStream does that under the lock.
func (s *Space) committedStream(value string) int64 {
	if !s.divided {
		return s.committed.StreamTime
	}
	if t := s.streams[value]; t != nil {
		return t.committed
	}
	return math.MinInt64
}

// Reach says up to when the values of a divided space have been seen elsewhere, as [Commit] does
// beside what else there is to commit: after [Space.BulkLoad].
func (s *Space) Reach(reached map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(nil, reached)
}

// settle makes the stream times of a batch last, and those that were reached elsewhere. It is
// called under the lock.
func (s *Space) settle(moved, reached map[string]int64) {
	if !s.divided {
		s.current.now, s.current.committed = s.state.StreamTime, s.committed.StreamTime
		return
	}
	for value, at := range moved {
		s.streams[value].committed = at
	}
	for value, at := range reached {
		t := s.streams[value]
		if t == nil {
			t = &stream{math.MinInt64, math.MinInt64}
			s.streams[value] = t
		}
		t.now, t.committed = max(t.now, at), max(t.committed, at)
	}
}

// takeBack takes the stream times back to those of the last [Space.Commit].
func (s *Space) takeBack() {
	if !s.divided {
		s.current.now = s.state.StreamTime
		return
	}
	for i := range s.batches {
		for value := range s.batches[i].moved {
			t := s.streams[value]
			if t == nil { // moved by two batches
				continue
			}
			if t.now = t.committed; t.committed == math.MinInt64 {
				s.mu.Lock()
				delete(s.streams, value)
				s.mu.Unlock()
			}
		}
	}
}
