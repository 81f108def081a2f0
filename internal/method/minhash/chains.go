package minhash

import "math/bits"

const (
	// chainLoad is how many centres there are to a bucket. BenchmarkNearest and BenchmarkMemory set
	// it.
	chainLoad = 3
	// maxSlots is how many slots can be told apart, and none.
	maxSlots = 1<<32 - 1
	// none is a place where no slot is. Elsewhere it is the slot plus 1.
	none = 0
)

// chains are the hash tables of an index, one for each band: linear hash tables (Litwin, "Linear
// Hashing", VLDB 1980) all of the same size, whose entries are chained. There is a bucket more for
// every chainLoad centres, and it takes its share from one other, so that growth never stops for
// long.
//
// Hashes are not kept: they are computed from the signature where they are needed.
type chains struct {
	heads chunkedRows[uint32] // of a bucket in each band
	links chunkedRows[uint32] // of a slot in each band, the next one of its bucket
}

func newChains(bands int) chains {
	c := chains{heads: chunkedRows[uint32]{width: bands}, links: chunkedRows[uint32]{width: bands}}
	c.heads.push()
	return c
}

// push makes room for the links of one slot more, and pop removes those of the last one.
func (c *chains) push() { c.links.push() }
func (c *chains) pop()  { c.links.pop() }

// bucket returns the bucket of a hash: its low bits, of which one more counts for buckets that have
// been split and what they were split into.
func (c *chains) bucket(hash uint64) int {
	level := bits.Len(uint(c.heads.len)) - 1
	if b := int(hash & (2<<level - 1)); b < c.heads.len {
		return b
	}
	return int(hash & (1<<level - 1))
}

// head returns where the first slot of a hash is.
func (c *chains) head(band int, hash uint64) *uint32 { return &c.heads.at(c.bucket(hash))[band] }

// next returns where the slot after this one is.
func (c *chains) next(slot uint32, band int) *uint32 { return &c.links.at(int(slot))[band] }

func (c *chains) add(slot uint32, band int, hash uint64) {
	head := c.head(band, hash)
	*c.next(slot, band) = *head
	*head = slot + 1
}

// find sets places in the chains of bands, counted from the first band, to those that point at a
// slot, which must be behind each of them. It follows the chains in turn, which takes about as long
// as the query did before the centre was inserted. Where a place is nil, nothing is found.
func (c *chains) find(slot uint32, first int, places *[together]*uint32) {
	for more := true; more; {
		more = false
		for i, at := range places {
			if at != nil && *at != slot+1 {
				places[i] = c.next(*at-1, first+i)
				more = true
			}
		}
	}
}

// lengths returns how many slots there are from a place on in the chain of each band, counted from
// the first band. It follows the chains in turn.
func (c *chains) lengths(next [together]uint32, first int) (n [together]int) {
	for more := true; more; {
		more = false
		for i, at := range next {
			if at != none {
				next[i] = *c.next(at-1, first+i)
				n[i]++
				more = true
			}
		}
	}
	return n
}

func (c *chains) overloaded() bool { return c.links.len > chainLoad*c.heads.len }

// sparse leaves some buckets more than overloaded asks for, so that centres that come and go do not
// split and merge the same one.
func (c *chains) sparse() bool { return c.links.len < chainLoad*(c.heads.len-spare) }

// expect makes empty tables as large as so many centres need.
func (c *chains) expect(n int) {
	for c.heads.len < n/chainLoad {
		clear(c.heads.push())
	}
}

// sibling returns the bucket that the last one was split from.
func (c *chains) sibling() int {
	last := uint(c.heads.len - 1)
	return int(last &^ (1 << (bits.Len(last) - 1)))
}

// split makes one bucket more. hash returns that of a slot in a band.
func (c *chains) split(hash func(slot uint32, band int) uint64) {
	added := c.heads.push()
	clear(added)
	from := c.heads.at(c.sibling())
	for first := 0; first < len(from); first += together {
		c.partition(from, first, min(first+together, len(from)), hash)
	}
}

// partition moves the slots of some bands of a bucket to where they now belong. It takes one slot
// of each band at a time, and hashes all of them before it moves one, so that it waits for memory
// once for all.
func (c *chains) partition(
	bucket []uint32, first, end int, hash func(slot uint32, band int) uint64,
) {
	var rest [together]uint32 // of the chains
	copy(rest[:], bucket[first:end])
	clear(bucket[first:end])
	for more := true; more; {
		more = false
		var slots [together]uint32
		var hashes [together]uint64
		for i := range end - first {
			if rest[i] != none {
				slots[i] = rest[i]
				rest[i] = *c.next(slots[i]-1, first+i)
				hashes[i] = hash(slots[i]-1, first+i)
				more = true
			}
		}
		for i := range end - first {
			if slots[i] != none {
				c.add(slots[i]-1, first+i, hashes[i])
			}
		}
	}
}

// merge removes the last bucket.
func (c *chains) merge() {
	last, into := c.heads.at(c.heads.len-1), c.heads.at(c.sibling())
	for band := range last {
		end := &last[band]
		for *end != none {
			end = c.next(*end-1, band)
		}
		*end = into[band]
		into[band] = last[band]
	}
	c.heads.pop()
}
