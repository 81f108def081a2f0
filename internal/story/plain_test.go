package story

import (
	"cmp"
	"maps"
	"math/big"
	"math/bits"
	"slices"
)

// plain is the rule without an index, a journal or vectors in bytes: it looks at all stories each
// time, and copies them for each rollback.
type plain struct {
	Options
	stories    []plainStory // the older ones first
	streamTime int64
	began      bool
}

type plainStory struct {
	Story
	terms map[uint32]uint64
}

func (p *plain) clone() *plain {
	c := *p
	c.stories = slices.Clone(p.stories) // terms are never changed, but replaced
	return &c
}

func (p *plain) find(address string) *plainStory {
	for i := range p.stories {
		if p.stories[i].Address == address {
			return &p.stories[i]
		}
	}
	return nil
}

// advance moves stream time on, and removes the four stories that expired first.
func (p *plain) advance(at int64) {
	p.reach(at)
	gone := slices.SortedStableFunc(slices.Values(p.stories), func(a, b plainStory) int {
		return cmp.Compare(a.LastSeen, b.LastSeen)
	})
	gone = slices.DeleteFunc(gone, func(s plainStory) bool { return !p.expired(&s) })
	gone = gone[:min(4, len(gone))]
	p.stories = slices.DeleteFunc(p.stories, func(s plainStory) bool {
		return slices.ContainsFunc(gone, func(g plainStory) bool { return g.Address == s.Address })
	})
}

func (p *plain) reach(at int64) {
	if !p.began || at > p.streamTime {
		p.streamTime, p.began = at, true
	}
}

func (p *plain) expired(s *plainStory) bool {
	return p.Window > 0 && p.began && s.LastSeen < p.streamTime-p.Window.Milliseconds()
}

// having returns how many stories have a term.
func (p *plain) having(term uint32) (n uint64) {
	for i := range p.stories {
		if p.stories[i].terms[term] > 0 {
			n++
		}
	}
	return n
}

func (p *plain) weigh(words Vector) map[uint32]uint64 {
	live := uint64(0)
	for i := range p.stories {
		if p.stories[i].Into == "" {
			live++
		}
	}
	all := make(map[uint32]uint64)
	for term, tf := range words.All() {
		all[term] = tf * (log2(live+prior+1) - log2(p.having(term)+1))
	}
	kept := plainHeaviest(all, p.ArticleTerms)
	length := max(1, new(big.Int).Sqrt(product(kept, kept)).Uint64())
	for term, w := range kept {
		if kept[term] = (w*unit + length/2) / length; kept[term] == 0 {
			delete(kept, term)
		}
	}
	return kept
}

// plainHeaviest returns so many of the heaviest terms.
func plainHeaviest(terms map[uint32]uint64, most int) map[uint32]uint64 {
	order := slices.SortedFunc(maps.Keys(terms), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(terms[b], terms[a]), cmp.Compare(a, b))
	})
	kept := make(map[uint32]uint64)
	for _, term := range order[:min(most, len(order))] {
		if terms[term] > 0 {
			kept[term] = terms[term]
		}
	}
	return kept
}

func sumOf(a, b map[uint32]uint64, most int) map[uint32]uint64 {
	sum := maps.Clone(a)
	for term, w := range b {
		sum[term] += w
	}
	sum = plainHeaviest(sum, most)
	for bits.Len64(slices.Max(append(slices.Collect(maps.Values(sum)), 0))) > 16 {
		for term := range sum {
			if sum[term] /= 2; sum[term] == 0 {
				delete(sum, term)
			}
		}
	}
	return sum
}

func product(a, b map[uint32]uint64) *big.Int {
	sum := new(big.Int)
	for term, w := range a {
		sum.Add(sum, new(big.Int).Mul(new(big.Int).SetUint64(w), new(big.Int).SetUint64(b[term])))
	}
	return sum
}

func similar(a, b map[uint32]uint64) uint32 {
	return bigCosine(product(a, b), product(a, a), product(b, b))
}

// bigCosine is [cosine], by numbers of any size.
func bigCosine(dot, a, b *big.Int) uint32 {
	if dot.Sign() == 0 {
		return 0
	}
	square := new(big.Int).Mul(dot, dot)
	square.Mul(square, big.NewInt(million*million))
	square.Div(square, new(big.Int).Mul(a, b))
	return uint32(square.Sqrt(square).Uint64())
}

