// Package story joins clusters of copies to stories: what many sites write of one event in
// words of their own. The words of an article that founds a cluster go in, out comes the story
// of the cluster: the one whose vector is most similar to the article's, or a new one. Stories
// are decided one after the other, in one pass (Allan, Topic Detection and Tracking, 2002), by
// a centroid of tf·idf vectors. All arithmetic is on integers, so that every machine decides
// the same.
package story

import (
	"errors"
	"iter"
	"math"
	"sync"
	"time"
)

// Options are the rule. [Defaults] returns those that docs/stories.md measures.
type Options struct {
	// Threshold is the least similarity, in millionths, at which an article joins a story, and Han
	// that of an article of mostly Chinese words: these are short and mean much, so that two texts
	// of one event have fewer of them in common than two English ones.
	Threshold, Han uint32
	// Merge is the least similarity, in millionths, of two stories that become one when an article
	// is similar enough to both to join them; 0: none ever do.
	Merge uint32
	// Window is by how much stream time, the highest event time so far, may pass the highest event
	// time of a story before it expires; 0 or less is that stories never do. It must not be
	// shorter than the window of clusters: then the story of a live cluster lives.
	Window time.Duration
	Limits
}

// Limits bound memory and work. They are part of the rule.
type Limits struct {
	ArticleTerms int // the heaviest of an article count
	StoryTerms   int // a story keeps the heaviest
	// List is how many stories may have a term that leads to candidates.
	List int
	// Postings is how many stories the terms of one article may name, all in all, those that several
	// terms name as often as they do.
	Postings int
	// Candidates is how many stories an article is compared with.
	Candidates int
}

// Defaults returns the options that docs/stories.md measures.
func Defaults() Options {
	return Options{
		Threshold: 300_000, Han: 180_000, Merge: 600_000,
		Limits: Limits{
			ArticleTerms: 48, StoryTerms: 256, List: 1024, Postings: 4096, Candidates: 32,
		},
	}
}

func (o *Options) threshold(a Article) uint32 {
	if a.Han {
		return o.Han
	}
	return o.Threshold
}

// A Story is what is known of one. It says all that decisions need.
type Story struct {
	Address string // of the article that founded its first cluster; its id, which never changes
	// Seq is the position of that article. Of two stories the one with the smaller Seq is older.
	Seq       uint64
	FirstSeen int64 // event time of that article, Unix milliseconds
	LastSeen  int64 // the highest event time
	Clusters  uint32
	// Vector is the sum of the vectors of its clusters' founders, as far as it is kept. One that has
	// become part of another has none.
	Vector Vector
	Into   string // the address of the story that it has become part of; empty for none
	// Apart says that somebody made the story part of another, or another story part of it. Then Own
	// is the story's vector without the other, so that [Space.Leave] can take the two apart.
	Apart bool
	Own   Vector
}

// An Article is one that founds a cluster.
type Article struct {
	Address   string
	Seq       uint64 // greater than that of every article before
	EventTime int64  // Unix milliseconds
	Words     Vector // by [Words.Vector]
	Han       bool   // by [Words.Han]
}

// A Decision says to which story a cluster belongs.
type Decision struct {
	Story      string // its address
	Joined     bool   // false where the cluster is the first of its story
	Similarity uint32 // of the article and the story as it was before, in millionths; 0 of a founder
	// Merged is the address of a younger story that became part of Story with this article; empty
	// for none.
	Merged string
}

// maxExpired is how many expired stories one article removes. So a leap of stream time does not
// make one batch of all stories.
const maxExpired = 4

