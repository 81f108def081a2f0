package model

import (
	"cmp"
	"slices"
)

// Join makes the younger of two stories part of the older one, by hand: such that it can be undone
// or, as was so once, not.
func (m *Stories) Join(a, b string, undone bool) (older, younger string, ok bool) {
	x, y := m.living(a), m.living(b)
	if x == nil || y == nil || x == y {
		return "", "", false
	}
	older, younger = m.merge(x, y, undone)
	return older, younger, true
}

// Leave takes a story out of one that it was made part of by hand, and returns those that it was
// part of, the living one last.
func (m *Stories) Leave(id, whole string) (from []*Story, ok bool) {
	chain, other := m.Chain(id), m.Chain(whole)
	if len(chain) < 2 || chain[0].ID != id || other == nil || !slices.Contains(chain[1:], other[0]) {
		return nil, false
	}
	left, from := chain[0], chain[1:]
	for _, s := range from {
		s.Clusters -= left.Clusters
	}
	left.Into = ""
	m.live++
	m.sum(left)
	m.sum(from[len(from)-1])
	return from, true
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

// Split takes a cluster out of a story, and makes one of its own of it. It returns the stories that
// the cluster leaves, the living one last.
func (m *Stories) Split(id string, a Founder) (from []*Story, ok bool) {
	from = m.Chain(id)
	if from == nil || m.all[a.ID] != nil || from[0].Clusters < 2 {
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
