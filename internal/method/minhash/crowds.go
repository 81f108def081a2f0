package minhash

import "github.com/clusterd/clusterd/internal/method/crowd"

// Of centres that have a band in common, a query sees all up to crowded, and of more than that the nearest
// in the order of the signatures, so many on each side. Of the articles in docs/quality.md no more than 13
// centres share a band.
const (
	crowded = 32
	near    = 8
)

// crowds are the centres of a band that very many have, by the band's bytes; they are in no chain.
type crowds map[string]*crowd.Crowd

// member is a slot as a crowd has it.
func (x *index) member(slot uint32) crowd.Member {
	return crowd.Member{Sketch: x.signature(slot), Seq: x.seq(slot), Slot: slot}
}

// crowd returns that of a band of a signature, nil if there is none.
func (x *index) crowd(signature []byte, band int) *crowd.Crowd {
	if len(x.crowds[band]) == 0 {
		return nil
	}
	return x.crowds[band][string(x.band(signature, band))]
}

// link puts a slot where a query for a band of it finds it.
func (x *index) link(slot uint32, band int) {
	if c := x.crowd(x.signature(slot), band); c != nil {
		c.Insert(x.member(slot))
		return
	}
	hash := x.hash(slot, band)
	x.chains.add(slot, band, hash)
	if x.sharers(slot, band, hash) > crowded {
		x.gather(slot, band, hash)
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

// gather makes a crowd of those in a chain that have the same band as a slot.
func (x *index) gather(slot uint32, band int, hash uint64) {
	key := string(x.band(x.signature(slot), band))
	c := crowd.New(crowd.Rule{Most: crowded, Near: near, Starts: []int{(band + 1) * x.rows % x.hashes}}, x.hashes)
	for at := x.chains.head(band, hash); *at != none; {
		if member := *at - 1; string(x.band(x.signature(member), band)) == key {
			*at = *x.chains.next(member, band)
			c.Insert(x.member(member))
		} else {
			at = x.chains.next(member, band)
		}
	}
	if x.crowds[band] == nil {
		x.crowds[band] = make(crowds)
	}
	x.crowds[band][key] = c
}

// unlink takes a slot out of where link has put it.
func (x *index) unlink(slot uint32, band int) {
	signature := x.signature(slot)
	c := x.crowd(signature, band)
	if c == nil {
		x.chains.remove(slot, band, x.hash(slot, band))
		return
	}
	c.Remove(x.member(slot))
	if c.Len() <= crowded/2 {
		delete(x.crowds[band], string(x.band(signature, band)))
		c.All(func(slot uint32) { x.chains.add(slot, band, x.hash(slot, band)) })
	}
}

// move puts one slot in the place of another, which is linked nowhere.
func (x *index) move(from, to uint32) {
	copy(x.signature(to), x.signature(from))
	x.seqs.at(int(to))[0] = x.seq(from)
	for band := range x.bands {
		if c := x.crowd(x.signature(to), band); c != nil {
			c.Remove(x.member(from))
			c.Insert(x.member(to))
		} else {
			x.chains.move(from, to, band, x.hash(from, band))
		}
	}
}
