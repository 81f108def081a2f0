package model

import (
	"cmp"
	"container/heap"
	"iter"
	"maps"
	"slices"
)

// A StoryRule is the rule of stories. Similarities are in millionths.
type StoryRule struct {
	Threshold, Han, Merge uint32
	Window                int64 // milliseconds; 0: stories never expire
	ArticleTerms          int   // the heaviest of an article count
	StoryTerms            int   // a story keeps the heaviest
	List                  int   // how many stories may have a term that leads to candidates
	Postings              int   // how many the terms of one article may name
	Candidates            int   // with how many an article is compared
}

// A Story is one of the model.
type Story struct {
	ID                  string // of its first cluster
	Seq                 int64  // position of that one's founder
	FirstSeen, LastSeen int64  // Unix milliseconds
	Clusters            int64
	Terms               Terms  // none where it is part of another
	Into                string // the story that it is part of; empty for none
	// Apart says that it was made part of another by hand, or another part of it, such that this can
	// be undone: Own are its terms without those.
	Apart bool
	Own   Terms
}

// Alone returns the terms of a story without those that were made part of it by hand.
func (s *Story) Alone() Terms {
	if s.Apart {
		return s.Own
	}
	return s.Terms
}

// A Founder is an article that founds a cluster.
type Founder struct {
	ID    string // of the cluster
	Seq   int64  // its position
	At    int64  // its event time, Unix milliseconds
	Words Terms
	Han   bool
}

// A Verdict says to which story a cluster belongs.
type Verdict struct {
	Story      string
	Similarity uint32 // to the story as it was before, in millionths; 0 of one that the cluster founds
	Merged     string // a younger story that became part of it with this article; empty for none
}

// Stories is the rule of stories, as docs/stories.md has it: a map of the stories by their ids, and
// one of the stories that have a term. It undoes nothing.
type Stories struct {
	rule  StoryRule
	all   map[string]*Story
	with  map[uint32]map[*Story]struct{}
	live  int // stories that are part of no other
	now   int64
	began bool
	due   dueStories
}

// NewStories returns the model of no stories.
func NewStories(rule StoryRule) *Stories {
	return &Stories{
		rule: rule, all: make(map[string]*Story), with: make(map[uint32]map[*Story]struct{}),
	}
}

// StreamTime returns the highest event time so far, Unix milliseconds.
func (m *Stories) StreamTime() int64 { return m.now }

// Of returns a story that has not been removed.
func (m *Stories) Of(id string) (*Story, bool) {
	s, ok := m.all[id]
	return s, ok
}

// All yields the stories that have not been removed, in the order of their ids.
func (m *Stories) All() iter.Seq[*Story] {
	return func(yield func(*Story) bool) {
		for _, id := range slices.Sorted(maps.Keys(m.all)) {
			if !yield(m.all[id]) {
				return
			}
		}
	}
}

// Assign says to which story the cluster of a founder belongs.
func (m *Stories) Assign(a Founder) Verdict {
	m.reach(a.At)
	terms := m.weigh(a.Words)
	found := m.nearest(terms, a.Han)
	m.advance()
	if len(found) == 0 {
		m.add(&Story{ID: a.ID, Seq: a.Seq, FirstSeen: a.At, LastSeen: a.At, Clusters: 1}, terms)
		return Verdict{Story: a.ID}
	}
	best := found[0].Story
	v := Verdict{Story: best.ID, Similarity: found[0].similarity}
	m.setTerms(best, best.Terms.plus(terms).heaviest(m.rule.StoryTerms).halved())
	if best.Apart {
		best.Own = best.Own.plus(terms).heaviest(m.rule.StoryTerms).halved()
	}
	best.Clusters++
	m.see(best, a.At)
	if len(found) == 1 || m.rule.Merge == 0 {
		return v
	}
	if other := found[1].Story; cosine(best.Terms, other.Terms) >= m.rule.Merge {
		v.Story, v.Merged = m.merge(best, other, false)
	}
	return v
}

// Touch notes a copy at an event time in a cluster of a story. It returns the story that the
// cluster belongs to by now, and the one that this is part of by hand, if it lives; else both are
// the same.
func (m *Stories) Touch(id string, at int64) (home, living string, ok bool) {
	m.reach(at)
	m.advance()
	for {
		s := m.all[id]
		if s == nil || m.expired(s) {
			return "", "", false
		}
		if home == "" && (s.Into == "" || s.Apart) {
			home = id
		}
		if m.see(s, at); s.Into == "" {
			return home, id, true
		}
		id = s.Into
	}
}

// Chain returns what a story is by now, since the rule may have made it part of that, and then what
// that is part of by hand, one after the other; nil where one of these has gone or expired.
func (m *Stories) Chain(id string) (chain []*Story) {
	for s := m.all[id]; s != nil && !m.expired(s); s = m.all[s.Into] {
		if s.Into == "" || s.Apart {
			chain = append(chain, s)
		}
		if s.Into == "" {
			return chain
		}
	}
	return nil
}

// living returns the story that one is part of by now.
func (m *Stories) living(id string) *Story {
	for {
		s := m.all[id]
		if s == nil || m.expired(s) {
			return nil
		}
		if s.Into == "" {
			return s
		}
		id = s.Into
	}
}

