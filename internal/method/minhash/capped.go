package minhash

import "github.com/clusterd/clusterd/internal/method/capped"

// Of the centres that share a band, a query sees all up to bucketCap. Of more, it sees so many
// neighbours on each side in the order of the signatures. Of the articles in docs/quality.md no
// more than 13 centres share a band.
const (
	bucketCap  = 32
	neighbours = 8
)

// cappedBuckets are the centres that share a band with more than bucketCap, by its bytes. They are
// in no chain.
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

// link puts a slot where queries for its bands from first up to end find it.
func (x *index) link(slot uint32, first, end int) {
	var hashes [together]uint64
	var next [together]uint32 // in the chains
	for band := first; band < end; band++ {
		if c := x.cappedBucket(x.signature(slot), band); c != nil {
			c.Insert(x.member(slot))
			continue
		}
		hashes[band-first] = x.hash(slot, band)
		x.chains.add(slot, band, hashes[band-first])
		next[band-first] = slot + 1
	}
	for i, n := range x.chains.lengths(next, first) {
		if n > bucketCap && x.sharers(slot, first+i, hashes[i]) > bucketCap {
			x.makeCapped(slot, first+i, hashes[i])
		}
	}
}

// sharers returns how many of a chain have the same band as a slot.
func (x *index) sharers(slot uint32, band int, hash uint64) (n int) {
	key := string(x.band(x.signature(slot), band))
	for at := *x.chains.head(band, hash); at != none; at = *x.chains.next(at-1, band) {
		if string(x.band(x.signature(at-1), band)) == key {
			n++
		}
	}
	return n
}

// makeCapped makes a capped bucket of those in a chain that have the same band as a slot.
func (x *index) makeCapped(slot uint32, band int, hash uint64) {
	key := string(x.band(x.signature(slot), band))
	rule := capped.Rule{
		Cap: bucketCap, Neighbours: neighbours, Rotations: []int{(band + 1) * x.rows % x.hashes},
	}
	c := capped.New(rule, x.hashes)
	for at := x.chains.head(band, hash); *at != none; {
		if member := *at - 1; string(x.band(x.signature(member), band)) == key {
			*at = *x.chains.next(member, band)
			c.Insert(x.member(member))
		} else {
			at = x.chains.next(member, band)
		}
	}
	if x.capped[band] == nil {
		x.capped[band] = make(cappedBuckets)
	}
	x.capped[band][key] = c
}

// unlink removes a slot from where link has put it.
func (x *index) unlink(slot uint32, first, end int) {
	var places [together]*uint32 // in the chains
	for band := first; band < end; band++ {
		if c := x.cappedBucket(x.signature(slot), band); c != nil {
			x.leave(c, slot, band)
		} else {
			places[band-first] = x.chains.head(band, x.hash(slot, band))
		}
	}
	x.chains.find(slot, first, &places)
	for i, at := range places {
		if at != nil {
			*at = *x.chains.next(slot, first+i)
		}
	}
}

// leave removes a slot from a capped bucket, and the bucket where few are left.
func (x *index) leave(c *capped.Bucket, slot uint32, band int) {
	c.Remove(x.member(slot))
	if c.Len() <= bucketCap/2 {
		delete(x.capped[band], string(x.band(x.signature(slot), band)))
		c.All(func(slot uint32) { x.chains.add(slot, band, x.hash(slot, band)) })
	}
}

// move puts one slot in the place of another, which is linked nowhere, for bands from first up to
// end. The sketch is in both.
func (x *index) move(from, to uint32, first, end int) {
	var places [together]*uint32 // in the chains
	for band := first; band < end; band++ {
		if c := x.cappedBucket(x.signature(to), band); c != nil {
			c.Remove(x.member(from))
			c.Insert(x.member(to))
		} else {
			places[band-first] = x.chains.head(band, x.hash(from, band))
		}
	}
	x.chains.find(from, first, &places)
	for i, at := range places {
		if at != nil {
			*at = to + 1
			*x.chains.next(to, first+i) = *x.chains.next(from, first+i)
		}
	}
}

// eachBands calls do for all bands, so many at a time as chains are followed in turn.
func (x *index) eachBands(do func(first, end int)) {
	for band := 0; band < x.bands; band += together {
		do(band, min(band+together, x.bands))
	}
}
