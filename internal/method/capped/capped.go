// Package capped holds the buckets of an index for locality-sensitive hashing that very many
// centres share, and caps what a query sees of one: texts of one template share a bucket, each too
// far from the others to join them. A query sees the centres whose sketches are its neighbours in
// the order of their bytes.
//
// What it sees depends on the query and on the live centres of the bucket alone: not on when they
// came, nor on expired ones that are still there. So it is the same on every machine and after
// every recovery.
package capped

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// A Rule says what a query sees of a bucket. With up to Cap live centres, it sees all of them. With
// more, it sees some in each of several orders, one for each of Rotations. In that order, sketches
// are compared from this byte on and round to the byte before it; equal sketches are in the order
// of their Seq. Of each order it sees as many as Neighbours live centres just before its own
// sketch, and as many from its own sketch on.
//
// So it always sees the oldest live centre with its own sketch. It most likely sees those that
// agree with it in many bytes from a rotation on.
type Rule struct {
	Cap, Neighbours int
	Rotations       []int
}

// A Member is a centre of a bucket. Its sketch must stay as it is for as long as the member is in a
// bucket, and have more bytes than any rotation.
type Member struct {
	Sketch []byte
	Seq    uint64
	Slot   uint32 // says which it is to the index; makes no difference to the order
}

// A Bucket is the centres of one bucket in all orders. It may be read by many at once while nothing
// changes it.
type Bucket struct {
	rule     Rule
	sketchOf func(slot uint32) []byte
	lists    []list
	len      int
}

// An item is a member in one of the orders. Its prefix is the first bytes of the rotated sketch,
// which mostly decide without a look at the rest. There are no pointers in it for the garbage
// collector to follow.
type item struct {
	prefix uint64
	seq    uint64
	slot   uint32
}

// New returns an empty bucket of members whose sketches have equally many bytes. The index tells
// that of a slot.
func New(rule Rule, sketchOf func(slot uint32) []byte) *Bucket {
	return &Bucket{rule: rule, sketchOf: sketchOf, lists: make([]list, len(rule.Rotations))}
}

// A key is what items are compared with in one of the orders.
type key struct {
	prefix   uint64
	sketch   []byte
	start    int // the rotation
	seq      uint64
	sketchOf func(slot uint32) []byte
}

func (b *Bucket) key(order int, sketch []byte, seq uint64) key {
	k := key{sketch: sketch, start: b.rule.Rotations[order], seq: seq, sketchOf: b.sketchOf}
	var prefix [8]byte
	copy(prefix[:], sketch[k.start:])
	k.prefix = binary.BigEndian.Uint64(prefix[:])
	return k
}

// isBehind reports whether an item comes before the key.
func (k *key) isBehind(it *item) bool {
	if it.prefix != k.prefix {
		return it.prefix < k.prefix
	}
	return k.compare(it) > 0
}

// compare compares the key with an item of the same prefix.
func (k *key) compare(it *item) int {
	sketch, rest := k.sketchOf(it.slot), min(k.start+8, len(k.sketch))
	if n := bytes.Compare(k.sketch[rest:], sketch[rest:]); n != 0 {
		return n
	}
	if n := bytes.Compare(k.sketch[:k.start], sketch[:k.start]); n != 0 {
		return n
	}
	return cmp.Compare(k.seq, it.seq)
}

// find returns the place of a member in an order, where it is or would be put.
func (b *Bucket) find(order int, m *Member) (k key, p place, found bool) {
	k = b.key(order, m.Sketch, m.Seq)
	p = b.lists[order].search(&k)
	after := p
	it := b.lists[order].next(&after)
	return k, p, it != nil && it.prefix == k.prefix && k.compare(it) == 0
}

// Insert adds a member, whose Seq must not be there yet.
func (b *Bucket) Insert(m Member) {
	for i := range b.lists {
		k, p, _ := b.find(i, &m)
		b.lists[i].insert(p, item{k.prefix, m.Seq, m.Slot})
	}
	b.len++
}

// Remove removes the member with this sketch and Seq, if there is one.
func (b *Bucket) Remove(m Member) {
	for i := range b.lists {
		_, p, found := b.find(i, &m)
		if !found {
			return
		}
		b.lists[i].remove(p)
	}
	b.len--
}

// Find returns the slot of the member with this sketch and Seq.
func (b *Bucket) Find(m Member) (slot uint32, ok bool) {
	_, p, ok := b.find(0, &m)
	if !ok {
		return 0, false
	}
	return b.lists[0].next(&p).slot, true
}

// Len returns the number of members.
func (b *Bucket) Len() int { return b.len }

// All calls visit with the slot of every member.
func (b *Bucket) All(visit func(slot uint32)) {
	for _, block := range b.lists[0] {
		for i := range block {
			visit(block[i].slot)
		}
	}
}

// lives reports whether a member is live; nil: all are.
type lives func(slot uint32, seq uint64) bool

// See appends the slots of the centres that the rule names, of some more than once, and reports
// whether there are others. A live of nil means that all centres are.
func (b *Bucket) See(sketch []byte, live lives, dst []uint32) (slots []uint32, others bool) {
	if b.len <= b.rule.Cap {
		return b.all(dst), false
	}
	slots, least := dst, b.rule.Cap+1 // as many live ones tell that there are others
	if live == nil {
		least = 0 // it is known already
	}
	for i := range b.lists {
		// before any that is equal
		k := b.key(i, sketch, 0)
		var n int
		if slots, n = b.around(i, &k, least, live, slots); n < least {
			return b.all(dst), false
		}
		least = 0
	}
	return slots, true
}

func (b *Bucket) all(dst []uint32) []uint32 {
	b.All(func(slot uint32) { dst = append(dst, slot) })
	return dst
}

// around appends the slots of the live neighbours of a key in an order. It goes on until it has met
// at least so many live members, if there are as many, and returns how many it has met.
func (b *Bucket) around(order int, k *key, least int, live lives, dst []uint32) ([]uint32, int) {
	l, near := b.lists[order], b.rule.Neighbours
	start := l.search(k)
	after, before := walk{live: live, at: start}, walk{live: live, at: start}
	after.on(l, near, &dst)
	before.back(l, near, &dst)
	before.back(l, least-after.met, nil)
	after.on(l, least-before.met, nil) // there may be few before it
	return dst, after.met + before.met
}

// A walk meets members in an order.
type walk struct {
	live lives
	at   place
	met  int // that live
}

// on goes on until it has met so many, if there are as many, and appends their slots.
func (w *walk) on(l list, most int, dst *[]uint32) {
	for w.met < most {
		it := l.next(&w.at)
		if it == nil {
			return
		}
		w.meet(it, dst)
	}
}

// back does so backwards.
func (w *walk) back(l list, most int, dst *[]uint32) {
	for w.met < most {
		it := l.previous(&w.at)
		if it == nil {
			return
		}
		w.meet(it, dst)
	}
}

func (w *walk) meet(it *item, dst *[]uint32) {
	if w.live == nil || w.live(it.slot, it.seq) {
		w.met++
		if dst != nil {
			*dst = append(*dst, it.slot)
		}
	}
}
