package story

// Join makes the younger of two stories that live part of the older one, whatever their
// similarity, and returns their addresses. Stories that became part of others count as those. ok
// is false where one is unknown, or both are the same.
func (s *Space) Join(a, b string) (older, younger string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, known := s.resolve(a)
	second, too := s.resolve(b)
	if !known || !too || first == second {
		return "", "", false
	}
	older, younger = s.merge(first, second)
	return older, younger, true
}

// Split takes the cluster that an article founded out of its story, such that it founds a story of
// its own, whose address is the article's. The article's vector, by the document frequencies of
// now, is taken off the story's. Since it is not known when the cluster was last seen, its story
// was when the one that it leaves was. ok is false where that one is unknown or has expired, has
// one cluster only, or where there is a story with the article's address. A story that became part
// of another counts as that.
func (s *Space) Split(story string, a Article) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, known := s.resolve(story)
	_, taken := s.slots.slot(a.Address, s.entries)
	if !known || taken || s.entries[slot].clusters < 2 {
		return false
	}
	vector := s.weigh(a.Words, &s.query)
	e := s.entries[slot]
	e.vector = e.vector.minus(vector, s.query.terms)
	e.square = e.vector.square()
	e.clusters--
	s.set(slot, e, "")
	s.found(a, vector, e.last)
	return true
}

// resolve returns the slot of the story that one is part of by now, if both live.
func (s *Space) resolve(address string) (slot uint32, ok bool) {
	for {
		slot, ok = s.slots.slot(address, s.entries)
		if !ok || s.expired(slot, s.streamTime) {
			return 0, false
		}
		into, merged := s.into[slot]
		if !merged {
			return slot, true
		}
		address = into
	}
}
