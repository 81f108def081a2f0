package hamming

// chunkLen elements make a chunk: small enough that to make one is no pause, and for an
// empty index to be small.
const chunkLen = 1 << 14

// A chunked is an array that grows by a chunk at a time: growth copies nothing, and an
// element stays where it is. The garbage collector sees a pointer a chunk.
type chunked[T any] struct {
	chunks []*[chunkLen]T
	len    int
}

func (c *chunked[T]) at(i int) *T { return &c.chunks[uint(i)/chunkLen][uint(i)%chunkLen] }

// slice returns n elements from i on, which must be in one chunk.
func (c *chunked[T]) slice(i, n int) []T {
	return c.chunks[uint(i)/chunkLen][uint(i)%chunkLen:][:n:n]
}

// grow appends n elements.
func (c *chunked[T]) grow(n int) {
	c.len += n
	for len(c.chunks)*chunkLen < c.len {
		c.chunks = append(c.chunks, new([chunkLen]T))
	}
}

// slots holds every centre of an index once, in a slot that stays its own.
type slots struct {
	centres chunked[Point]
	free    uint64 // the first free slot plus 1; its Seq is the next one, likewise
	used    int
}

func (s *slots) at(slot uint32) *Point { return s.centres.at(int(slot)) }

// maxSlots is how many slots can be told apart.
const maxSlots = 1 << 32

func (s *slots) insert(c Point) uint32 {
	slot := s.free - 1
	if s.free > 0 {
		s.free = s.at(uint32(slot)).Seq
	} else {
		if slot = uint64(s.centres.len); slot == maxSlots {
			panic("hamming: an index mih holds no more than 2^32 centres")
		}
		s.centres.grow(1)
	}
	s.used++
	*s.at(uint32(slot)) = c
	return uint32(slot)
}

func (s *slots) release(slot uint32) {
	*s.at(slot) = Point{Seq: s.free}
	s.free = uint64(slot) + 1
	s.used--
}

// adopt loads empty slots with the centres, in their order, and keeps the slice: as many
// whole chunks as it makes become the slots.
func (s *slots) adopt(centres []Point) {
	s.used = len(centres)
	for ; len(centres) >= chunkLen; centres = centres[chunkLen:] {
		s.centres.chunks = append(s.centres.chunks, (*[chunkLen]Point)(centres))
	}
	s.centres.len = len(s.centres.chunks) * chunkLen
	for _, c := range centres {
		s.centres.grow(1)
		*s.centres.at(s.centres.len - 1) = c
	}
}