// compared returns the stories that an article is compared with.
func (p *plain) compared(terms map[uint32]uint64) (found []*plainStory) {
	var leading []uint32
	for term := range terms {
		if n := p.having(term); n > 0 && n <= uint64(p.List) {
			leading = append(leading, term)
		}
	}
	slices.SortFunc(leading, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(p.having(a), p.having(b)), cmp.Compare(a, b))
	})
	total := 0
	for i, term := range leading {
		if total += int(p.having(term)); total > p.Postings {
			leading = leading[:i]
			break
		}
	}
	shared := make(map[*plainStory]uint64)
	for i := range p.stories {
		s := &p.stories[i]
		for _, term := range leading {
			if s.terms[term] > 0 {
				shared[s] += terms[term]
			}
		}
		if shared[s] > 0 && !p.expired(s) {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b *plainStory) int {
		return cmp.Compare(shared[b], shared[a])
	})
	return found[:min(len(found), p.Candidates)]
}

func (p *plain) Assign(a Article) Decision {
	p.reach(a.EventTime)
	terms := p.weigh(a.Words)
	var found []string
	var alike []uint32
	for _, s := range p.nearest(terms) {
		if similarity := similar(s.terms, terms); similarity >= p.threshold(a) {
			found, alike = append(found, s.Address), append(alike, similarity)
		}
	}
	p.advance(a.EventTime)
	if len(found) == 0 {
		p.found(a, terms, a.EventTime)
		return Decision{Story: a.Address}
	}
	best := p.find(found[0])
	d := Decision{Story: best.Address, Joined: true, Similarity: alike[0]}
	best.terms = sumOf(best.terms, terms, p.StoryTerms)
	best.LastSeen = max(best.LastSeen, a.EventTime)
	best.Clusters++
	if len(found) == 1 {
		return d
	}
	if other := p.find(found[1]); p.Merge > 0 && similar(best.terms, other.terms) >= p.Merge {
		d.Story, d.Merged = p.merge(best, other)
	}
	return d
}

// nearest returns the stories that an article is compared with, the most similar one first.
func (p *plain) nearest(terms map[uint32]uint64) []*plainStory {
	found := p.compared(terms)
	slices.SortFunc(found, func(x, y *plainStory) int {
		return cmp.Or(cmp.Compare(similar(y.terms, terms), similar(x.terms, terms)),
			cmp.Compare(x.Seq, y.Seq))
	})
	return found
}

func (p *plain) found(a Article, terms map[uint32]uint64, last int64) {
	p.stories = append(p.stories, plainStory{Story{
		Address: a.Address, Seq: a.Seq, FirstSeen: a.EventTime, LastSeen: last, Clusters: 1,
	}, terms})
	slices.SortFunc(p.stories, func(a, b plainStory) int { return cmp.Compare(a.Seq, b.Seq) })
}

func (p *plain) merge(older, younger *plainStory) (into, merged string) {
	if younger.Seq < older.Seq {
		older, younger = younger, older
	}
	older.terms = sumOf(older.terms, younger.terms, p.StoryTerms)
	older.LastSeen = max(older.LastSeen, younger.LastSeen)
	older.Clusters += younger.Clusters
	younger.terms, younger.Into = nil, older.Address
	return older.Address, younger.Address
}

func (p *plain) Touch(address string, at int64) (string, bool) {
	p.advance(at)
	for {
		s := p.find(address)
		if s == nil || p.expired(s) {
			return "", false
		}
		s.LastSeen = max(s.LastSeen, at)
		if s.Into == "" {
			return address, true
		}
		address = s.Into
	}
}

func (p *plain) resolve(address string) *plainStory {
	s := p.find(address)
	switch {
	case s == nil || p.expired(s):
		return nil
	case s.Into != "":
		return p.resolve(s.Into)
	default:
		return s
	}
}

func (p *plain) Join(a, b string) (older, younger string, ok bool) {
	x, y := p.resolve(a), p.resolve(b)
	if x == nil || y == nil || x == y {
		return "", "", false
	}
	older, younger = p.merge(x, y)
	return older, younger, true
}

func (p *plain) Split(address string, a Article) bool {
	s := p.resolve(address)
	if s == nil || p.find(a.Address) != nil || s.Clusters == 1 {
		return false
	}
	terms := p.weigh(a.Words)
	rest := make(map[uint32]uint64)
	for term, w := range s.terms {
		if w > terms[term] {
			rest[term] = w - terms[term]
		}
	}
	s.terms = rest
	s.Clusters--
	p.found(a, terms, s.LastSeen)
	return true
}

// all returns the stories as a Space has them.
func (p *plain) all() (all []Story) {
	for _, s := range p.stories {
		var terms []weighted
		for term, w := range s.terms {
			terms = append(terms, weighted{term, w})
		}
		s.Vector = vectorOf(terms, len(terms))
		all = append(all, s.Story)
	}
	return all
}
