package hamming

import (
	"math/bits"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// A search is a query on its way through the phases, two of them in a round.
type search struct {
	fingerprint uint64
	tables      [2]*table
	best        singlepass.Nearest[Point, int]
	compared    uint64
	own         int // the round: in how many bits centres differ in a table's own half
	pending     [prefetchLen]visit
	waiting     int // of pending
	prefetched  prefetch
}

const quarterBits = 16

// A visit is due to a subtree of one of the tables, which is at this place of its path. On the way
// there, the own half differs from the query's in spent bits.
type visit struct {
	subtree
	table, at, spent uint8
}

// A probe is a search in one bucket.
type probe struct {
	*search
	table *table
	query path // of the query in the table
	// Centres whose other half differs in fewer bits than minOther were offered in a phase before.
	minOther int
	// The low quarter of the other half differs in so many bits.
	minQuarter, maxQuarter int
}

// round takes phases 2*own and 2*own+1, where there is the second one.
func (s *search) round(own, phases int) {
	s.own = own
	for i := range min(phases-2*own, len(s.tables)) {
		s.gather(i)
	}
	s.flush()
}

// gather adds the buckets of a table where halves are that differ from the query's in own
// bits. Of these bits, those that are not in the address are in the bucket.
func (s *search) gather(i int) {
	t := s.tables[i]
	half, level := t.half(s.fingerprint), t.level()
	for spent := range s.own + 1 {
		for flip := uint64(1)<<spent - 1; flip < 2<<level; flip = nextSubset(flip) {
			address, width := t.bucket(half ^ uint32(flip))
			if flip>>width == 0 { // else it is the bucket of one bit less
				s.add(visit{*t.buckets.at(address), uint8(i), uint8(width), uint8(spent)})
			}
			if flip == 0 {
				break
			}
		}
	}
}

// nextSubset returns the next larger number with as many bits set (Gosper's hack).
func nextSubset(set uint64) uint64 {
	lowest := set & -set
	carried := set + lowest
	return carried | (set^carried)>>(bits.TrailingZeros64(set)+2)
}

func (s *search) add(v visit) {
	if s.waiting == len(s.pending) {
		s.flush()
	}
	s.pending[s.waiting] = v
	s.waiting++
}

// flush visits what is pending, and prefetches it all first.
func (s *search) flush() {
	var read prefetch
	for _, v := range s.pending[:s.waiting] {
		if v.n > 0 && !v.node() {
			read.read(s.tables[v.table].leaf(v.subtree)[0])
		}
	}
	s.prefetched = read
	p := probe{search: s, maxQuarter: quarterBits}
	for _, v := range s.pending[:s.waiting] {
		p.minOther = s.own + int(v.table)
		if s.best.Cutoff() < s.own+p.minOther {
			break // by the phase before
		}
		p.table = s.tables[v.table]
		p.query = path{fingerprint: bits.RotateLeft64(s.fingerprint, p.table.rotate)}
		p.walk(v.subtree, int(v.at), int(v.spent))
	}
	s.waiting = 0
}

// maxOther returns in how many bits of the other half a centre may differ to be taken.
func (s *search) maxOther() int { return s.best.Cutoff() - s.own }

// walk visits the leaves below t, at this place of its path, on the way to which the own
// half differs from the query's in spent bits.
func (p *probe) walk(t subtree, at, spent int) {
	switch {
	case !t.node():
		if t.n > 0 && (at < twinAt || spent == p.own) {
			p.scan(t)
		}
	case at < twinAt:
		pair, same := p.table.nodes.at(int(t.at)), p.query.bit(at)
		p.walk(pair[same], at+1, spent)
		if spent < p.own {
			p.walk(pair[1-same], at+1, spent+1)
		}
	case spent == p.own:
		p.walkTwin(*p.table.nodes.at(int(t.at)))
	}
}

// walkTwin does with the quarters of the other half what phases do with halves: of e bits
// in which a centre may differ, either e/2 at most are in the low quarter, or (e-1)/2 at
// most in the high one.
func (p *probe) walkTwin(pair [2]subtree) {
	e := p.maxOther()
	low := *p
	low.minQuarter, low.maxQuarter = 0, e/2
	low.walkOther(pair[0], twinAt+1, 0, e/2, p.query)
	if e > 0 {
		high := *p
		high.minQuarter, high.maxQuarter = e/2+1, quarterBits
		high.walkOther(pair[1], twinAt+1, 0, (e-1)/2, p.query.swap())
	}
}

// walkOther visits the leaves below t, where the own half is known. The other one differs
// in spent bits by then, and may in up to radius of its first quarter.
func (p *probe) walkOther(t subtree, at, spent, radius int, query path) {
	if !t.node() {
		p.scan(t)
		return
	}
	pair := p.table.nodes.at(int(t.at))
	if at >= seqAt {
		p.walkOther(pair[0], at+1, spent, radius, query)
		p.walkOther(pair[1], at+1, spent, radius, query)
		return
	}
	same := query.bit(at)
	p.walkOther(pair[same], at+1, spent, radius, query)
	if at > twinAt+quarterBits {
		radius = p.maxOther()
	}
	if spent < radius {
		p.walkOther(pair[1-same], at+1, spent+1, radius, query)
	}
}

// scan compares the query with every entry of a leaf.
func (p *probe) scan(t subtree) {
	p.compared += uint64(t.n)
	entries, other := p.table.leaf(t), p.query.other()
	low, maxBits := low16(other), p.maxOther()
	for i, word := range entries.low() {
		for hits := near(word^low, maxBits); hits > 0; hits &= hits - 1 {
			at := i*4 + bits.TrailingZeros64(hits)/16
			if at >= int(t.n) {
				break
			}
			if n := bits.OnesCount32(entries.tag(at) ^ other); n >= p.minOther && n <= p.maxOther() {
				p.offer(entries.slot(at), n)
			}
		}
	}
}

// offer offers the centre in a slot, the other half of which differs in this many bits.
func (p *probe) offer(slot uint32, other int) {
	c := *p.table.slots.at(slot)
	differing := bits.RotateLeft64(c.Fingerprint, p.table.rotate) ^ p.query.fingerprint
	if bits.OnesCount32(uint32(differing)) != p.own {
		return
	}
	if quarter := bits.OnesCount16(uint16(differing >> 32)); quarter < p.minQuarter ||
		quarter > p.maxQuarter {
		return
	}
	p.best.Offer(c, c.Seq, p.own+other)
}
