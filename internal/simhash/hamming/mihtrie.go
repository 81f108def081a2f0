package hamming

import "math/bits"

// Places of a path. Where all of the own half is equal, a trie goes on by the other half.
const (
	twinAt = 32          // the place after the own half
	seqAt  = twinAt + 33 // after the other half
	pathTo = seqAt + 64
)

// A path is what leads to a centre in a table: the bits of its fingerprint, the own half
// first, and then those of its Seq, by which the same fingerprints are told apart.
//
// Between the halves there is a place where a node is a twin: both of its subtrees have all of
// its centres. The first goes on by the low quarter of the other half and then by the
// high one, the second the other way round.
type path struct {
	fingerprint uint64 // rotated, so that the own half is in the low bits
	seq         uint64
	swapped     bool // in the second subtree of a twin: the quarters of the other half are
}

// path returns that of the centre in a slot.
func (t *table) path(slot uint32, swapped bool) path {
	return t.leads(*t.slots.at(slot), swapped)
}

func (t *table) leads(c Point, swapped bool) path {
	p := path{fingerprint: bits.RotateLeft64(c.Fingerprint, t.rotate), seq: c.Seq}
	if swapped {
		return p.swap()
	}
	return p
}

func (p path) own() uint32 { return uint32(p.fingerprint) }

func (p path) other() uint32 { return uint32(p.fingerprint >> 32) }

func (p path) swap() path {
	other := uint64(bits.RotateLeft32(p.other(), 16))
	return path{uint64(p.own()) | other<<32, p.seq, !p.swapped}
}

// bit returns the one at a place. At the place of the twin it is 0.
func (p path) bit(at int) int {
	switch {
	case at < twinAt:
		return int(p.fingerprint >> at & 1)
	case at == twinAt:
		return 0
	case at < seqAt:
		return int(p.fingerprint >> (at - 1) & 1)
	default:
		return int(p.seq >> (at - seqAt) & 1)
	}
}

// insertBelow adds an entry below p, which is at this place of its path.
func (t *table) insertBelow(p *subtree, at int, to path, tag, slot uint32) {
	for {
		if p.n == leafMax {
			t.branch(p, at, to.swapped)
		}
		if !p.node() {
			t.appendEntry(p, tag, slot)
			return
		}
		pair := t.nodes.at(int(p.at))
		if at == twinAt {
			t.insertBelow(&pair[1], at+1, to.swap(), tag, slot)
		}
		p = &pair[to.bit(at)]
		at++
	}
}

// branch makes a node of a full leaf.
func (t *table) branch(p *subtree, at int, swapped bool) {
	var pair [2]subtree
	switch {
	case at == twinAt:
		pair = [2]subtree{*p, t.clone(*p)}
	case at < pathTo:
		pair = t.halve(*p, at, swapped)
	default:
		panic("hamming: the same centre was inserted again and again")
	}
	*p = t.makeNode(pair)
}

// removeBelow removes an entry below p.
func (t *table) removeBelow(p *subtree, at int, to path, slot uint32) {
	if !p.node() {
		t.removeEntry(p, slot)
		return
	}
	pair := t.nodes.at(int(p.at))
	if at == twinAt {
		t.removeBelow(&pair[1], at+1, to.swap(), slot)
	}
	t.removeBelow(&pair[to.bit(at)], at+1, to, slot)
	t.join(p, at)
}

// removeEntry removes an entry of a leaf.
func (t *table) removeEntry(p *subtree, slot uint32) {
	entries, last := t.leaf(*p), int(p.n)-1
	for i := range int(p.n) {
		if entries.slot(i) == slot {
			entries.set(i, entries.tag(last), entries.slot(last))
			t.resize(p, uint32(last))
			return
		}
	}
	panic("hamming: a centre is not where its fingerprint leads")
}

// join makes a leaf of a node that is left with half as much as a leaf may hold. So no
// node has less.
func (t *table) join(p *subtree, at int) {
	pair := *t.nodes.at(int(p.at))
	switch {
	case pair[0].node() || pair[1].node():
		return
	case at == twinAt && pair[0].n <= leafMax/2:
		t.free(pair[1])
	case at != twinAt && pair[0].n+pair[1].n <= leafMax/2:
		from := t.leaf(pair[1])
		for i := range int(pair[1].n) {
			t.appendEntry(&pair[0], from.tag(i), from.slot(i))
		}
		t.moved += uint64(pair[1].n)
		t.free(pair[1])
	default:
		return
	}
	t.releaseNode(*p)
	*p = pair[0]
}

func (t *table) makeNode(pair [2]subtree) subtree {
	at := t.freedNode - 1
	if t.freedNode > 0 {
		t.freedNode = t.nodes.at(int(at))[0].at
	} else {
		at = uint32(t.nodes.len)
		t.nodes.grow(1)
	}
	*t.nodes.at(int(at)) = pair
	return subtree{at, isNode}
}

func (t *table) releaseNode(p subtree) {
	t.nodes.at(int(p.at))[0].at = t.freedNode
	t.freedNode = p.at + 1
}
