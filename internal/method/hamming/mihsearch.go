package hamming

import (
	"math/bits"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// ahead is how many buckets are touched before they are used, so that the processor waits
// for all of these cache misses at once and not for one after the other.
const ahead = 64

// A search is a query on its way through the phases, two of them in a round.
type search struct {
	fingerprint uint64
	tables      [2]*table
	best        singlepass.Nearest[Point, int]
	compared    uint64
	// own is the round: in how many bits centres differ in a table's own half.
	own int
	// pending are the buckets that are about to be visited.
	pending [ahead]visit
	waiting int
	touched uint64 // makes the compiler keep what touches
	// Of the bucket that is visited: its table, the query's path in it, and in how many
	// bits of the other half centres differ at least. If fewer, they had their turn.
	table *table
	query path
	other int
	// In a twin, low and high bound in how many bits the low quarter of the other half
	// differs.
	twin      bool
	low, high int
}

// A visit is due to what is at this place of its path in one of the tables.
type visit struct {
	ref
	table, at, spent uint8
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

// flush visits what is pending, and touches it all first.
func (s *search) flush() {
	var touched uint64
	for _, v := range s.pending[:s.waiting] {
		if v.n > 0 && !v.node() {
			touched += s.tables[v.table].run(v.ref)[0]
		}
	}
	s.touched = touched
	for _, v := range s.pending[:s.waiting] {
		s.other = s.own + int(v.table)
		if s.best.Cutoff() < s.own+s.other {
			break // by the phase before
		}
		s.table = s.tables[v.table]
		s.query = path{fingerprint: bits.RotateLeft64(s.fingerprint, s.table.rotate)}
		s.walk(v.ref, int(v.at), int(v.spent))
	}
	s.waiting = 0
}

// left is in how many bits of the other half a centre may differ to be taken.
func (s *search) left() int { return s.best.Cutoff() - s.own }

// walk visits the leaves below p, at this place of its path, on the way to which the own
// half differs from the query's in spent bits.
func (s *search) walk(p ref, at, spent int) {
	switch {
	case !p.node():
		if p.n > 0 && (at < twinAt || spent == s.own) {
			s.scan(p)
		}
	case at < twinAt:
		pair, same := s.table.nodes.at(int(p.at)), s.query.bit(at)
		s.walk(pair[same], at+1, spent)
		if spent < s.own {
			s.walk(pair[1-same], at+1, spent+1)
		}
	case spent == s.own:
		s.walkTwin(*s.table.nodes.at(int(p.at)))
	}
}

// walkTwin does with the quarters of the other half what phases do with halves: of e bits
// in which a centre may differ, either e/2 at most are in the low quarter, or (e-1)/2 at
// most in the high one.
func (s *search) walkTwin(pair [2]ref) {
	e := s.left()
	s.twin = true
	s.low, s.high = 0, e/2
	s.walkOther(pair[0], twinAt+1, 0, e/2, s.query)
	if e > 0 {
		s.low, s.high = e/2+1, 16
		s.walkOther(pair[1], twinAt+1, 0, (e-1)/2, s.query.swap())
	}
	s.twin = false
}

// walkOther visits the leaves below p, where the own half is known. The other one differs
// in spent bits by then, and may in up to radius of its first quarter.
func (s *search) walkOther(p ref, at, spent, radius int, query path) {
	if !p.node() {
		s.scan(p)
		return
	}
	pair := s.table.nodes.at(int(p.at))
	if at >= seqAt {
		s.walkOther(pair[0], at+1, spent, radius, query)
		s.walkOther(pair[1], at+1, spent, radius, query)
		return
	}
	same := query.bit(at)
	s.walkOther(pair[same], at+1, spent, radius, query)
	if at > twinAt+16 {
		radius = s.left()
	}
	if spent < radius {
		s.walkOther(pair[1-same], at+1, spent+1, radius, query)
	}
}

// scan compares the query with every entry of a leaf.
func (s *search) scan(p ref) {
	s.compared += uint64(p.n)
	entries, other := s.table.run(p), s.query.other()
	low, most := low16(other), s.left()
	for i, word := range entries.low() {
		for hits := near(word^low, most); hits > 0; hits &= hits - 1 {
			at := i*4 + bits.TrailingZeros64(hits)/16
			if at >= int(p.n) {
				break
			}
			if n := bits.OnesCount32(entries.tag(at) ^ other); n >= s.other && n <= s.left() {
				s.offer(entries.slot(at), n)
			}
		}
	}
}

// offer offers the centre in a slot, the other half of which differs in this many bits.
func (s *search) offer(slot uint32, other int) {
	c := *s.table.slots.at(slot)
	differing := bits.RotateLeft64(c.Fingerprint, s.table.rotate) ^ s.query.fingerprint
	if bits.OnesCount32(uint32(differing)) != s.own {
		return
	}
	if quarter := bits.OnesCount16(uint16(differing >> 32)); s.twin && (quarter < s.low || quarter > s.high) {
		return
	}
	s.best.Offer(c, c.Seq, s.own+other)
}