func (m *Stories) merge(older, younger *Story, undone bool) (into, merged string) {
	if younger.Seq < older.Seq {
		older, younger = younger, older
	}
	own, other := older.Alone(), younger.Alone()
	switch {
	case undone:
		older.Own, younger.Own = own, other
		older.Apart, younger.Apart = true, true
	case older.Apart || younger.Apart:
		older.Own = own.plus(other).heaviest(m.rule.StoryTerms).halved()
		younger.Own, older.Apart, younger.Apart = nil, true, false
	}
	m.setTerms(older, older.Terms.plus(younger.Terms).heaviest(m.rule.StoryTerms).halved())
	m.setTerms(younger, nil)
	older.Clusters += younger.Clusters
	younger.Into = older.ID
	m.see(older, younger.LastSeen)
	m.live--
	return older.ID, younger.ID
}

func (m *Stories) add(s *Story, terms Terms) {
	m.all[s.ID] = s
	m.live++
	m.setTerms(s, terms)
	heap.Push(&m.due, dueStory{s, s.LastSeen})
}

func (m *Stories) setTerms(s *Story, terms Terms) {
	for term := range s.Terms {
		if delete(m.with[term], s); len(m.with[term]) == 0 {
			delete(m.with, term)
		}
	}
	s.Terms = terms
	for term := range terms {
		if m.with[term] == nil {
			m.with[term] = make(map[*Story]struct{})
		}
		m.with[term][s] = struct{}{}
	}
}

// see notes an event time of a story.
func (m *Stories) see(s *Story, at int64) {
	if at > s.LastSeen {
		s.LastSeen = at
		heap.Push(&m.due, dueStory{s, at})
	}
}

func (m *Stories) reach(at int64) {
	if !m.began || at > m.now {
		m.now, m.began = at, true
	}
}

func (m *Stories) expired(s *Story) bool {
	return m.rule.Window > 0 && m.began && s.LastSeen < m.now-m.rule.Window
}

// maxRemoved is how many expired stories an article removes.
const maxRemoved = 4

// advance removes those of the expired stories that were seen first.
func (m *Stories) advance() {
	for removed := 0; removed < maxRemoved && len(m.due) > 0; {
		first := m.due[0]
		current := m.all[first.ID] == first.Story && first.last == first.LastSeen
		if current && !m.expired(first.Story) {
			return
		}
		if heap.Pop(&m.due); !current {
			continue
		}
		m.setTerms(first.Story, nil)
		delete(m.all, first.ID)
		if removed++; first.Into == "" {
			m.live--
		}
	}
}

// nearest returns the stories that an article may join, the most similar one first, among equals
// the oldest.
func (m *Stories) nearest(terms Terms, han bool) (found []similarStory) {
	threshold := m.rule.Threshold
	if han {
		threshold = m.rule.Han
	}
	for _, s := range m.candidates(terms) {
		if similarity := cosine(s.Terms, terms); similarity >= threshold {
			found = append(found, similarStory{s, similarity})
		}
	}
	slices.SortFunc(found, func(a, b similarStory) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.Seq, b.Seq))
	})
	return found
}

type similarStory struct {
	*Story
	similarity uint32
}

// candidates returns the stories that an article is compared with: those that have the most in
// common with it by its rarest words.
func (m *Stories) candidates(terms Terms) (found []*Story) {
	var leading []uint32
	for term := range terms {
		if n := len(m.with[term]); n > 0 && n <= m.rule.List {
			leading = append(leading, term)
		}
	}
	slices.SortFunc(leading, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(len(m.with[a]), len(m.with[b])), cmp.Compare(a, b))
	})
	shared, named := make(map[*Story]uint64), 0
	for _, term := range leading {
		if named += len(m.with[term]); named > m.rule.Postings {
			break
		}
		for s := range m.with[term] {
			if !m.expired(s) {
				shared[s] += terms[term]
			}
		}
	}
	found = slices.SortedFunc(maps.Keys(shared), func(a, b *Story) int {
		return cmp.Or(cmp.Compare(shared[b], shared[a]), cmp.Compare(a.Seq, b.Seq))
	})
	return found[:min(len(found), m.rule.Candidates)]
}

// A dueStory is a story that was last seen at a time: as long as it was not seen since.
type dueStory struct {
	*Story
	last int64
}

// dueStories is a binary heap, that which was seen first at the front, among equals the oldest.
type dueStories []dueStory

// Len implements [heap.Interface], as do those below.
func (d dueStories) Len() int { return len(d) }

// Less compares two places.
func (d dueStories) Less(i, k int) bool {
	return d[i].last < d[k].last || d[i].last == d[k].last && d[i].Seq < d[k].Seq
}

// Swap changes two places.
func (d dueStories) Swap(i, k int) { d[i], d[k] = d[k], d[i] }

// Push appends an element.
func (d *dueStories) Push(x any) {
	*d = append(*d, x.(dueStory)) //nolint:forcetypeassert // nothing else is pushed
}

// Pop takes the last element off.
func (d *dueStories) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}
