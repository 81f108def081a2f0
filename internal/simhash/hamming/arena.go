package hamming

// A unit is room for unitLen entries of a leaf.
const (
	unitLen   = 4
	unitWords = unitLen * (4 + 4) / 8
)

// A subtree is what is at a place of a table: a leaf of n entries, whose memory begins at this unit
// of the arena, or a node, which is at this index of the nodes.
type subtree struct{ at, n uint32 }

const isNode = ^uint32(0) // as n

func (p subtree) node() bool { return p.n == isNode }

// units returns how many of them n entries take.
func units(n uint32) int { return int(n+unitLen-1) / unitLen }

// A leaf is the memory of a leaf, as many units as its entries need. First come the low 16
// bits of the tags of all entries, four in a word, which is nearly all that queries read,
// then the high ones, and then the slots, two in a word.
type leaf []uint64

func (l leaf) units() int { return len(l) / unitWords }

func (l leaf) low() []uint64 { return l[:l.units()] }

func (l leaf) tag(i int) uint32 {
	c, shift := l.units(), i%4*16
	return uint32(l[i/4]>>shift)&0xffff | uint32(l[c+i/4]>>shift)<<16
}

func (l leaf) slot(i int) uint32 { return uint32(l[2*l.units()+i/2] >> (i % 2 * 32)) }

func (l leaf) set(i int, tag, slot uint32) {
	c := l.units()
	setLane(&l[i/4], i%4*16, 16, tag)
	setLane(&l[c+i/4], i%4*16, 16, tag>>16)
	setLane(&l[2*c+i/2], i%2*32, 32, slot)
}

func setLane(word *uint64, shift, width int, value uint32) {
	mask := uint64(1)<<width - 1
	*word = *word&^(mask<<shift) | uint64(value)&mask<<shift
}

// copyFrom takes over the entries of another leaf, as many as there is room for.
func (l leaf) copyFrom(from leaf) {
	c, have := l.units(), from.units()
	copy(l[:c], from[:have])
	copy(l[c:2*c], from[have:2*have])
	copy(l[2*c:], from[2*have:])
}

// low16 returns a word with the low 16 bits of a tag in each of the four lanes of a word.
func low16(tag uint32) uint64 { return uint64(tag&0xffff) * 0x0001_0001_0001_0001 }

// near returns the top bit of every lane of 16 bits of which at most this many are set.
func near(word uint64, maxBits int) uint64 {
	const top = 0x8000_8000_8000_8000
	word -= word >> 1 & 0x5555_5555_5555_5555
	word = word&0x3333_3333_3333_3333 + word>>2&0x3333_3333_3333_3333
	word = (word + word>>4) & 0x0f0f_0f0f_0f0f_0f0f
	word = (word + word>>8) & 0x001f_001f_001f_001f
	return ((uint64(maxBits)*0x0001_0001_0001_0001 | top) - word) & top
}

// An arena allocates leaves.
type arena struct {
	words chunked[uint64]
	// freed are the leaves that are free, by their length in units: the first one's unit plus 1.
	// Its first word is the next one, likewise.
	freed [leafMax/unitLen + 1]uint32
	// moved counts entries that were copied to make or use room.
	moved uint64
}

func (a *arena) leaf(p subtree) leaf {
	return a.words.slice(int(p.at)*unitWords, units(p.n)*unitWords)
}

// alloc returns a leaf with room for n entries.
func (a *arena) alloc(n uint32) subtree {
	want := units(n)
	if want == 0 {
		return subtree{}
	}
	for have := want; have < len(a.freed); have++ {
		if first := a.freed[have]; first > 0 {
			at := first - 1
			a.freed[have] = uint32(*a.words.at(int(at) * unitWords))
			a.freeUnits(at+uint32(want), have-want)
			return subtree{at, n}
		}
	}
	// A leaf is in one chunk: what the last one has left may not be enough.
	if left := (chunkLen - a.words.len%chunkLen) % chunkLen / unitWords; left < want {
		a.words.grow(left * unitWords)
		a.freeUnits(uint32(a.words.len/unitWords-left), left)
	}
	at := a.words.len / unitWords
	a.words.grow(want * unitWords)
	return subtree{uint32(at), n}
}

// free frees the room of a leaf.
func (a *arena) free(p subtree) { a.freeUnits(p.at, units(p.n)) }

func (a *arena) freeUnits(at uint32, units int) {
	if units > 0 {
		*a.words.at(int(at) * unitWords) = uint64(a.freed[units])
		a.freed[units] = at + 1
	}
}

// resize makes a leaf one of n entries, and keeps as many of those that it had.
func (a *arena) resize(p *subtree, n uint32) {
	if units(n) == units(p.n) {
		p.n = n
		return
	}
	to := a.alloc(n)
	if p.n > 0 && n > 0 {
		a.leaf(to).copyFrom(a.leaf(*p))
		a.moved += uint64(min(p.n, n))
	}
	a.free(*p)
	*p = to
}

// appendEntry appends an entry to a leaf.
func (a *arena) appendEntry(p *subtree, tag, slot uint32) {
	a.resize(p, p.n+1)
	a.leaf(*p).set(int(p.n-1), tag, slot)
}

// clone returns a copy of a leaf.
func (a *arena) clone(p subtree) subtree {
	to := a.alloc(p.n)
	a.leaf(to).copyFrom(a.leaf(p))
	a.moved += uint64(p.n)
	return to
}