// A Space is stories, and the rule that joins articles to them. What it does belongs to a batch,
// which [Space.Seal] ends, and then lasts with [Space.Commit] or is undone by [Space.Rollback].
// Its methods are not safe for concurrent use, but that any number of goroutines may call
// [Space.Find] beside the one that calls the others.
//
// Its whole state follows from its stories and stream time: [Space.Put] restores a Space from
// them in any order, and [Space.Reach] sets stream time. Document frequencies are how many
// stories have a term. A story that has expired by stream time counts among them until it is
// removed, and in nothing else.
type Space struct {
	options Options
	window  int64    // milliseconds; negative: stories never expire
	entries []entry  // by slot
	free    []uint32 // slots without a story, the next one last
	slots   addresses
	ties    map[uint32]tie // by slot of a story that has to do with others
	live    uint64         // stories that are part of no other
	index   index
	due     queue

	streamTime int64   // the highest event time so far, Unix milliseconds
	batches    []batch // that are not committed, the oldest first; the last one is in hand

	query scratch // of the goroutine that decides; needs no lock to read either
	// mu is held to change what Find reads.
	mu     sync.RWMutex
	finder sync.Pool // of *scratch
}

// entry is a story. Without an address it is none.
type entry struct {
	address  string
	vector   Vector
	square   uint64 // of the vector
	seq      uint64
	first    int64
	last     int64
	clusters uint32
}

// A tie is what a story has to do with others, as in [Story]; the zero tie is nothing.
type tie struct {
	into  string
	apart bool
	own   Vector
}

// New returns a Space without stories.
func New(o Options) *Space {
	s := &Space{
		options: o, window: -1, ties: make(map[uint32]tie),
		index:      newIndex(o.List),
		streamTime: math.MinInt64, batches: []batch{{before: math.MinInt64}},
	}
	s.finder.New = func() any { return new(scratch) }
	s.due.space = s
	if o.Window > 0 {
		s.window = o.Window.Milliseconds()
	}
	return s
}

// Assign says to which story the cluster of its first article belongs. Stream time moves on to
// the article. It is decided by the stories that live then, and by the document frequencies as
// the article before left them. Then some expired stories are removed.
func (s *Space) Assign(a Article) Decision {
	v := s.decide(a, &s.query)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(a.EventTime)
	switch {
	case !v.Joined:
		s.found(a, v.vector, a.EventTime)
	case v.Merged != "":
		s.join(v.best, a.EventTime, v.vector)
		s.merge(v.best, v.second, false)
	default:
		s.join(v.best, a.EventTime, v.vector)
	}
	return v.Decision
}

// Touch says that an article at an event time, Unix milliseconds, joined a cluster of a story. Home
// is the story that the cluster belongs to now: the rule may have made its story part of another.
// Living is the story that somebody made home part of; otherwise it is home. ok is false if a story
// has expired or is unknown. Stream time moves on to the article, and some expired stories are
// removed.
func (s *Space) Touch(story string, at int64) (home, living string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(at)
	for {
		slot, known := s.slots.slot(story, s.entries)
		if !known || s.expired(slot, s.streamTime) {
			return "", "", false
		}
		if e := s.entries[slot]; at > e.last {
			e.last = at
			s.set(slot, e, s.ties[slot])
		}
		t := s.ties[slot]
		if home == "" && (t.into == "" || t.apart) {
			home = story
		}
		if t.into == "" {
			return home, story, true
		}
		story = t.into
	}
}

// found makes a story of an article, last seen at a time.
func (s *Space) found(a Article, vector Vector, last int64) {
	s.set(s.vacant(), entry{
		address: a.Address, vector: vector, square: vector.square(), seq: a.Seq, first: a.EventTime,
		last: last, clusters: 1,
	}, tie{})
}

// vacant returns a slot without a story.
func (s *Space) vacant() (slot uint32) {
	if n := len(s.free); n > 0 {
		slot, s.free = s.free[n-1], s.free[:n-1]
		return slot
	}
	s.entries = append(s.entries, entry{})
	return uint32(len(s.entries) - 1)
}

// join adds an article to a story.
func (s *Space) join(slot uint32, at int64, vector Vector) {
	e, t := s.entries[slot], s.ties[slot]
	e.vector = e.vector.plus(vector, s.options.StoryTerms, s.query.terms)
	e.square = e.vector.square()
	e.last = max(e.last, at)
	e.clusters++
	if t.apart {
		t.own = t.own.plus(vector, s.options.StoryTerms, s.query.terms)
	}
	s.set(slot, e, t)
}

