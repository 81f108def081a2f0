package text

import (
	"math/bits"
	"math/rand/v2"
)

// A table finds tokens by their keys: a hash table with open addressing and linear
// probing, at most half full. A token's key is the number of its word; of a word without
// number it is a part of its hash, unknownKey added, so that others may have the same.
type table struct {
	slots      []slot // as many as a power of two
	keys       []uint32
	shift      uint8  // 64 less the binary logarithm of the number of slots
	multiplier uint64 // random, so that nobody can write a text whose words all collide
}

// slot is free where the key is 0.
type slot struct{ key, token uint32 }

const unknownKey = 1 << 31

// reset empties the table. Its size follows the text, so that a short one has little to
// clear.
func (t *table) reset(textLen int) {
	if t.multiplier == 0 {
		t.multiplier = rand.Uint64() | 1
	}
	t.keys = t.keys[:0]
	t.resize(min(max(textLen/4, 64), 4096))
}

// resize makes room for n slots or more, all free.
func (t *table) resize(n int) {
	log := bits.Len(uint(n - 1))
	t.shift = uint8(64 - log)
	if 1<<log > cap(t.slots) {
		t.slots = make([]slot, 1<<log)
		return
	}
	t.slots = t.slots[:1<<log]
	clear(t.slots)
}

// home returns the slot from which on a key is to be looked for.
func (t *table) home(key uint32) int {
	return int(uint64(key) * t.multiplier >> t.shift)
}

func (t *table) next(i int) int {
	return (i + 1) & (len(t.slots) - 1)
}

// add enters the next token at a free slot.
func (t *table) add(i int, key uint32) {
	t.slots[i] = slot{key, uint32(len(t.keys))}
	t.keys = append(t.keys, key)
	if 2*len(t.keys) <= len(t.slots) {
		return
	}
	t.resize(2 * len(t.slots))
	for token, key := range t.keys {
		i := t.home(key)
		for t.slots[i].key != 0 {
			i = t.next(i)
		}
		t.slots[i] = slot{key, uint32(token)}
	}
}
