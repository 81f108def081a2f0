package singlepass

import (
	"iter"
	"math"
	"strings"
	"time"
)

// A Space assigns the articles that are compared with one another to clusters. It
// is not safe for concurrent use.
//
// A centre is live while stream time, the highest event time so far, is past the
// highest event time of its members by no more than the window. One that has expired
// never is again: no article joins it, and stream time does not go back. So it may stay
// in the index for any time, and go at any moment, without a difference to what is
// assigned.
//
// The whole state of a Space follows from its live clusters and that of the last
// article, each with its centre, the highest event time of its members and the position
// of its last member:
//
//   - The index needs the live centres. Others in it make no difference.
//   - Stream time is the highest of those event times. The article that set it
//     belongs to a cluster last seen then, and that cluster cannot expire before
//     stream time moves on, by an article whose cluster is then the one last seen.
//   - The next position is the highest of those positions plus 1. The cluster of the
//     last article is live, except when that article was late and founded it.
type Space struct {
	index  Index
	window int64             // milliseconds; negative: centres never expire
	live   func(Centre) bool // nil: all are
	state  State
	seen   map[uint64]int64  // by Seq: when the centres that queries met were last seen
	passed map[uint64]Centre // expired ones that queries met: they are no longer in the index
	met    []Centre          // those that this query met
}

// A State is what a Space knows beside its centres.
type State struct {
	// StreamTime is the highest event time so far, in Unix milliseconds.
	StreamTime int64
	// Next is the position of the next article.
	Next uint64
}

// maxSeen is how many centres a Space remembers when they were last seen, before it forgets and
// asks again.
const maxSeen = 1 << 16

// An Assignment says where an article belongs.
type Assignment struct {
	// Centre is the centre of the article's cluster. A new cluster has the
	// article's own fingerprint, and its Position as Seq.
	Centre Centre
	// Joined is false where the article founded the cluster.
	Joined bool
	// Distance is that of the article from the centre, in the measure of the index, 0 for
	// a founder.
	Distance float64
	// Position is the number of articles that the space assigned before this one.
	Position uint64
}

// NewSpace returns a Space that keeps its centres in the given index, which must be
// empty and used for nothing else. A centre expires when stream time passes the
// highest event time of its members by more than the window. A window of 0 or less
// means that centres never expire.
//
// lastSeen returns the highest event time of the members of a centre in the index, in
// Unix milliseconds, as of the assignment before. Only Assign asks it, where there is a
// window, and of a centre seldom more than once: it may be slow. The sketch that it is given
// is good only during the call.
func NewSpace(index Index, window time.Duration, lastSeen func(Centre) int64) *Space {
	s := &Space{index: index, window: -1, state: State{StreamTime: math.MinInt64}}
	if window > 0 {
		// What the window has below a millisecond makes no difference to times in
		// whole milliseconds.
		s.window = window.Milliseconds()
		s.seen, s.passed = make(map[uint64]int64), make(map[uint64]Centre)
		s.live = func(c Centre) bool { return s.lives(c, lastSeen) }
	}
	return s
}

// lives reports whether a centre in the index is live, and keeps what lastSeen says: an index that
// sees only some of very many asks of the same ones again and again. One that has expired is let
// go, so that queries pass over it once.
func (s *Space) lives(c Centre, lastSeen func(Centre) int64) bool {
	at, ok := s.seen[c.Seq]
	if !ok {
		at = lastSeen(c)
		s.seen[c.Seq] = at
	}
	if !s.Expired(at) {
		return true
	}
	if _, ok := s.passed[c.Seq]; !ok {
		c.Sketch = strings.Clone(c.Sketch)
		s.passed[c.Seq] = c
		s.met = append(s.met, c)
	}
	return false
}

// drop takes the expired centres that a query met out of the index.
func (s *Space) drop() {
	for _, c := range s.met {
		s.index.Remove(c)
	}
	s.met = s.met[:0]
}

// Assign decides the cluster of the next article by its fingerprint and event time
// in Unix milliseconds. The article first moves stream time, if it is ahead of it.
// Then it joins the nearest live centre within the bound of the index, among
// equals the oldest, or else founds a cluster.
//
// Articles may come out of order: one that is behind stream time by more than the
// window can join a cluster, and one that it founds has expired from the beginning.
func (s *Space) Assign(f Fingerprint, at int64) Assignment {
	s.state.StreamTime = max(s.state.StreamTime, at)
	if len(s.seen) > maxSeen {
		clear(s.seen)
	}
	a := Assignment{Position: s.state.Next}
	s.state.Next++
	a.Centre, a.Distance, a.Joined = s.index.Nearest(f, s.live)
	s.drop()
	if a.Joined {
		if seen, ok := s.seen[a.Centre.Seq]; ok {
			s.seen[a.Centre.Seq] = max(seen, at)
		}
	} else {
		a.Centre = Centre{Fingerprint: f, Seq: a.Position}
		s.index.Insert(a.Centre)
	}
	return a
}

// Expired reports whether a centre last seen then has expired by now.
func (s *Space) Expired(lastSeen int64) bool {
	before, ok := s.Horizon()
	return ok && lastSeen < before
}

// Horizon returns the time in Unix milliseconds such that the centres last seen before
// it have expired by now, and no others. ok is false when centres never expire.
func (s *Space) Horizon() (before int64, ok bool) {
	if s.window < 0 {
		return 0, false
	}
	if s.state.StreamTime < math.MinInt64+s.window {
		return math.MinInt64, true // the difference would overflow
	}
	return s.state.StreamTime - s.window, true
}

// Insert adds a centre that was founded elsewhere, and is not in the index yet.
func (s *Space) Insert(c Centre) { s.index.Insert(c) }

// BulkLoad adds n such centres to an empty Space, in any order, faster than Insert.
func (s *Space) BulkLoad(n int, centres iter.Seq[Centre]) { s.index.BulkLoad(n, centres) }

// Remove takes out a centre that has expired, by a stream time that is not going to be
// undone, or the founding of which is undone. One that is not in the index is passed
// over.
func (s *Space) Remove(c Centre) {
	s.index.Remove(c)
	delete(s.seen, c.Seq)
	delete(s.passed, c.Seq)
}

// State returns what is to be saved beside the centres.
func (s *Space) State() State { return s.state }

// Resume sets the state to one that was saved: after a restart, when the centres have
// been put back, or to undo assignments, when the centres that they founded have been
// removed. Centres that had expired since may live again.
func (s *Space) Resume(state State) {
	s.state = state
	for _, c := range s.passed {
		s.index.Insert(c)
	}
	clear(s.passed)
	clear(s.seen)
}

// Candidates returns how many centres articles have been compared with so far.
func (s *Space) Candidates() uint64 { return s.index.Candidates() }

// Len returns the number of centres that have not been removed, expired ones included.
func (s *Space) Len() int { return s.index.Len() + len(s.passed) }
