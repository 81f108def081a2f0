package minhash

import "math/bits"

const (
	// unitLen entries are the unit in which leaves get memory.
	unitLen = 4
	// leafMax entries are the most that are in an arena.
	leafMax = 63 * unitLen
	// arenaChunk entries are a chunk of an arena.
	arenaChunk = 1 << 14
	// minFreed is how many units are free before an arena goes for that.
	minFreed = 2 * arenaChunk / unitLen
)

// A leaf is the memory of a bucket: n entries, from this unit of an arena on.
type leaf struct{ at, n uint32 }

// inSecond is the bit of a leaf's place that says in which arena it is.
const inSecond = 1 << 31

// An arena allocates leaves. Where much of its memory is free, a second one takes its place: leaves
// move there a few at a time, and then all of the first is given back.
type arena struct {
	parts   [2]arenaPart
	current uint32             // 0 or inSecond: where leaves are allocated
	moved   int                // buckets, of those whose leaves are to move
	large   map[uint32][]entry // leaves of more than leafMax, by their places
	next    uint32             // the place of the next one
	read    entry              // keeps the compiler from leaving reads out; it means nothing
}

type arenaPart struct {
	chunks []*[arenaChunk]entry
	units  uint32 // that were allocated, or are free
	unused uint32 // of them, that are free
	// freed is, by length in units, the first free leaf plus 1; there is the next one, likewise.
	freed [leafMax/unitLen + 1]uint32
	some  uint64 // a bit for each length of which there are free ones
}

func unitsOf(n uint32) uint32 { return (n + unitLen - 1) / unitLen }

func (a *arena) part(at uint32) *arenaPart { return &a.parts[at/inSecond] }

func (a *arena) entries(l leaf) []entry {
	switch {
	case l.n == 0:
		return nil
	case l.n > leafMax:
		return a.large[l.at]
	default:
		return a.part(l.at).slice(l.at&^inSecond, l.n)
	}
}

// slice returns n entries from a unit on.
func (p *arenaPart) slice(unit, n uint32) []entry {
	const units = arenaChunk / unitLen
	start := unit % units * unitLen
	return p.chunks[unit/units][start : start+n : start+n]
}

// alloc returns a leaf with room for n entries.
func (a *arena) alloc(n uint32) leaf {
	if n > leafMax {
		if a.large == nil {
			a.large = make(map[uint32][]entry)
		}
		a.next++
		a.large[a.next] = make([]entry, n)
		return leaf{a.next, n}
	}
	if n == 0 {
		return leaf{}
	}
	return leaf{a.part(a.current).alloc(unitsOf(n)) | a.current, n}
}

// alloc returns the first of so many units: free ones that are as many, or the first of the fewest
// that are at least two more, or new ones. Nearly all leaves are longer than the unit that would be
// left of those that are one more: it would stay free.
func (p *arenaPart) alloc(units uint32) uint32 {
	if more := p.some &^ (1 << (units + 1)) >> units << units; more != 0 {
		have := uint32(bits.TrailingZeros64(more))
		at := p.freed[have] - 1
		if p.freed[have] = uint32(p.slice(at, 1)[0]); p.freed[have] == 0 {
			p.some &^= 1 << have
		}
		p.unused -= have
		p.free(at+units, have-units)
		return at
	}
	// A leaf is in one chunk: what the last one has left may not be enough.
	const chunk = arenaChunk / unitLen
	if left := (chunk - p.units%chunk) % chunk; left < units {
		at := p.units
		p.units += left
		p.free(at, left)
		if p.units == inSecond {
			panic("banding: tables hold no more than 2^33 entries")
		}
		p.chunks = append(p.chunks, new([arenaChunk]entry))
	}
	p.units += units
	return p.units - units
}

// free frees so many units, which are in one chunk and fewer than 64.
func (p *arenaPart) free(at, units uint32) {
	if units == 0 {
		return
	}
	p.slice(at, 1)[0] = entry(p.freed[units])
	p.freed[units] = at + 1
	p.some |= 1 << units
	p.unused += units
}

// free frees the room of a leaf. One in the arena that is to go stays there.
func (a *arena) free(l leaf) {
	if l.n > leafMax {
		delete(a.large, l.at)
	} else if l.n > 0 && l.at&inSecond == a.current {
		a.part(l.at).free(l.at&^inSecond, unitsOf(l.n))
	}
}

// resize makes room for n entries in a leaf, and keeps as many of those that it had.
func (a *arena) resize(l *leaf, n uint32) {
	if n <= leafMax && l.n <= leafMax && unitsOf(n) == unitsOf(l.n) {
		l.n = n
		return
	}
	to := a.alloc(n)
	copy(a.entries(to), a.entries(*l))
	a.free(*l)
	*l = to
}

func (a *arena) append(l *leaf, e entry) {
	if l.n >= leafMax {
		a.appendLarge(l, e)
		return
	}
	a.resize(l, l.n+1)
	a.entries(*l)[l.n-1] = e
}

// appendLarge appends to a leaf that is large then, by the rule of Go's append.
func (a *arena) appendLarge(l *leaf, e entry) {
	if l.n == leafMax {
		a.resize(l, leafMax+1)
		a.large[l.at][leafMax] = e
		return
	}
	a.large[l.at] = append(a.large[l.at], e)
	l.n++
}

// shorten drops the last entry of a leaf.
func (a *arena) shorten(l *leaf) {
	if l.n > leafMax+1 {
		l.n--
		a.large[l.at] = a.large[l.at][:l.n]
	} else {
		a.resize(l, l.n-1)
	}
	if p := a.part(a.current); !a.evacuating() && p.unused > max(minFreed, p.units/4) {
		a.current ^= inSecond
		a.moved = 0
	}
}

// evacuating reports whether an arena is to go.
func (a *arena) evacuating() bool { return a.part(a.current^inSecond).units > 0 }

// move returns a leaf that is in the current arena.
func (a *arena) move(l leaf) leaf {
	if l.n == 0 || l.n > leafMax || l.at&inSecond == a.current {
		return l
	}
	to := a.alloc(l.n)
	copy(a.entries(to), a.entries(l))
	return to
}

// release gives the arena back that has no leaves any more.
func (a *arena) release() { *a.part(a.current ^ inSecond) = arenaPart{} }
