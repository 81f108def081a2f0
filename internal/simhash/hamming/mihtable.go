package hamming

import "math/bits"

const (
	// bucketLoad is how many centres there are to a bucket. BenchmarkNearest sets it: with
	// fewer, a query visits more buckets, with more it reads more in each.
	bucketLoad = 12
	// leafMax is how many a leaf may hold: more than nearly every bucket has where
	// fingerprints are random, so that it is one leaf.
	leafMax = 32
)

// A table finds centres by one half of their fingerprints, its own half. An entry is a
// slot and, as its tag, the other half.
//
// The buckets are those of a linear hash table (Litwin, "Linear Hashing", VLDB 1980),
// addressed by the low bits of the half itself, so that a query finds the halves near its
// own in as many buckets as there are low bits. There is a bucket more for every
// bucketLoad centres, and it takes its share from one other, so that growth never stops
// for long.
//
// Where fingerprints are uneven, a bucket with too many for a leaf is a binary trie over
// further bits. So what a query is compared with is bounded for any centres: leafMax for
// each path that the bits allow in which it may differ. The only exception are centres
// with the same fingerprint.
//
// Room that is free is used again, but never given back: neither the number of buckets
// nor the memory shrinks with that of centres.
type table struct {
	slots      *slots
	rotate     int // left, to bring the own half of a fingerprint to the low bits
	buckets    chunked[subtree]
	nodes      chunked[[2]subtree]
	freedNode  uint32 // the first free node plus 1; the first subtree in it has the next one, likewise
	prefetched prefetch
	arena
}

func newTable(s *slots, rotate int) *table {
	t := &table{slots: s, rotate: rotate}
	t.buckets.grow(1)
	return t
}

// half returns the own half of a fingerprint.
func (t *table) half(fingerprint uint64) uint32 {
	return uint32(bits.RotateLeft64(fingerprint, t.rotate))
}

// level returns how many low bits address every bucket. The first few have been split already,
// and they and what they were split into are addressed by one bit more.
func (t *table) level() int { return bits.Len(uint(t.buckets.len)) - 1 }

// bucket returns the address of the bucket of a half, and how many bits address it.
func (t *table) bucket(half uint32) (address, width int) {
	level := t.level()
	low := int(half) & (1<<level - 1)
	split := 0
	if low < t.buckets.len-1<<level {
		split = 1
	}
	return low | int(half)&(split<<level), level + split
}

func (t *table) insert(slot uint32) {
	p := t.path(slot, false)
	address, width := t.bucket(p.own())
	t.insertBelow(t.buckets.at(address), width, p, p.other(), slot)
	if t.slots.used > bucketLoad*t.buckets.len {
		t.split()
	}
}

// remove takes a slot out. It must be there.
func (t *table) remove(slot uint32) {
	p := t.path(slot, false)
	address, width := t.bucket(p.own())
	t.removeBelow(t.buckets.at(address), width, p, slot)
}

// find returns the slot of a centre.
func (t *table) find(c Point) (slot uint32, ok bool) {
	p := t.leads(c, false)
	address, at := t.bucket(p.own())
	leaf := *t.buckets.at(address)
	for ; leaf.node(); at++ {
		leaf = t.nodes.at(int(leaf.at))[p.bit(at)]
	}
	if leaf.n == 0 {
		return 0, false
	}
	entries := t.leaf(leaf)
	for i := range int(leaf.n) {
		if slot = entries.slot(i); entries.tag(i) == p.other() && *t.slots.at(slot) == c {
			return slot, true
		}
	}
	return 0, false
}

// split makes the next bucket from the one that has the same low bits.
func (t *table) split() {
	level := t.level()
	from := t.buckets.len - 1<<level
	t.buckets.grow(1)
	p := t.buckets.at(from)
	pair := t.halve(*p, level, false)
	*p, *t.buckets.at(t.buckets.len - 1) = pair[0], pair[1]
}

// halve returns what becomes of a leaf or a node when the bit at a place of the path tells
// its centres apart.
func (t *table) halve(p subtree, at int, swapped bool) (pair [2]subtree) {
	if p.node() {
		pair = *t.nodes.at(int(p.at))
		t.releaseNode(p)
		return pair
	}
	if p.n == 0 {
		return pair
	}
	entries := t.leaf(p)
	var ones uint64
	for i := range int(p.n) {
		ones |= uint64(t.path(entries.slot(i), swapped).bit(at)) << i
	}
	switch n := uint32(bits.OnesCount64(ones)); n {
	case 0:
		return [2]subtree{p, {}}
	case p.n:
		return [2]subtree{{}, p}
	default:
		pair = [2]subtree{t.alloc(p.n - n), t.alloc(n)}
	}
	to := [2]leaf{t.leaf(pair[0]), t.leaf(pair[1])}
	var filled [2]int
	for i := range int(p.n) {
		side := ones >> i & 1
		to[side].set(filled[side], entries.tag(i), entries.slot(i))
		filled[side]++
	}
	t.moved += uint64(p.n)
	t.free(p)
	return pair
}
