package story

import (
	"cmp"
	"slices"
)

// An index says which stories have a term, as long as these are few, and how many have it.
type index struct {
	terms map[uint32]list
	most  int // stories that a list may have to be read
}

// A list has the slots, ascending, of the stories that have a term. Where they are more than
// twice as many as may be read, it has none, until they may be read again. So what frequent
// words take does not grow with the stories, and few lists are made anew.
type list struct {
	slots   []uint32
	stories uint32
}

func newIndex(most int) index { return index{terms: make(map[uint32]list), most: most} }

// stories returns how many have a term.
func (x *index) stories(term uint32) uint64 { return uint64(x.terms[term].stories) }

// change enters that a slot, of those that hold these entries by now, has other terms than
// before.
func (x *index) change(slot uint32, before, after Vector, entries []entry) {
	i, k := 0, 0
	for i < before.Len() || k < after.Len() {
		switch {
		case k == after.Len() || i < before.Len() && before.term(i) < after.term(k):
			x.remove(before.term(i), slot, entries)
			i++
		case i == before.Len() || after.term(k) < before.term(i):
			x.insert(after.term(k), slot)
			k++
		default:
			i++
			k++
		}
	}
}

func (x *index) insert(term, slot uint32) {
	l := x.terms[term]
	complete := len(l.slots) == int(l.stories)
	l.stories++
	switch {
	case complete && int(l.stories) <= 2*x.most:
		l.insert(slot)
	case complete:
		l.slots = nil
	}
	x.terms[term] = l
}

// insert grows the slots by an eighth where they are full: append would double short ones, and most
// lists are short.
func (l *list) insert(slot uint32) {
	at, _ := slices.BinarySearch(l.slots, slot)
	if n := len(l.slots); n == cap(l.slots) {
		l.slots = append(make([]uint32, 0, n+n/8+1), l.slots...)
	}
	l.slots = slices.Insert(l.slots, at, slot)
}

func (x *index) remove(term, slot uint32, entries []entry) {
	l := x.terms[term]
	if l.stories == 1 {
		delete(x.terms, term)
		return
	}
	complete := len(l.slots) == int(l.stories)
	l.stories--
	switch {
	case complete:
		at, _ := slices.BinarySearch(l.slots, slot)
		l.slots = slices.Delete(l.slots, at, at+1)
	case int(l.stories) <= x.most:
		for other := range entries {
			if entries[other].vector.has(term) {
				l.slots = append(l.slots, uint32(other))
			}
		}
	}
	x.terms[term] = l
}

// scratch is memory that queries use again.
type scratch struct {
	terms  []weighted
	lists  []opened
	shared []uint32 // by slot: what the query's weights come to of the terms that led there
	met    []uint32 // slots whose shared is not 0
	top    []uint32
	prober prober
}

// opened is a list that a term leads to.
type opened struct {
	list
	term   uint32
	weight uint64
}

// A candidate is a story that an article is compared with.
type candidate struct {
	slot       uint32
	similarity uint32
}

// nearest returns the two stories that live at a stream time and are the most similar to an
// article, of its candidates; among equals the older one is first. Of none, the similarity is 0.
func (s *Space) nearest(v Vector, now int64, q *scratch) (best, second candidate) {
	square := v.square()
	q.prober.set(v)
	better := func(a, b candidate) bool {
		return a.similarity > b.similarity || a.similarity > 0 && a.similarity == b.similarity &&
			s.entries[a.slot].seq < s.entries[b.slot].seq
	}
	for _, slot := range s.candidates(v, now, q) {
		e := &s.entries[slot]
		c := candidate{slot, cosine(q.prober.dot(e.vector), square, e.square)}
		switch {
		case better(c, best):
			best, second = c, best
		case better(c, second):
			second = c
		}
	}
	return best, second
}

// candidates returns the slots of the stories that an article is compared with. Its terms are
// taken in the order of how many stories have them, from the rarest on, among equals the
// smaller term first. Each leads to its stories, until there are too many of them or of all. Of
// the stories that terms led to, those of the living count for whom the weights of these terms add
// up to most, among equals the older ones.
func (s *Space) candidates(v Vector, now int64, q *scratch) []uint32 {
	s.open(v, q)
	if n := len(s.entries) - len(q.shared); n > 0 {
		q.shared = append(q.shared, make([]uint32, n)...)
	}
	q.met = q.met[:0]
	for _, o := range q.lists {
		for _, slot := range o.slots {
			if q.shared[slot] == 0 {
				q.met = append(q.met, slot)
			}
			q.shared[slot] += uint32(o.weight)
		}
	}
	top := s.top(now, q)
	for _, slot := range q.met {
		q.shared[slot] = 0
	}
	return top
}

// open finds the lists that the terms of an article lead to.
func (s *Space) open(v Vector, q *scratch) {
	q.lists = q.lists[:0]
	for term, weight := range v.All() {
		if l, ok := s.index.terms[term]; ok && int(l.stories) <= s.options.List {
			q.lists = append(q.lists, opened{l, term, weight})
		}
	}
	slices.SortFunc(q.lists, func(a, b opened) int {
		return cmp.Or(cmp.Compare(a.stories, b.stories), cmp.Compare(a.term, b.term))
	})
	postings := 0
	for i, o := range q.lists {
		if postings += int(o.stories); postings > s.options.Postings {
			q.lists = q.lists[:i]
			break
		}
	}
}

// top returns those of the slots that were met, and live, with the most in common, the first ones
// first. To find them it inserts each one where it belongs, if it does: most are beyond the end.
func (s *Space) top(now int64, q *scratch) []uint32 {
	order := func(a, b uint32) int {
		return cmp.Or(cmp.Compare(q.shared[b], q.shared[a]),
			cmp.Compare(s.entries[a].seq, s.entries[b].seq))
	}
	top := q.top[:0]
	for _, slot := range q.met {
		full := len(top) == s.options.Candidates
		if full && (q.shared[slot] < q.shared[top[len(top)-1]] || order(slot, top[len(top)-1]) > 0) {
			continue // the first of the two decides nearly always, and is quick
		}
		if s.expired(slot, now) {
			continue
		}
		if full {
			top = top[:len(top)-1]
		}
		at, _ := slices.BinarySearchFunc(top, slot, order)
		top = slices.Insert(top, at, slot)
	}
	q.top = top
	return top
}
