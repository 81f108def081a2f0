package story

const (
	// prior is how many stories, without any of the words, the document frequencies begin with. So
	// words of the first articles do not all seem rare, or frequent, by accident.
	prior = 10_000
	// unit is the length of an article's vector.
	unit = 1024
)

// Find returns what [Space.Assign] would decide if the article came now, and whether it would
// join a story. It sees all that was decided so far, also in batches that are not committed and
// may yet be undone. Any number of goroutines may call it, beside the one that calls the other
// methods.
func (s *Space) Find(a Article) (d Decision, ok bool) {
	q := s.finder.Get().(*scratch) //nolint:forcetypeassert // what New puts in
	defer s.finder.Put(q)
	s.mu.RLock()
	defer s.mu.RUnlock()
	v := s.decide(a, q)
	return v.Decision, v.Joined
}

// A verdict is a Decision, and what it needs to be carried out.
type verdict struct {
	Decision
	vector       Vector // of the article
	best, second uint32 // slots, where the article joins, and where stories merge
}

// decide changes nothing but the scratch.
func (s *Space) decide(a Article, q *scratch) (v verdict) {
	v.vector = s.weigh(a.Words, q)
	best, second := s.nearest(v.vector, max(s.streamTime, a.EventTime), q)
	threshold := s.options.threshold(a)
	if best.similarity < threshold {
		v.Story = a.Address
		return v
	}
	v.best, v.second = best.slot, second.slot
	first, other := &s.entries[best.slot], &s.entries[second.slot]
	v.Story, v.Joined, v.Similarity = first.address, true, best.similarity
	if s.options.Merge == 0 || second.similarity < threshold {
		return v
	}
	joined := first.vector.plus(v.vector, s.options.StoryTerms, q.terms)
	if cosine(joined.dot(other.vector), joined.square(), other.square) < s.options.Merge {
		return v
	}
	v.Merged = other.address
	if other.seq < first.seq {
		v.Story, v.Merged = v.Merged, v.Story
	}
	return v
}

// weigh returns the vector of an article: tf·idf of its words, by the stories that there are,
// of the length [unit].
func (s *Space) weigh(words Vector, q *scratch) Vector {
	terms := q.terms[:0]
	total := log2(s.live + prior + 1)
	for term, tf := range words.All() {
		if idf := total - log2(s.index.stories(term)+1); idf > 0 {
			terms = append(terms, weighted{term, tf * idf})
		}
	}
	q.terms = terms
	terms = heaviest(terms, s.options.ArticleTerms)
	square := uint64(0)
	for _, t := range terms {
		square += t.weight * t.weight
	}
	length := max(1, root(square))
	for i := range terms {
		terms[i].weight = (terms[i].weight*unit + length/2) / length
	}
	return vectorOf(terms, len(terms))
}
