package story

import (
	"cmp"
	"slices"
)

// Join makes the younger of two stories that live part of the older one, whatever their
// similarity, and returns their addresses. Stories that became part of others count as those. ok
// is false where one is unknown, or both are the same. [Space.Leave] undoes it.
func (s *Space) Join(a, b string) (older, younger string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, known := s.resolve(a)
	second, too := s.resolve(b)
	if !known || !too || first == second {
		return "", "", false
	}
	older, younger = s.merge(first, second, true)
	return older, younger, true
}

// Leave undoes [Space.Join]: of two stories it takes the part out of the whole. It returns the
// story that leaves, and the stories that it was part of, the living story last. The story that
// leaves is as it was before, and so are the others: what joined each of them since then stays with
// it. Parts of the story that leaves go with it. If the rule made a story part of another, it
// counts as the other. ok is false if a story is unknown or has expired, or neither is a part of
// the other by hand.
func (s *Space) Leave(a, b string) (left string, from []string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	part, known := s.home(a)
	whole, too := s.home(b)
	if !known || !too {
		return "", nil, false
	}
	if !slices.Contains(s.wholes(part), whole) {
		part, whole = whole, part
	}
	wholes := s.wholes(part)
	if !slices.Contains(wholes, whole) {
		return "", nil, false
	}
	clusters := s.entries[part].clusters
	for _, slot := range wholes {
		e := s.entries[slot]
		e.clusters -= clusters
		s.set(slot, e, s.ties[slot])
		from = append(from, e.address)
	}
	t := s.ties[part]
	t.into = ""
	s.set(part, s.entries[part], t)
	s.add(part)
	s.add(wholes[len(wholes)-1])
	return s.entries[part].address, from, true
}

// add makes the vector of a living story the sum of its own vector and the vectors of its parts, in
// founding order. Without parts, the story needs no vector of its own any more.
func (s *Space) add(slot uint32) {
	e, t := s.entries[slot], s.ties[slot]
	e.vector = s.own(slot)
	parts := s.parts(slot)
	for _, p := range parts {
		e.vector = e.vector.plus(s.ties[p].own, s.options.StoryTerms, s.query.terms)
	}
	if len(parts) == 0 {
		t = tie{}
	}
	e.square = e.vector.square()
	s.set(slot, e, t)
}

// Parts returns the addresses of the stories that somebody made part of a story, or of its parts,
// in founding order.
func (s *Space) Parts(address string) (parts []string) {
	if slot, ok := s.slots.slot(address, s.entries); ok {
		for _, p := range s.parts(slot) {
			parts = append(parts, s.entries[p].address)
		}
	}
	return parts
}

func (s *Space) parts(slot uint32) (parts []uint32) {
	for p, t := range s.ties {
		if t.into == "" || !t.apart {
			continue
		}
		if living, ok := s.resolve(s.entries[p].address); ok && living == slot {
			parts = append(parts, p)
		}
	}
	slices.SortFunc(parts, func(a, b uint32) int {
		return cmp.Compare(s.entries[a].seq, s.entries[b].seq)
	})
	return parts
}

// Split takes the cluster that an article founded out of its story, such that it founds a story of
// its own, whose address is the article's. The article's vector, by the document frequencies of
// now, is taken off the story's, and if this story is part of others, off theirs. It is not known
// when the cluster was last seen: the new story was when the old one was. Split returns the stories
// that the cluster leaves, the living story last. ok is false if the story is unknown or has
// expired, if it has one cluster only, or if there is a story with the article's address. If the
// rule made a story part of another, it counts as the other.
func (s *Space) Split(story string, a Article) (from []string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	home, known := s.home(story)
	_, taken := s.slots.slot(a.Address, s.entries)
	if !known || taken || s.entries[home].clusters < 2 {
		return nil, false
	}
	vector := s.weigh(a.Words, &s.query)
	all := append([]uint32{home}, s.wholes(home)...)
	for i, slot := range all {
		e, t := s.entries[slot], s.ties[slot]
		if i == 0 && t.apart {
			t.own = t.own.minus(vector, s.query.terms)
		}
		e.vector = e.vector.minus(vector, s.query.terms)
		e.square = e.vector.square()
		e.clusters--
		s.set(slot, e, t)
		from = append(from, e.address)
	}
	s.found(a, vector, s.entries[all[len(all)-1]].last)
	return from, true
}

// resolve returns the slot of the story that one is part of by now, if both live.
func (s *Space) resolve(address string) (slot uint32, ok bool) {
	for {
		slot, ok = s.slots.slot(address, s.entries)
		if !ok || s.expired(slot, s.streamTime) {
			return 0, false
		}
		into := s.ties[slot].into
		if into == "" {
			return slot, true
		}
		address = into
	}
}

// home returns the slot of a story, or of the other story if the rule made it part of another.
func (s *Space) home(address string) (slot uint32, ok bool) {
	for {
		slot, ok = s.slots.slot(address, s.entries)
		if !ok || s.expired(slot, s.streamTime) {
			return 0, false
		}
		t := s.ties[slot]
		if t.into == "" || t.apart {
			return slot, true
		}
		address = t.into
	}
}

// wholes returns the slots of the stories that somebody made a story part of, the living story
// last.
func (s *Space) wholes(slot uint32) (wholes []uint32) {
	for {
		into := s.ties[slot].into
		if into == "" {
			return wholes
		}
		next, ok := s.home(into)
		if !ok {
			return nil // there is none: a story is seen whenever a part of it is
		}
		slot, wholes = next, append(wholes, next)
	}
}
