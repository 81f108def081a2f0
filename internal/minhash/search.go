package minhash

import (
	"bytes"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// together is how many chains are followed at once, so that it waits for memory once a step, and not
// once a step of each.
const together = 8

// A search is one query: it follows the chain of each band of a signature.
type search struct {
	*index
	signature []byte
	best      singlepass.Nearest[uint32, int] // of slots
	compared  uint64
}

func (x *index) Nearest(
	f singlepass.Fingerprint, live func(singlepass.Centre) bool,
) (c singlepass.Centre, distance float64, ok bool) {
	var alive func(uint32) bool
	if live != nil {
		alive = func(slot uint32) bool { return live(x.centre(slot)) }
	}
	s := search{
		index: x, signature: unsafe.Slice(unsafe.StringData(f.Sketch), len(f.Sketch)), // only read
		best: singlepass.NewNearest(x.differ, alive),
	}
	// A centre that differs in fewer places than there were bands so far agrees in one of
	// them, and has been seen.
	for band := 0; band < x.bands && s.best.Reach() >= band; band += together {
		s.follow(band, min(band+together, x.bands))
	}
	x.candidates.Add(s.compared)
	slot, differ, ok := s.best.Result()
	if !ok {
		return singlepass.Centre{}, 0, false
	}
	return x.centre(slot), float64(differ) / float64(x.hashes), true
}

// follow offers the centres that agree with the query in a band from first up to end, and in none before.
func (s *search) follow(first, end int) {
	var ahead [together]uint32
	for band := first; band < end; band++ {
		ahead[band-first] = *s.chains.head(band, xxh3.Hash(s.band(s.signature, band)))
	}
	for on := true; on; {
		on = false
		for band := first; band < end; band++ {
			at := &ahead[band-first]
			if *at == none {
				continue
			}
			on = true
			slot := *at - 1
			*at = *s.chains.next(slot, band)
			if signature := s.index.signature(slot); s.agree(signature, band) && !s.agreeBefore(signature, band) {
				s.offer(slot, signature)
			}
		}
	}
}

func (s *search) agree(signature []byte, band int) bool {
	return bytes.Equal(s.band(signature, band), s.band(s.signature, band))
}

// agreeBefore reports whether the centre has had its turn, so that it does once.
func (s *search) agreeBefore(signature []byte, band int) bool {
	for b := range band {
		if s.agree(signature, b) {
			return true
		}
	}
	return false
}

func (s *search) offer(slot uint32, signature []byte) {
	s.compared++
	s.best.Offer(slot, s.seq(slot), differingUpTo(signature, s.signature, s.best.Reach()))
}
