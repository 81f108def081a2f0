package spill

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
)

// A Bitmap is a set of offsets or positions: a bit each, in pages of 8 KiB, so that a number that
// stands far from the others costs one page. Its zero value is an empty set that cannot grow.
type Bitmap map[int64]*[pageBits / 64]uint64

const pageBits = 1 << 16

// Add adds n, which is not negative, and reports whether it was not in the set before.
func (b Bitmap) Add(n int64) bool {
	page := b[n/pageBits]
	if page == nil {
		page = new([pageBits / 64]uint64)
		b[n/pageBits] = page
	}
	word, bit := &page[n%pageBits/64], uint64(1)<<(n%64)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}

// Has reports whether n is in the set.
func (b Bitmap) Has(n int64) bool {
	page := b[n/pageBits]
	return page != nil && page[n%pageBits/64]&(1<<(n%64)) != 0
}

// All returns the numbers in the set, ascending.
func (b Bitmap) All() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, at := range slices.Sorted(maps.Keys(b)) {
			for i, word := range b[at] {
				for ; word != 0; word &= word - 1 {
					if !yield(at*pageBits + int64(i)*64 + int64(bits.TrailingZeros64(word))) {
						return
					}
				}
			}
		}
	}
}

// HasAll reports whether it has all numbers from one on and below another.
func (b Bitmap) HasAll(from, to int64) bool {
	for n := from; n < to; n++ {
		if !b.Has(n) {
			return false
		}
	}
	return true
}
