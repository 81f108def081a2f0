package minhash

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// maxCounted is how many distinct shingles are counted exactly. Of more, an estimate has a standard
// error of some .5 %.
const maxCounted = 1 << 16

// A distinctCounter counts the distinct shingles of one text after the other, in memory that it
// uses again: at most a megabyte.
//
// It counts a sample of hashes, by distinct sampling (Gibbons, "Distinct Sampling for Highly-
// Accurate Answers to Distinct Values Queries and Event Reports", VLDB 2001): those that a hash
// function takes to a number with at least level zeros at its end. The level is the least that
// leaves no more than maxCounted. So the count depends on the set of shingles alone.
type distinctCounter struct {
	// table is one of open addressing. Its hash function is another in each process, so that nobody
	// can make texts whose shingles all go to one place. It makes no difference to what is counted.
	table   []uint64 // 0 is an empty place
	odd     uint64
	shift   uint
	level   int
	counted int // distinct shingles in the table
	zero    int // 1 where shingle 0 is in the sample: it has no place in the table
}

func newDistinctCounter() *distinctCounter { return &distinctCounter{odd: rand.Uint64() | 1} }

// count returns how many distinct shingles there are of these.
func (c *distinctCounter) count(shingles []uint64) int {
	size := 2 << bits.Len(uint(min(len(shingles), maxCounted)))
	if len(c.table) < size {
		c.table = make([]uint64, size)
	}
	c.shift = 64 - uint(bits.Len(uint(size-1)))
	clear(c.table[:size])
	c.level, c.counted, c.zero = 0, 0, 0
	table, mask := c.table[:size], uint64(size-1)
	for _, s := range shingles {
		if c.level > 0 && !c.sampled(s) {
			continue
		}
		if s == 0 {
			c.zero = 1
			continue
		}
		at := s * c.odd >> c.shift
		for table[at] != s && table[at] != 0 {
			at = (at + 1) & mask
		}
		if table[at] == s {
			continue
		}
		table[at] = s
		for c.counted++; c.counted > maxCounted; {
			c.thin(table)
		}
	}
	return min((c.counted+c.zero)<<min(c.level, 32), len(shingles))
}

func (c *distinctCounter) sampled(shingle uint64) bool {
	return bits.TrailingZeros64(random(shingle, 0)) >= c.level
}

// thin goes to the next level.
func (c *distinctCounter) thin(table []uint64) {
	c.level++
	before, mask := slices.Clone(table), uint64(len(table)-1)
	clear(table)
	c.counted = 0
	if c.zero == 1 && !c.sampled(0) {
		c.zero = 0
	}
	for _, s := range before {
		if s == 0 || !c.sampled(s) {
			continue
		}
		at := s * c.odd >> c.shift
		for table[at] != 0 {
			at = (at + 1) & mask
		}
		table[at] = s
		c.counted++
	}
}
