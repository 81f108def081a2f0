package model

import (
	"cmp"
	"slices"
)

// CanJoin returns the living stories that two stories are part of by now, and whether these can be
// made one by hand.
func (m *Stories) CanJoin(a, b string) (x, y *Story, ok bool) {
	x, y = m.living(a), m.living(b)
	return x, y, x != nil && y != nil && x != y
}

// Join makes the younger of two stories part of the older one, by hand: such that it can be undone
// or, as was so once, not.
func (m *Stories) Join(a, b string, undone bool) (older, younger string, ok bool) {
	x, y, ok := m.CanJoin(a, b)
	if !ok {
		return "", "", false
	}
	older, younger = m.merge(x, y, undone)
	return older, younger, true
}

// CanLeave reports whether one of two stories is part of the other by hand. It returns the part,
// and those that this is part of, the living one last.
func (m *Stories) CanLeave(a, b string) (part *Story, wholes []*Story, ok bool) {
	for _, chains := range [][2][]*Story{{m.Chain(a), m.Chain(b)}, {m.Chain(b), m.Chain(a)}} {
		part, whole := chains[0], chains[1]
		if len(part) > 1 && len(whole) > 0 && slices.Contains(part[1:], whole[0]) {
			return part[0], part[1:], true
		}
	}
	return nil, nil, false
}

// Leave takes one of two stories out of the other, which it was made part of by hand, and returns
// what CanLeave does.
func (m *Stories) Leave(a, b string) (left *Story, from []*Story, ok bool) {
	left, from, ok = m.CanLeave(a, b)
	if !ok {
		return nil, nil, false
	}
	for _, s := range from {
		s.Clusters -= left.Clusters
	}
	left.Into = ""
	m.live++
	m.sum(left)
	m.sum(from[len(from)-1])
	return left, from, true
}

// sum adds up the terms of a story and of its parts.
func (m *Stories) sum(whole *Story) {
	terms, parts := whole.Own, m.Parts(whole)
	for _, part := range parts {
		terms = terms.plus(part.Own).heaviest(m.rule.StoryTerms).halved()
	}
	m.setTerms(whole, terms)
	if len(parts) == 0 {
		whole.Apart, whole.Own = false, nil
	}
}

// Parts returns the stories that are part of one by hand, the older ones first.
func (m *Stories) Parts(whole *Story) (parts []*Story) {
	for _, s := range m.all {
		if s.Into != "" && s.Apart && m.living(s.ID) == whole {
			parts = append(parts, s)
		}
	}
	slices.SortFunc(parts, func(a, b *Story) int { return cmp.Compare(a.Seq, b.Seq) })
	return parts
}

// CanSplit reports whether a cluster can leave its story and found one of its own. It returns the
// stories that it would leave, the living one last.
func (m *Stories) CanSplit(story, cluster string) (from []*Story, ok bool) {
	from = m.Chain(story)
	return from, from != nil && m.all[cluster] == nil && from[0].Clusters > 1
}

// Split takes a cluster out of a story, and makes one of its own of it. It returns what CanSplit
// does.
func (m *Stories) Split(story string, a Founder) (from []*Story, ok bool) {
	from, ok = m.CanSplit(story, a.ID)
	if !ok {
		return nil, false
	}
	terms := m.weigh(a.Words)
	for i, s := range from {
		if i == 0 && s.Apart {
			s.Own = s.Own.minus(terms)
		}
		m.setTerms(s, s.Terms.minus(terms))
		s.Clusters--
	}
	last := from[len(from)-1].LastSeen
	m.add(&Story{ID: a.ID, Seq: a.Seq, FirstSeen: a.At, LastSeen: last, Clusters: 1}, terms)
	return from, true
}
