package singlepass

import (
	"iter"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"
)

// A Space assigns the articles that are compared with one another to clusters. Its methods are not
// safe for concurrent use, but that any number of goroutines may call [Space.Find] beside the one
// that calls the others.
//
// A centre is live while stream time, the highest event time so far, is past the
// highest event time of its members by no more than the window. One that has expired
// never is again: no article joins it, and stream time does not go back. So it may stay
// in the index for any time, and go at any moment, without a difference to what is
// assigned.
//
// The whole state of a Space follows from its live clusters and that of the last
// article, each with its centre, the highest event time of its members, and the position of its
// last member:
//
//   - The index needs the live centres. Others in it make no difference.
//   - Stream time is the highest of those event times. The article that set it
//     belongs to a cluster last seen then, and that cluster cannot expire before
//     stream time moves on, by an article whose cluster is then the one last seen.
//   - The next position is the highest of those positions plus 1. The cluster of the
//     last article is live, except when that article was late and founded it.
type Space struct {
	index    Index
	lastSeen func(seq uint64) int64 // Unix milliseconds, as of the assignment before
	window   int64                  // milliseconds; negative: centres never expire
	live     *Live                  // nil: all are
	state    State
	divided  bool
	streams  map[string]*stream // by value; of a space that is not divided, one of no value
	current  *stream            // that of the article that is assigned
	floors   floors             // before which no centre was last seen
	seen     map[uint64]int64   // by Seq: when the centres that queries met were last seen
	passed   map[uint64]Centre  // expired ones that queries met: they are no longer in the index
	met      []Centre           // those that this query met and that may go
	batches  []batch            // that are not committed, in order; the last one is in hand

	// mu is held to change the index and what follows, and by whoever reads them beside the one that
	// assigns. That one needs no lock to read.
	mu        sync.RWMutex
	committed State           // as of the last Commit
	commits   uint64          // how many there were
	held      map[uint64]held // expired since then, as far as queries met them: still in the index
	// lacking is nil, or closed once the index has all that lived at the last Commit again.
	lacking chan struct{}
	turns   chan struct{} // held by each reader that looks at the index: as many as there are cores
}

// A Rule is what decides, beside the index, where articles belong.
type Rule struct {
	// Window is by how much stream time may pass the highest event time of a centre's members before
	// the centre expires; 0 or less is that centres never do.
	Window time.Duration
	// Divided is whether each value of [Fingerprint.Space] has centres and a stream time of its own.
	Divided bool
}

// A State is what a Space knows beside its centres.
type State struct {
	// StreamTime is the highest event time so far, in Unix milliseconds; of all values, where the
	// space is divided.
	StreamTime int64
	// Next is the position of the next article.
	Next uint64
}

// maxSeen is how many centres a Space remembers when they were last seen, before it forgets and
// asks again.
const maxSeen = 1 << 16

// maxHeld is how many expired centres stay in the index until the next Commit because readers may
// still need them. Queries pass over each of them, so there must not be many.
const maxHeld = 256

// An Assignment says where an article belongs.
type Assignment struct {
	// Centre is the centre of the article's cluster. A new cluster has the
	// article's own fingerprint, and its Position as Seq. Of one that was joined the contacts are left
	// out.
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
// empty and used for nothing else.
//
// lastSeen says what the highest event time of the members of a centre in the index is, by its Seq.
// Only Assign asks it, and only where there is a window: of a centre seldom more than once, and of
// none that was founded when nothing has expired yet. It may be slow.
func NewSpace(index Index, rule Rule, lastSeen func(seq uint64) int64) *Space {
	s := &Space{
		index: index, lastSeen: lastSeen,
		window: -1, state: State{StreamTime: math.MinInt64}, committed: State{StreamTime: math.MinInt64},
		held: make(map[uint64]held), batches: []batch{newBatch()},
		turns: make(chan struct{}, runtime.GOMAXPROCS(0)), floors: floors{seqs: floorSeqs},
		divided: rule.Divided, streams: make(map[string]*stream),
	}
	s.current = s.streamOf("")
	if rule.Window > 0 {
		// What the window has below a millisecond makes no difference to times in
		// whole milliseconds.
		s.window = rule.Window.Milliseconds()
		s.seen, s.passed = make(map[uint64]int64), make(map[uint64]Centre)
		s.live = &Live{Asked: s.passOver, Sure: s.isSure}
	}
	return s
}

// lives reports whether a centre in the index is live, and keeps what lastSeen says: an index that
// sees only some of very many asks of the same ones again and again.
func (s *Space) lives(seq uint64) bool {
	if s.isSure(seq) {
		return true
	}
	at, ok := s.seen[seq]
	if !ok {
		at = s.lastSeen(seq)
		s.seen[seq] = at
	}
	return !expired(at, s.current.now, s.window)
}

// isSure reports whether a centre in the index is live because none that shares its floor can have
// expired.
func (s *Space) isSure(seq uint64) bool {
	return !expired(s.floors.of(seq), s.current.now, s.window)
}

// passOver reports whether a centre in the index is live. One that has expired is let go, so that
// queries pass over it once.
func (s *Space) passOver(c Centre) bool {
	if s.lives(c.Seq) {
		return true
	}
	if _, passed := s.passed[c.Seq]; passed {
		return false
	}
	if _, kept := s.held[c.Seq]; kept {
		return false
	}
	c.Sketch = strings.Clone(c.Sketch)
	switch at := s.seen[c.Seq]; {
	case !s.needed(s.current, c.Seq, at):
		s.letGo(c)
	case s.lacking == nil && len(s.held) < maxHeld:
		s.held[c.Seq] = held{c, at}
	default:
		s.lack()
		s.letGo(c)
	}
	return false
}

func (s *Space) letGo(c Centre) {
	s.passed[c.Seq] = c
	s.met = append(s.met, c)
}

// drop takes the expired centres that were let go out of the index.
func (s *Space) drop() {
	for _, c := range s.met {
		s.mu.Lock()
		s.index.Remove(c)
		s.mu.Unlock()
	}
	s.met = s.met[:0]
}

// Assign decides the cluster of the next article by its fingerprint and event time
// in Unix milliseconds. The article first moves stream time, if it is ahead of it.
// Then it joins the nearest live centre within the bound of the index, among
// equals the oldest. Where there is none, it founds a cluster.
//
// Articles may come out of order: one that is behind stream time by more than the
// window can join a cluster, and one that it founds has expired from the beginning.
func (s *Space) Assign(f Fingerprint, at int64) Assignment {
	s.advance(f.Space, at)
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
		s.Insert(a.Centre, at)
	}
	return a
}

