package audit

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
)

// A bitmap is a set of offsets or positions: a bit each, in pages of 8 KiB, so that a number that
// stands far from the others costs a page and no more.
type bitmap map[int64]*[pageBits / 64]uint64

const pageBits = 1 << 16

// add reports whether n, which is not negative, was not in the set before.
func (b bitmap) add(n int64) bool {
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

func (b bitmap) has(n int64) bool {
	page := b[n/pageBits]
	return page != nil && page[n%pageBits/64]&(1<<(n%64)) != 0
}

// all are the numbers in the set, ascending.
func (b bitmap) all() iter.Seq[int64] {
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