// merge makes the younger of two stories part of the older one, and returns their addresses. By
// hand, each keeps its own vector.
func (s *Space) merge(first, second uint32, byHand bool) (into, merged string) {
	if s.entries[second].seq < s.entries[first].seq {
		first, second = second, first
	}
	older, younger := s.entries[first], s.entries[second]
	whole, part := s.ties[first], tie{into: older.address}
	switch {
	case byHand:
		part.apart, part.own = true, s.own(second)
		whole.apart, whole.own = true, s.own(first)
	case whole.apart || s.ties[second].apart:
		whole.own = s.own(first).plus(s.own(second), s.options.StoryTerms, s.query.terms)
		whole.apart = true
	}
	older.vector = older.vector.plus(younger.vector, s.options.StoryTerms, s.query.terms)
	older.square = older.vector.square()
	older.last = max(older.last, younger.last)
	older.clusters += younger.clusters
	younger.vector, younger.square = "", 0
	s.set(first, older, whole)
	s.set(second, younger, part)
	return older.address, younger.address
}

// own returns the vector of a story without its parts by hand.
func (s *Space) own(slot uint32) Vector {
	if t := s.ties[slot]; t.apart {
		return t.own
	}
	return s.entries[slot].vector
}

// Len returns how many stories there are, without those that became part of others.
func (s *Space) Len() int { return int(s.live) }

// StreamTime returns the highest event time so far, in Unix milliseconds.
func (s *Space) StreamTime() int64 { return s.streamTime }

// All yields all stories, those that became part of others included, in no order.
func (s *Space) All() iter.Seq[Story] {
	return func(yield func(Story) bool) {
		for slot := range s.entries {
			if s.entries[slot].address != "" && !yield(s.story(uint32(slot))) {
				return
			}
		}
	}
}

// Of returns the story with an address.
func (s *Space) Of(address string) (Story, bool) {
	slot, ok := s.slots.slot(address, s.entries)
	if !ok {
		return Story{}, false
	}
	return s.story(slot), true
}

func (s *Space) story(slot uint32) Story {
	e, t := &s.entries[slot], s.ties[slot]
	return Story{
		Address: e.address, Seq: e.seq, FirstSeen: e.first, LastSeen: e.last, Clusters: e.clusters,
		Vector: e.vector, Into: t.into, Apart: t.apart, Own: t.own,
	}
}

// Put restores a story that another Space had, or replaces the one of its address by what another
// Space has made of it, outside any batch. Stream time is not before its last event time. The
// error is that of one that there cannot be.
func (s *Space) Put(t Story) error {
	if t.Address == "" {
		return errors.New("a story without an address")
	}
	if t.Into != "" && t.Vector != "" {
		return errors.New("story " + t.Address + ": it is part of another, and has a vector")
	}
	if t.Own != "" && !t.Apart {
		return errors.New("story " + t.Address + ": it has a vector of its own, and no part")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, known := s.slots.slot(t.Address, s.entries)
	if !known {
		slot = s.vacant()
	}
	s.apply(slot, entry{
		address: t.Address, vector: t.Vector, square: t.Vector.square(), seq: t.Seq, first: t.FirstSeen,
		last: t.LastSeen, clusters: t.Clusters,
	}, tie{t.Into, t.Apart, t.Own})
	s.reach(t.LastSeen)
	return nil
}

// Remove takes out a story that another Space has removed, outside any batch. One that is not
// there is passed over.
func (s *Space) Remove(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot, known := s.slots.slot(address, s.entries); known {
		s.apply(slot, entry{}, tie{})
		s.free = append(s.free, slot)
	}
}

// Reach moves stream time, Unix milliseconds, on to that of another Space, outside any batch:
// copies may have moved it beyond all stories.
func (s *Space) Reach(streamTime int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reach(streamTime)
}

func (s *Space) reach(streamTime int64) {
	s.streamTime = max(s.streamTime, streamTime)
	s.batches[len(s.batches)-1].before = s.streamTime
}
