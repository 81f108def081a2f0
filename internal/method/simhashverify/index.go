package simhashverify

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/clusterd/clusterd/internal/method/capped"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// MaxDistance is the largest distance of an index.
const MaxDistance = 10

// NewIndex returns an empty [singlepass.Index] of centres at up to this Hamming distance, 0 to
// [MaxDistance], whose sketches agree with that of the query. It is exact, but for quarters of
// fingerprints that very many have in common: there a query sees what a [capped.Rule] names.
func (s *Sketcher) NewIndex(distance int) singlepass.Index {
	return &verified{distance: distance, differ: s.differ}
}

// verified is an index for distances for which halves are too wide: multi-index hashing (Norouzi,
// Punjani and Fleet, CVPR 2012) with a table for each quarter of the fingerprints. At distance 8 a
// query looks up 188 of the 4·65,536 buckets, where halves would take it to some 6,000 of a million
// centres'.
//
// A query takes d+1 phases, of the four tables in turn. Phase 4r+i offers the centres whose quarter
// i differs from the query's in exactly r bits and that no phase before has offered. A centre whose
// quarters differ in n0 to n3 bits hence has its turn in the phase that is the minimum of 4·ni+i.
// That is at most its distance, which is the sum of the ni: if each ni were so large that 4·ni+i >
// d, then they would add up to more than d. So after phase d every centre at a distance of up to d
// has been offered.
//
// A centre takes some 80 bytes in its slot and as many in all four tables, and the buckets of any
// index that is not empty 8 MB.
type verified struct {
	distance, differ int
	slots
	buckets    [quarters][]bucket // by the bits of a quarter
	candidates atomic.Uint64
}

func (x *verified) member(slot uint32) capped.Member {
	return capped.Member{Sketch: x.key(slot), Seq: x.at(slot).seq, Slot: slot}
}

func (x *verified) key(slot uint32) []byte { return x.at(slot).key[:] }

func (x *verified) Insert(c singlepass.Centre) {
	if x.buckets[0] == nil {
		for i := range x.buckets {
			x.buckets[i] = make([]bucket, 1<<16)
		}
	}
	slot := x.put(entry{seq: c.Seq, key: keyOf(c.Fingerprint)})
	for i := range x.buckets {
		x.buckets[i][quarter(c.Hash, i)].add(x, i, slot)
	}
}

// BulkLoad adds n centres to an empty index, in any order.
func (x *verified) BulkLoad(_ int, centres iter.Seq[singlepass.Centre]) {
	for c := range centres {
		x.Insert(c)
	}
}

func (x *verified) Remove(c singlepass.Centre) bool {
	if x.Len() == 0 || len(c.Sketch) != components/8 {
		return false
	}
	key := keyOf(c.Fingerprint)
	slot, ok := x.buckets[0][quarter(c.Hash, 0)].find(x, key[:], c.Seq)
	if !ok {
		return false
	}
	for i := range x.buckets {
		x.buckets[i][quarter(c.Hash, i)].remove(x, slot)
	}
	x.release(slot)
	return true
}

func (x *verified) Len() int { return x.used }

func (x *verified) Candidates() uint64 { return x.candidates.Load() }

// A search is one query.
type search struct {
	*verified
	hash     uint64
	key      [keyLen]byte
	sketch   sketch
	live     func(slot uint32, seq uint64) bool // nil: all are
	best     singlepass.Nearest[uint32, int]
	compared uint64
	partly   int      // capped buckets of which it has not seen all
	slots    []uint32 // room for what is seen of one
}

func (x *verified) Nearest(
	f singlepass.Fingerprint, live *singlepass.Live,
) (c singlepass.Centre, distance float64, ok bool) {
	if x.Len() == 0 {
		return c, 0, false
	}
	s := search{verified: x, hash: f.Hash, key: keyOf(f), sketch: parse(f.Sketch)}
	if live != nil {
		s.live = func(slot uint32, seq uint64) bool {
			return live.IsSure(seq) || live.Asked(x.at(slot).view())
		}
	}
	// One whose sketch does not agree is taken for one that is not live.
	s.best = singlepass.NewNearest(x.distance, func(slot uint32) bool {
		e := x.at(slot)
		return e.sketch().differing(s.sketch) <= x.differ && (live == nil || live.Asked(e.view()))
	})
	for phase := 0; phase <= x.distance && s.best.Cutoff() >= phase && s.partly < maxCapped; phase++ {
		s.phase(phase)
	}
	x.candidates.Add(s.compared)
	slot, differing, ok := s.best.Result()
	if !ok {
		return c, 0, false
	}
	return x.at(slot).centre(), float64(differing), true
}

func (s *search) phase(phase int) {
	table, radius := phase%quarters, phase/quarters
	own := uint64(quarter(s.hash, table))
	for flip := uint64(1)<<radius - 1; flip < 1<<16 && s.partly < maxCapped; flip = nextSubset(flip) {
		s.look(&s.buckets[table][own^flip], phase)
		if flip == 0 {
			break
		}
	}
}

// look offers what a query sees of a bucket.
func (s *search) look(b *bucket, phase int) {
	s.compared += uint64(len(b.points))
	for _, p := range b.points {
		differing := p.hash ^ s.hash
		// Those of a phase before were seen, but for those in capped buckets.
		if distance := bits.OnesCount64(differing); distance <= s.best.Cutoff() &&
			(s.partly > 0 || turn(differing) == phase) {
			s.offer(p.slot, distance)
		}
	}
	if b.capped == nil {
		return
	}
	slots, others := b.capped.See(s.key[:], s.live, s.slots[:0])
	s.slots = slots
	s.compared += uint64(len(slots))
	for _, slot := range slots {
		if distance := bits.OnesCount64(s.at(slot).hash() ^ s.hash); distance <= s.best.Cutoff() {
			s.offer(slot, distance)
		}
	}
	if others {
		s.partly++
	}
}

func (s *search) offer(slot uint32, distance int) { s.best.Offer(slot, s.at(slot).seq, distance) }

// keyLen is how many bytes a key has: a sketch and then the 64 bits, so that it is that of a
// fingerprint.
const keyLen = components/8 + 8

func keyOf(f singlepass.Fingerprint) (key [keyLen]byte) {
	copy(key[:], f.Sketch)
	binary.LittleEndian.PutUint64(key[components/8:], f.Hash)
	return key
}

// An entry is a centre, without pointers for the garbage collector to follow.
type entry struct {
	seq uint64
	key [keyLen]byte
}

func (e *entry) hash() uint64 { return binary.LittleEndian.Uint64(e.key[components/8:]) }

func (e *entry) sketch() (s sketch) {
	for i := range s {
		s[i] = binary.LittleEndian.Uint64(e.key[8*i:])
	}
	return s
}

func (e *entry) centre() singlepass.Centre {
	return singlepass.Centre{
		Fingerprint: singlepass.Fingerprint{Hash: e.hash(), Sketch: string(e.key[:components/8])},
		Seq:         e.seq,
	}
}

// view returns what centre does, but its sketch is good only until the index changes.
func (e *entry) view() singlepass.Centre {
	return singlepass.Centre{
		Fingerprint: singlepass.Fingerprint{
			Hash: e.hash(), Sketch: unsafe.String(&e.key[0], components/8),
		}, Seq: e.seq,
	}
}
