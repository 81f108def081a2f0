package simhashverify

// chunkLen entries make a chunk: so few that to make one is no pause.
const chunkLen = 1 << 10

// slots hold every centre of an index once, in a slot that stays its own: growth copies nothing.
// Room that is free is used again, but never given back.
type slots struct {
	chunks []*[chunkLen]entry
	free   []uint32
	len    int // slots that were ever used
	used   int
}

func (s *slots) at(slot uint32) *entry { return &s.chunks[slot/chunkLen][slot%chunkLen] }

func (s *slots) put(e entry) (slot uint32) {
	if last := len(s.free) - 1; last >= 0 {
		slot, s.free = s.free[last], s.free[:last]
	} else {
		if s.len == len(s.chunks)*chunkLen {
			s.chunks = append(s.chunks, new([chunkLen]entry))
		}
		slot = uint32(s.len)
		s.len++
	}
	s.used++
	*s.at(slot) = e
	return slot
}

func (s *slots) release(slot uint32) {
	s.free = append(s.free, slot)
	s.used--
}
