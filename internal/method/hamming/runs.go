package hamming

// A unit is room for unitLen entries of a leaf.
const (
	unitLen   = 4
	unitWords = unitLen * (4 + 4) / 8
)

// A ref is a place in a table where centres are. It is a leaf of n entries, whose run
// begins at this unit, or a node, which is at this place among the nodes.
type ref struct{ at, n uint32 }

const isNode = ^uint32(0) // as n

func (p ref) node() bool { return p.n == isNode }

// units returns how many of them n entries take.
func units(n uint32) int { return int(n+unitLen-1) / unitLen }

// A run is the memory of a leaf, as many units as its entries need. First come the low 16
// bits of the tags of all entries, four in a word, which is nearly all that queries read,
// then the high ones, and then the slots, two in a word.
type run []uint64

func (r run) units() int { return len(r) / unitWords }

func (r run) low() []uint64 { return r[:r.units()] }

func (r run) tag(i int) uint32 {
	c, shift := r.units(), i%4*16
	return uint32(r[i/4]>>shift)&0xffff | uint32(r[c+i/4]>>shift)<<16
}

func (r run) slot(i int) uint32 { return uint32(r[2*r.units()+i/2] >> (i % 2 * 32)) }

func (r run) set(i int, tag, slot uint32) {
	c := r.units()
	setLane(&r[i/4], i%4*16, 16, tag)
	setLane(&r[c+i/4], i%4*16, 16, tag>>16)
	setLane(&r[2*c+i/2], i%2*32, 32, slot)
}

func setLane(word *uint64, shift, width int, value uint32) {
	mask := uint64(1)<<width - 1
	*word = *word&^(mask<<shift) | uint64(value)&mask<<shift
}

// copy takes over the entries of another run, as many as there is room for.
func (r run) copy(from run) {
	c, have := r.units(), from.units()
	copy(r[:c], from[:have])
	copy(r[c:2*c], from[have:2*have])
	copy(r[2*c:], from[2*have:])
}

// low16 has the low 16 bits of a tag in each of the four lanes of a word.
func low16(tag uint32) uint64 { return uint64(tag&0xffff) * 0x0001_0001_0001_0001 }

// near returns the top bit of every lane of 16 bits of which at most this many are set.
func near(word uint64, most int) uint64 {
	const top = 0x8000_8000_8000_8000
	word -= word >> 1 & 0x5555_5555_5555_5555
	word = word&0x3333_3333_3333_3333 + word>>2&0x3333_3333_3333_3333
	word = (word + word>>4) & 0x0f0f_0f0f_0f0f_0f0f
	word = (word + word>>8) & 0x001f_001f_001f_001f
	return ((uint64(most)*0x0001_0001_0001_0001 | top) - word) & top
}

// runs allocates runs.
type runs struct {
	words chunked[uint64]
	// free are the free runs, by their length in units: the first one's unit plus 1.
	// Its first word is the next one, likewise.
	free [leafMax/unitLen + 1]uint32
	// moved counts entries that were copied to make or use room.
	moved uint64
}

func (r *runs) run(p ref) run {
	return r.words.slice(int(p.at)*unitWords, units(p.n)*unitWords)
}

// make returns a leaf with room for n entries.
func (r *runs) make(n uint32) ref {
	want := units(n)
	if want == 0 {
		return ref{}
	}
	for have := want; have < len(r.free); have++ {
		if first := r.free[have]; first > 0 {
			at := first - 1
			r.free[have] = uint32(*r.words.at(int(at) * unitWords))
			r.release(at+uint32(want), have-want)
			return ref{at, n}
		}
	}
	// A run is in one chunk: what the last one has left may not be enough.
	if left := (chunkLen - r.words.len%chunkLen) % chunkLen / unitWords; left < want {
		r.words.grow(left * unitWords)
		r.release(uint32(r.words.len/unitWords-left), left)
	}
	at := r.words.len / unitWords
	r.words.grow(want * unitWords)
	return ref{uint32(at), n}
}

// drop frees the room of a leaf.
func (r *runs) drop(p ref) { r.release(p.at, units(p.n)) }

func (r *runs) release(at uint32, units int) {
	if units > 0 {
		*r.words.at(int(at) * unitWords) = uint64(r.free[units])
		r.free[units] = at + 1
	}
}

// resize makes a leaf one of n entries, as many of which as there were stay.
func (r *runs) resize(p *ref, n uint32) {
	if units(n) == units(p.n) {
		p.n = n
		return
	}
	to := r.make(n)
	if p.n > 0 && n > 0 {
		r.run(to).copy(r.run(*p))
		r.moved += uint64(min(p.n, n))
	}
	r.drop(*p)
	*p = to
}

// add appends an entry to a leaf.
func (r *runs) add(p *ref, tag, slot uint32) {
	r.resize(p, p.n+1)
	r.run(*p).set(int(p.n-1), tag, slot)
}

// clone returns a copy of a leaf.
func (r *runs) clone(p ref) ref {
	to := r.make(p.n)
	r.run(to).copy(r.run(p))
	r.moved += uint64(p.n)
	return to
}
