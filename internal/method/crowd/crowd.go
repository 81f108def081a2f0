// Package crowd bounds what a query looks at where very many centres share a bucket of an index: texts of one
// template, each too far from the others to join them. Of such a bucket a query sees the centres whose
// sketches are its neighbours in the order of their bytes.
//
// What is seen depends on the query and on the live centres of the bucket alone: not on when they came, nor on
// expired ones that are still there. So it is the same on every machine and after every recovery.
package crowd

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"github.com/google/btree"
)

// degree gives nodes of up to 63 items of 32 bytes.
const degree = 32

// A Rule says what a query sees of a bucket. With up to Most live centres, it sees all of them. With more, it
// sees some in each of several orders, one for each of Starts: that of the sketches as they are when rotated to
// begin with this byte, and of equal sketches by Seq. In each of these it sees the Near live centres just
// before its own sketch, and as many just behind, beginning with those that have the same sketch.
//
// So it always sees the oldest live centre with its own sketch, and most likely those that agree with it
// in a long run of bytes from a start on.
type Rule struct {
	Most, Near int
	Starts     []int
}

// A Member is a centre of a bucket. Its sketch is a view, which must stay as it is for as long as the member
// is in a crowd, and have more bytes than any start.
type Member struct {
	Sketch []byte
	Seq    uint64
	Slot   uint32 // says which it is to the index; makes no difference to the order
}

// A Crowd is the centres of one bucket in all orders. It may be read by many at once while nothing changes it.
type Crowd struct {
	rule  Rule
	size  int // of a sketch
	lists []*btree.BTreeG[item]
}

// An item is a member in one of the orders. prefix are the first bytes of the rotated sketch, which mostly
// decide without a look at the rest.
type item struct {
	prefix uint64
	sketch *byte
	seq    uint64
	slot   uint32
}

// New returns an empty crowd of members whose sketches have so many bytes.
func New(rule Rule, size int) *Crowd {
	c := &Crowd{rule: rule, size: size, lists: make([]*btree.BTreeG[item], len(rule.Starts))}
	for i, start := range rule.Starts {
		c.lists[i] = btree.NewG(degree, order(start, size))
	}
	return c
}

// order compares sketches of so many bytes from start on, round to the byte before it, and then Seqs.
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
func (c *Crowd) Insert(m Member) {
	for i, list := range c.lists {
		list.ReplaceOrInsert(m.item(c.rule.Starts[i]))
	}
}

// Remove takes out the member with this sketch and Seq, if there is one.
func (c *Crowd) Remove(m Member) {
	for i, list := range c.lists {
		list.Delete(m.item(c.rule.Starts[i]))
	}
}

// Find returns the slot of the member with this sketch and Seq.
func (c *Crowd) Find(m Member) (slot uint32, ok bool) {
	it, ok := c.lists[0].Get(m.item(c.rule.Starts[0]))
	return it.slot, ok
}

// Len returns the number of members.
func (c *Crowd) Len() int { return c.lists[0].Len() }

// All calls see with the slot of every member.
func (c *Crowd) All(see func(slot uint32)) {
	c.lists[0].Ascend(func(it item) bool {
		see(it.slot)
		return true
	})
}

// See calls see with the slots of those centres that the rule names, of some more than once, and reports
// whether there were others. A live of nil means that all centres are. see must not change the crowd.
func (c *Crowd) See(sketch []byte, live func(slot uint32) bool, see func(slot uint32)) (others bool) {
	if !c.exceeds(c.rule.Most, live) {
		c.All(see)
		return false
	}
	for i, list := range c.lists {
		at := Member{Sketch: sketch}.item(c.rule.Starts[i]) // before any that is equal, or it is the one of Seq 0
		list.AscendGreaterOrEqual(at, first(c.rule.Near, live, see))
		before := first(c.rule.Near, live, see)
		list.DescendLessOrEqual(at, func(it item) bool { return c.same(it, at) || before(it) })
	}
	return true
}

func (c *Crowd) same(a, b item) bool {
	return a.seq == b.seq && bytes.Equal(unsafe.Slice(a.sketch, c.size), unsafe.Slice(b.sketch, c.size))
}

// exceeds reports whether more than so many members are live.
func (c *Crowd) exceeds(most int, live func(slot uint32) bool) bool {
	if live == nil || c.Len() <= most {
		return c.Len() > most
	}
	c.lists[0].Ascend(func(it item) bool {
		if live(it.slot) {
			most--
		}
		return most >= 0
	})
	return most < 0
}

// first returns an iterator that sees up to the first n live ones.
func first(n int, live func(slot uint32) bool, see func(slot uint32)) btree.ItemIteratorG[item] {
	return func(it item) bool {
		if live == nil || live(it.slot) {
			see(it.slot)
			n--
		}
		return n > 0
	}
}
