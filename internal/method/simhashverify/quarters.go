package simhashverify

import (
	"math/bits"
	"slices"

	"github.com/clusterd/clusterd/internal/method/capped"
)

// quarters are how many tables there are, each of the centres by as many bits of 16.
const quarters = 4

// quarter returns the bits by which a fingerprint is in a table.
func quarter(fingerprint uint64, table int) uint16 { return uint16(fingerprint >> (16 * table)) }

// turn returns the phase in which a centre is offered that differs from the query in these bits.
func turn(differing uint64) int {
	phase := quarters * 64
	for i := range quarters {
		phase = min(phase, quarters*bits.OnesCount16(quarter(differing, i))+i)
	}
	return phase
}

// nextSubset returns the next larger number with as many bits set (Gosper's hack).
func nextSubset(set uint64) uint64 {
	lowest := set & -set
	carried := set + lowest
	return carried | (set^carried)>>(bits.TrailingZeros64(set)+2)
}

// A bucket is the centres with the same quarter: points, which are read without a look elsewhere,
// or a capped bucket where they are more than bucketCap.
type bucket struct {
	points []point
	capped *capped.Bucket
}

type point struct {
	hash uint64
	slot uint32
}

// Of the centres with the same quarter, a query sees all up to bucketCap. Of more, it sees so many
// neighbours on each side in each of some orders of their sketches. A million centres have 15 to a
// quarter, and ten million 150. A query ends after so many quarters that are capped.
const (
	bucketCap  = 256
	neighbours = 16
	maxCapped  = 8
)

// apart is how many bytes there are between the rotations of a table.
const apart = 16

// rule rotates the sketches of a table by other bytes than those of the others: a centre that is in
// several capped buckets is found by more.
func rule(table int) capped.Rule {
	r := capped.Rule{Cap: bucketCap, Neighbours: neighbours}
	for start := 4 * table; start < components/8; start += apart {
		r.Rotations = append(r.Rotations, start)
	}
	return r
}

func (b *bucket) add(x *verified, table int, slot uint32) {
	if b.capped != nil {
		b.capped.Insert(x.member(slot))
		return
	}
	if n := len(b.points); n == cap(b.points) {
		b.points = append(make([]point, 0, n+n/4+1), b.points...)
	}
	b.points = append(b.points, point{x.at(slot).hash(), slot})
	if len(b.points) > bucketCap {
		b.capped = capped.New(rule(table), x.key)
		for _, p := range b.points {
			b.capped.Insert(x.member(p.slot))
		}
		b.points = nil
	}
}

func (b *bucket) remove(x *verified, slot uint32) {
	if b.capped == nil {
		at := slices.IndexFunc(b.points, func(p point) bool { return p.slot == slot })
		last := len(b.points) - 1
		b.points[at] = b.points[last]
		b.points = b.points[:last]
		if 2*last <= cap(b.points) {
			b.points = slices.Clone(b.points) // gives back the room, and takes nil for none
		}
		return
	}
	b.capped.Remove(x.member(slot))
	if b.capped.Len() <= bucketCap/2 {
		b.capped.All(func(slot uint32) { b.points = append(b.points, point{x.at(slot).hash(), slot}) })
		b.points, b.capped = slices.Clip(b.points), nil
	}
}

// find returns the slot of the centre with this key and Seq.
func (b *bucket) find(x *verified, key []byte, seq uint64) (slot uint32, ok bool) {
	if b.capped != nil {
		return b.capped.Find(capped.Member{Sketch: key, Seq: seq})
	}
	for _, p := range b.points {
		if e := x.at(p.slot); e.seq == seq && string(e.key[:]) == string(key) {
			return p.slot, true
		}
	}
	return 0, false
}
