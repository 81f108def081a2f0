package minhash

import (
	"bytes"
	"unsafe"

	"github.com/clusterd/clusterd/internal/method/capped"
	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// together is of how many bands the buckets are read from memory before the first of them is
// searched, so that a query waits once for all of them, and not once for each.
const together = 8

// remembered is how many of the centres that it has offered a search recognises at a glance.
const remembered = 1024

// A search is one query. For each band of a signature it sees what is in the bucket, or its
// neighbours in a capped one.
type search struct {
	*index
	signature []byte
	size      jaccard.Size                       // nothing where no sketch has it
	live      func(slot uint32, seq uint64) bool // nil: all are
	best      singlepass.Nearest[uint32, int]
	compared  uint64
	whole     int                    // bands so far of which it has seen all centres
	partly    [MaxHashes / 64]uint64 // the others, a bit for each
	met       [32]meeting            // that are not offered yet
	waiting   int                    // of met
	slots     [bucketCap]uint32      // room for what is seen of a capped bucket
	read      byte                   // keeps the compiler from leaving reads out; it means nothing
	// of centres that were, one more than the last slot with this remainder; 0 for none
	offered [remembered]uint32
}

func (x *index) Nearest(
	f singlepass.Fingerprint, live *singlepass.Live,
) (c singlepass.Centre, distance float64, ok bool) {
	// only read
	s := search{index: x, signature: unsafe.Slice(unsafe.StringData(f.Sketch), x.hashes)}
	s.size = sizeIn(f.Sketch, x.hashes)
	var lives func(slot uint32) bool
	if live != nil {
		lives = func(slot uint32) bool { return live.Asked(x.view(slot)) }
		s.live = func(slot uint32, seq uint64) bool { return live.IsSure(seq) || lives(slot) }
	}
	s.best = singlepass.NewNearest(x.reach, lives)
	for band := 0; band < x.bands && !s.decided(); band += together {
		s.visit(band)
	}
	x.candidates.Add(s.compared)
	slot, differ, ok := s.best.Result()
	if !ok {
		return singlepass.Centre{}, 0, false
	}
	return x.centre(slot), float64(differ) / float64(x.hashes), true
}

// Near returns how far an article is from a centre, and whether Nearest finds it among no more than
// bucketCap centres, of which each band is seen whole: where they agree in a band.
func (x *index) Near(a, centre singlepass.Fingerprint) (distance float64, ok bool) {
	of, to := a.Sketch[:x.hashes], centre.Sketch[:x.hashes]
	agree := false
	for band := 0; band < x.bands && !agree; band++ {
		from, end := band*x.rows, (band+1)*x.rows
		agree = of[from:end] == to[from:end]
	}
	if !agree {
		return 0, false
	}
	differ := differingUpTo(of, to, x.reach)
	distance = float64(differ) / float64(x.hashes)
	return distance, differ <= x.reach && x.rule.Joins(distance, x.threshold,
		sizeIn(a.Sketch, x.hashes), sizeIn(centre.Sketch, x.hashes))
}

// decided reports whether no centre that has not been seen can be better. One that differs in fewer
// components than there were whole bands agrees in one of these bands, so it was seen. The oldest
// one that does not differ is seen in any band.
func (s *search) decided() bool {
	cutoff := s.best.Cutoff()
	return cutoff < s.whole || cutoff == 0 && s.best.Found()
}

// visit offers the centres that agree with the query in a band from first on, of up to together
// bands.
func (s *search) visit(first int) {
	var hashes [together]uint64
	var probes [together]Probe
	n := s.hashesOf(s.signature, first, &hashes)
	s.tables.ProbeAll(first, hashes[:n], probes[:n])
	for i := range n {
		band := first + i
		if c := s.cappedBucket(s.signature, band); c == nil {
			probes[i].All(func(slot uint32) { s.meet(meeting{slot, band, false}) })
			s.whole++
		} else {
			s.see(c, band)
		}
	}
	s.flush()
}

// see meets what a query sees of the capped bucket of a band.
func (s *search) see(c *capped.Bucket, band int) {
	slots, others := c.See(s.signature, s.live, s.slots[:0])
	for _, slot := range slots {
		s.meet(meeting{slot, band, true})
	}
	if others {
		s.partly[band/64] |= 1 << (band % 64)
	} else {
		s.whole++
	}
}

// A meeting is a centre that agrees with the query in a band, or that may.
type meeting struct {
	slot   uint32
	band   int
	agrees bool
}

// meet remembers a centre that may agree in a band, unless it was offered just before.
func (s *search) meet(m meeting) {
	if s.offered[m.slot%remembered] == m.slot+1 {
		return
	}
	if s.waiting == len(s.met) {
		s.flush()
	}
	s.met[s.waiting] = m
	s.waiting++
}

// flush offers the centres that were met and agree. It reads from memory where the signatures of
// all begin and end before it looks at one.
func (s *search) flush() {
	for _, m := range s.met[:s.waiting] {
		signature := s.index.signature(m.slot)
		s.read += signature[0] + signature[len(signature)-1]
	}
	for _, m := range s.met[:s.waiting] {
		if s.offered[m.slot%remembered] != m.slot+1 && (m.agrees || s.agree(m.slot, m.band)) {
			s.offer(m.slot, m.band)
		}
	}
	s.waiting = 0
}

func (s *search) agree(slot uint32, band int) bool {
	return bytes.Equal(s.band(s.index.signature(slot), band), s.band(s.signature, band))
}

// offer compares a centre that agrees in a band with the query, unless it was offered before.
func (s *search) offer(slot uint32, band int) {
	last := &s.offered[slot%remembered]
	if *last == slot+1 || *last != 0 && s.agreed(slot, band) {
		return
	}
	*last = slot + 1
	s.compared++
	differ := differingUpTo(s.index.signature(slot), s.signature, s.best.Cutoff())
	if differ <= s.best.Cutoff() && s.joins(slot, differ) {
		s.best.Offer(slot, s.seq(slot), differ)
	}
}

// joins reports whether a centre that differs in so many components is the same as the query.
func (s *search) joins(slot uint32, differ int) bool {
	return s.rule.Joins(float64(differ)/float64(s.hashes), s.threshold, s.size,
		sizeIn(s.index.sketch(slot), s.hashes))
}

// agreed reports whether a centre agrees in a band before this one that was seen whole.
func (s *search) agreed(slot uint32, band int) bool {
	for b := range band {
		if s.partly[b/64]>>(b%64)&1 == 0 && s.agree(slot, b) {
			return true
		}
	}
	return false
}
