package minhash

import (
	"github.com/clusterd/clusterd/internal/method/capped"
)

// Of the centres that share a band, a query sees all up to bucketCap. Of more, it sees so many
// neighbours on each side in the order of the signatures. Of the articles in docs/quality.md no
// more than 13 centres share a band.
const (
	bucketCap  = 32
	neighbours = 8
)

// cappedBuckets are the centres that share a band with more than bucketCap, by its bytes. They are
// in no table.
type cappedBuckets map[string]*capped.Bucket

// member returns a slot as a capped bucket has it.
func (x *index) member(slot uint32) capped.Member {
	return capped.Member{Sketch: x.signature(slot), Seq: x.seq(slot), Slot: slot}
}

// cappedBucket returns that of a band of a signature, nil if there is none.
func (x *index) cappedBucket(signature []byte, band int) *capped.Bucket {
	if len(x.capped[band]) == 0 {
		return nil
	}
	return x.capped[band][string(x.band(signature, band))]
}

// put puts a slot where queries for its band find it.
func (x *index) put(slot uint32, band int) {
	if c := x.cappedBucket(x.signature(slot), band); c != nil {
		c.Insert(x.member(slot))
		return
	}
	hash := x.hash(slot, band)
	p := x.tables.Add(band, hash, slot)
	if p.Sharing(bucketCap) <= bucketCap {
		return
	}
	if sharers := x.sharers(slot, band, p); len(sharers) > bucketCap {
		x.makeCapped(sharers, band, hash)
	}
}

// sharers returns those of a probe that have the same band as a slot.
func (x *index) sharers(slot uint32, band int, p Probe) (sharers []uint32) {
	key := string(x.band(x.signature(slot), band))
	p.All(func(may uint32) {
		if string(x.band(x.signature(may), band)) == key {
			sharers = append(sharers, may)
		}
	})
	return sharers
}

// makeCapped makes a capped bucket of those that have the same band, and this hash of it.
func (x *index) makeCapped(sharers []uint32, band int, hash uint64) {
	rule := capped.Rule{
		Cap: bucketCap, Neighbours: neighbours, Rotations: []int{(band + 1) * x.rows % x.hashes},
	}
	c := capped.New(rule, x.signature)
	for _, slot := range sharers {
		x.tables.Remove(band, hash, slot)
		c.Insert(x.member(slot))
	}
	if x.capped[band] == nil {
		x.capped[band] = make(cappedBuckets)
	}
	x.capped[band][string(x.band(x.signature(sharers[0]), band))] = c
}

// take removes a slot from where put has put it.
func (x *index) take(slot uint32, band int) {
	if c := x.cappedBucket(x.signature(slot), band); c != nil {
		x.leave(c, slot, band)
	} else {
		x.tables.Remove(band, x.hash(slot, band), slot)
	}
}

// leave removes a slot from a capped bucket, and the bucket where few are left.
func (x *index) leave(c *capped.Bucket, slot uint32, band int) {
	c.Remove(x.member(slot))
	if c.Len() <= bucketCap/2 {
		delete(x.capped[band], string(x.band(x.signature(slot), band)))
		c.All(func(slot uint32) { x.tables.Add(band, x.hash(slot, band), slot) })
	}
}

// move puts one slot in the place of another, which is in no table. The sketch is in both.
func (x *index) move(from, to uint32, band int) {
	if c := x.cappedBucket(x.signature(to), band); c != nil {
		c.Remove(x.member(from))
		c.Insert(x.member(to))
	} else {
		x.tables.Replace(band, x.hash(from, band), from, to)
	}
}
