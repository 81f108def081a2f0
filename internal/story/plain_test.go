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
	own   map[uint32]uint64 // without what somebody made part of it, where it is apart
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
	if best.Apart {
		best.own = sumOf(best.own, terms, p.StoryTerms)
	}
	best.LastSeen = max(best.LastSeen, a.EventTime)
	best.Clusters++
	if len(found) == 1 {
		return d
	}
	if other := p.find(found[1]); p.Merge > 0 && similar(best.terms, other.terms) >= p.Merge {
		d.Story, d.Merged = p.merge(best, other, false)
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
	}, terms, nil})
	slices.SortFunc(p.stories, func(a, b plainStory) int { return cmp.Compare(a.Seq, b.Seq) })
}

func (p *plain) merge(older, younger *plainStory, byHand bool) (into, merged string) {
	if younger.Seq < older.Seq {
		older, younger = younger, older
	}
	first, second := older.alone(), younger.alone()
	switch {
	case byHand:
		older.Apart, older.own, younger.Apart, younger.own = true, first, true, second
	case older.Apart || younger.Apart:
		older.Apart, older.own = true, sumOf(first, second, p.StoryTerms)
		younger.Apart, younger.own = false, nil
	}
	older.terms = sumOf(older.terms, younger.terms, p.StoryTerms)
	older.LastSeen = max(older.LastSeen, younger.LastSeen)
	older.Clusters += younger.Clusters
	younger.terms, younger.Into = nil, older.Address
	return older.Address, younger.Address
}

func (s *plainStory) alone() map[uint32]uint64 {
	if s.Apart {
		return s.own
	}
	return s.terms
}

func (p *plain) Touch(address string, at int64) (home, living string, ok bool) {
	p.advance(at)
	for {
		s := p.find(address)
		if s == nil || p.expired(s) {
			return "", "", false
		}
		s.LastSeen = max(s.LastSeen, at)
		if home == "" && (s.Into == "" || s.Apart) {
			home = address
		}
		if s.Into == "" {
			return home, address, true
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

// chain returns what a story is by the rule, and then what that is part of by hand, one by one.
func (p *plain) chain(address string) (chain []*plainStory) {
	for address != "" {
		s := p.find(address)
		if s == nil || p.expired(s) {
			return nil
		}
		if s.Into == "" || s.Apart {
			chain = append(chain, s)
		}
		address = s.Into
	}
	return chain
}

func addressesOf(stories []*plainStory) (all []string) {
	for _, s := range stories {
		all = append(all, s.Address)
	}
	return all
}

func (p *plain) Join(a, b string) (older, younger string, ok bool) {
	x, y := p.resolve(a), p.resolve(b)
	if x == nil || y == nil || x == y {
		return "", "", false
	}
	older, younger = p.merge(x, y, true)
	return older, younger, true
}

func (p *plain) Leave(a, b string) (left string, from []string, ok bool) {
	x, y := p.chain(a), p.chain(b)
	if x == nil || y == nil {
		return "", nil, false
	}
	if !slices.Contains(x[1:], y[0]) {
		x, y = y, x
	}
	if !slices.Contains(x[1:], y[0]) {
		return "", nil, false
	}
	for _, whole := range x[1:] {
		whole.Clusters -= x[0].Clusters
	}
	x[0].Into = ""
	p.sum(x[0])
	p.sum(x[len(x)-1])
	return x[0].Address, addressesOf(x[1:]), true
}

// sum adds the terms of a story and of its parts.
func (p *plain) sum(whole *plainStory) {
	whole.terms = whole.own
	alone := true
	for i := range p.stories {
		part := &p.stories[i]
		if part.Into != "" && part.Apart && p.resolve(part.Address) == whole {
			whole.terms, alone = sumOf(whole.terms, part.own, p.StoryTerms), false
		}
	}
	if alone {
		whole.Apart, whole.own = false, nil
	}
}

func (p *plain) Split(address string, a Article) (from []string, ok bool) {
	all := p.chain(address)
	if all == nil || p.find(a.Address) != nil || all[0].Clusters < 2 {
		return nil, false
	}
	terms := p.weigh(a.Words)
	less := func(of map[uint32]uint64) map[uint32]uint64 {
		rest := make(map[uint32]uint64)
		for term, w := range of {
			if w > terms[term] {
				rest[term] = w - terms[term]
			}
		}
		return rest
	}
	for _, s := range all {
		s.terms = less(s.terms)
		s.Clusters--
	}
	if all[0].Apart {
		all[0].own = less(all[0].own)
	}
	from = addressesOf(all)
	p.found(a, terms, all[len(all)-1].LastSeen)
	return from, true
}

// all returns the stories as a Space has them.
func (p *plain) all() (all []Story) {
	vector := func(of map[uint32]uint64) Vector {
		var terms []weighted
		for term, w := range of {
			terms = append(terms, weighted{term, w})
		}
		return vectorOf(terms, len(terms))
	}
	for _, s := range p.stories {
		s.Vector, s.Own = vector(s.terms), vector(s.own)
		all = append(all, s.Story)
	}
	return all
}