// Expired reports whether a centre of a value last seen then has expired by now.
func (s *Space) Expired(value string, lastSeen int64) bool {
	return expired(lastSeen, s.StreamTime(value), s.window)
}

// Expired reports whether a centre last seen then has expired at a stream time.
func (r Rule) Expired(lastSeen, streamTime int64) bool {
	return r.Window > 0 && expired(lastSeen, streamTime, r.Window.Milliseconds())
}

func expired(lastSeen, streamTime, window int64) bool {
	before, ok := horizon(streamTime, window)
	return ok && lastSeen < before
}

// Horizon returns the time in Unix milliseconds such that the centres last seen before
// it have expired by now, of a value, and no others. ok is false when centres never expire.
func (s *Space) Horizon(value string) (before int64, ok bool) {
	return horizon(s.StreamTime(value), s.window)
}

func horizon(streamTime, window int64) (before int64, ok bool) {
	switch {
	case window < 0:
		return 0, false
	case streamTime < math.MinInt64+window:
		return math.MinInt64, true // the difference would overflow
	default:
		return streamTime - window, true
	}
}

// Insert adds a centre that was founded elsewhere, and is not in the index yet. It was last seen at
// this time, or later.
func (s *Space) Insert(c Centre, lastSeen int64) {
	s.Lower(c.Seq, lastSeen)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.insert(c)
}

// Lower says that a centre counts as last seen at this time, or later, and that this may be earlier
// than it did. [Space.Insert] and [Space.Seen] say so too.
func (s *Space) Lower(seq uint64, lastSeen int64) {
	if s.window >= 0 {
		s.floors.lower(seq, lastSeen)
	}
}

func (s *Space) insert(c Centre) {
	s.index.Insert(c.withoutContacts())
}

// BulkLoad adds n such centres to an empty Space, in any order, faster than Insert.
func (s *Space) BulkLoad(n int, centres iter.Seq2[Centre, int64]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index.BulkLoad(n, func(yield func(Centre) bool) {
		for c, lastSeen := range centres {
			s.Lower(c.Seq, lastSeen)
			if !yield(c.withoutContacts()) {
				return
			}
		}
	})
}

// Remove takes out a centre that has expired, by a stream time that is not going to be
// undone, or the founding of which is undone. One that is not in the index is passed
// over.
func (s *Space) Remove(c Centre) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index.Remove(c.withoutContacts())
	delete(s.seen, c.Seq)
	delete(s.passed, c.Seq)
	delete(s.held, c.Seq)
}

// State returns what is to be saved beside the centres, as of the last article.
func (s *Space) State() State { return s.state }

// Resume sets the state to one that was saved: after a restart, when the centres have
// been put back, or to undo all assignments that are not committed, when the centres that they
// founded have been removed. Centres that had expired since may live again.
func (s *Space) Resume(state State) {
	s.state = state
	s.takeBack()
	s.batches = []batch{newBatch()}
	for _, c := range s.passed {
		s.mu.Lock()
		s.index.Insert(c)
		s.mu.Unlock()
	}
	clear(s.passed)
	clear(s.seen)
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.held)
	s.complete()
}

// Candidates returns how many centres articles have been compared with so far.
func (s *Space) Candidates() uint64 { return s.index.Candidates() }

// Len returns the number of centres that have not been removed, expired ones included.
func (s *Space) Len() int { return s.index.Len() + len(s.passed) }
