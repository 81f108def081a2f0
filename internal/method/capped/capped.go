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
	"encoding/binary"
	"unsafe"

	"github.com/google/btree"
)

// degree gives nodes of up to 63 items of 32 bytes.
const degree = 32

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

// A Member is a centre of a bucket. Its sketch is a view, which must stay as it is for as long as
// the member is in a bucket, and have more bytes than any rotation.
type Member struct {
	Sketch []byte
	Seq    uint64
	Slot   uint32 // says which it is to the index; makes no difference to the order
}

// A Bucket is the centres of one bucket in all orders. It may be read by many at once while nothing
// changes it.
type Bucket struct {
	rule  Rule
	size  int // of a sketch
	lists []*btree.BTreeG[item]
}

// An item is a member in one of the orders. Its prefix is the first bytes of the rotated sketch,
// which mostly decide without a look at the rest.
type item struct {
	prefix uint64
	sketch *byte
	seq    uint64
	slot   uint32
}

// New returns an empty bucket of members whose sketches have so many bytes.
func New(rule Rule, size int) *Bucket {
	b := &Bucket{rule: rule, size: size, lists: make([]*btree.BTreeG[item], len(rule.Rotations))}
	for i, start := range rule.Rotations {
		b.lists[i] = btree.NewG(degree, order(start, size))
	}
	return b
}

// order compares sketches of so many bytes from start on, round to the byte before it, and then
// Seqs.
func order(start, size int) btree.LessFunc[item] {
	rest := min(start+8, size)
	return func(a, b item) bool {
		if a.prefix != b.prefix {
			return a.prefix < b.prefix
		}
		if a.sketch != b.sketch {
			x, y := unsafe.Slice(a.sketch, size), unsafe.Slice(b.sketch, size)
			if n := bytes.Compare(x[rest:], y[rest:]); n != 0 {
				return n < 0
			}
			if n := bytes.Compare(x[:start], y[:start]); n != 0 {
				return n < 0
			}
		}
		return a.seq < b.seq
	}
}

func (m Member) item(start int) item {
	var prefix [8]byte
	copy(prefix[:], m.Sketch[start:])
	return item{binary.BigEndian.Uint64(prefix[:]), unsafe.SliceData(m.Sketch), m.Seq, m.Slot}
}

// Insert adds a member, whose Seq must not be there yet.
func (b *Bucket) Insert(m Member) {
	for i, list := range b.lists {
		list.ReplaceOrInsert(m.item(b.rule.Rotations[i]))
	}
}

// Remove removes the member with this sketch and Seq, if there is one.
func (b *Bucket) Remove(m Member) {
	for i, list := range b.lists {
		list.Delete(m.item(b.rule.Rotations[i]))
	}
}

// Find returns the slot of the member with this sketch and Seq.
func (b *Bucket) Find(m Member) (slot uint32, ok bool) {
	it, ok := b.lists[0].Get(m.item(b.rule.Rotations[0]))
	return it.slot, ok
}

// Len returns the number of members.
func (b *Bucket) Len() int { return b.lists[0].Len() }

// All calls visit with the slot of every member.
func (b *Bucket) All(visit func(slot uint32)) {
	b.lists[0].Ascend(func(it item) bool {
		visit(it.slot)
		return true
	})
}

// Visit calls visit with the slots of those centres that the rule names, of some more than once,
// and reports whether there were others. A live of nil means that all centres are. visit must not
// change the bucket.
func (b *Bucket) Visit(
	sketch []byte, live func(slot uint32) bool, visit func(slot uint32),
) (others bool) {
	if b.Len() <= b.rule.Cap {
		b.All(visit)
		return false
	}
	var room [64]uint32
	seen := room[:0]
	least := b.rule.Cap + 1 // as many live ones tell that there are others
	if live == nil {
		least = 0 // it is known already
	}
	for i := range b.lists {
		// before any that is equal, or it is the one of Seq 0
		at := Member{Sketch: sketch}.item(b.rule.Rotations[i])
		var n int
		if seen, n = b.around(i, at, least, live, seen); n < least {
			b.All(visit)
			return false
		}
		least = 0
	}
	for _, slot := range seen {
		visit(slot)
	}
	return true
}

// around appends the slots of the live neighbours of an item in an order. It goes on until it has
// met at least so many live members, if there are as many, and returns how many it has met.
func (b *Bucket) around(
	order int, at item, least int, live func(slot uint32) bool, dst []uint32,
) (slots []uint32, met int) {
	list, near := b.lists[order], b.rule.Neighbours
	after := walk{live: live, near: near, least: least - near, slots: dst}
	list.AscendGreaterOrEqual(at, after.step)
	before := walk{live: live, near: near, least: least - after.met, slots: after.slots}
	list.DescendLessOrEqual(at, func(it item) bool { return b.same(it, at) || before.step(it) })
	if met = after.met + before.met; met < least && after.met >= after.least {
		rest := walk{live: live, least: least - before.met} // there were few before it
		list.AscendGreaterOrEqual(at, rest.step)
		met = rest.met + before.met
	}
	return before.slots, met
}

// A walk meets members in an order, until it has met a number of live ones, at least least, and has
// the slots of the near first.
type walk struct {
	live             func(slot uint32) bool
	near, least, met int
	slots            []uint32
}

// step meets one member, and reports whether to go on.
func (w *walk) step(it item) (more bool) {
	if w.live == nil || w.live(it.slot) {
		if w.met++; w.met <= w.near {
			w.slots = append(w.slots, it.slot)
		}
	}
	return w.met < max(w.near, w.least)
}

func (b *Bucket) same(x, y item) bool {
	return x.seq == y.seq && bytes.Equal(unsafe.Slice(x.sketch, b.size),
		unsafe.Slice(y.sketch, b.size))
}
