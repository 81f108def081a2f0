package hamming

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// MaxWideDistance is the largest distance of [NewQuarters].
const MaxWideDistance = 10

// quarters are how many tables there are, each of the points by as many bits of 16.
const quarters = 4

// quarterIndex is an index for distances for which halves are too wide: multi-index hashing, see
// [NewMIH], with a table for each quarter of the fingerprints. At distance 8 a query looks up 188 of the
// 4·65,536 buckets, where halves would take it to some 6,000 of a million centres'.
//
// A query takes d+1 phases, of the four tables in turn. Phase 4r+i offers the points whose quarter i differs
// from the query's in exactly r bits and that no phase before has offered. A point whose quarters
// differ in n0 to n3 bits hence has its turn in the phase that is the least of 4·ni+i. That is at most
// its distance, which is the sum of the ni: if each ni were so large that 4·ni+i > d, then they would
// add up to more than d. So after phase d every point at a distance of up to d has been offered.
//
// A point is in all four tables, with all of its bits, so that a bucket is read without a look elsewhere.
// That takes some 80 bytes, and 6 MB for the buckets of any index that is not empty.
type quarterIndex struct {
	distance   int
	len        int
	buckets    [quarters][][]Point // by the bits of a quarter
	candidates atomic.Uint64
}

// NewQuarters returns an empty index for distances of 0 to [MaxWideDistance]. It serves those beyond
// [MaxDistance]; below, [NewMIH] is better where points are many or their fingerprints uneven.
func NewQuarters(distance int) Index { return &quarterIndex{distance: distance} }

// quarter returns the bits by which a fingerprint is in a table.
func quarter(fingerprint uint64, table int) uint16 { return uint16(fingerprint >> (16 * table)) }

func (q *quarterIndex) Insert(p Point) {
	if q.buckets[0] == nil {
		for i := range q.buckets {
			q.buckets[i] = make([][]Point, 1<<16)
		}
	}
	for i, table := range q.buckets {
		bucket := &table[quarter(p.Fingerprint, i)]
		if n := len(*bucket); n == cap(*bucket) {
			*bucket = append(make([]Point, 0, n+n/4+1), *bucket...)
		}
		*bucket = append(*bucket, p)
	}
	q.len++
}

func (q *quarterIndex) Fill(points []Point) {
	for _, p := range points {
		q.Insert(p)
	}
}

func (q *quarterIndex) Remove(p Point) bool {
	if q.len == 0 {
		return false
	}
	for i, table := range q.buckets {
		bucket := &table[quarter(p.Fingerprint, i)]
		at := slices.Index(*bucket, p)
		if at < 0 {
			return false // from all tables, or from none
		}
		last := len(*bucket) - 1
		(*bucket)[at] = (*bucket)[last]
		*bucket = (*bucket)[:last]
		if 2*last <= cap(*bucket) {
			*bucket = slices.Clone(*bucket) // gives back the room, and takes nil for none
		}
	}
	q.len--
	return true
}

func (q *quarterIndex) Nearest(fingerprint uint64, live func(Point) bool) (Point, int, bool) {
	best := singlepass.NewNearest(q.distance, live)
	if q.len == 0 {
		return best.Result()
	}
	var compared uint64
	for phase := 0; phase <= q.distance && best.Reach() >= phase; phase++ {
		table, radius := phase%quarters, phase/quarters
		own := uint64(quarter(fingerprint, table))
		for flip := uint64(1)<<radius - 1; flip < 1<<16; flip = nextSubset(flip) {
			bucket := q.buckets[table][own^flip]
			compared += uint64(len(bucket))
			offer(bucket, fingerprint, phase, &best)
			if flip == 0 {
				break
			}
		}
	}
	q.candidates.Add(compared)
	return best.Result()
}

// offer offers the points of a bucket that have their turn in this phase.
func offer(bucket []Point, fingerprint uint64, phase int, best *singlepass.Nearest[Point, int]) {
	for i := range bucket {
		p := &bucket[i]
		differing := p.Fingerprint ^ fingerprint
		if distance := bits.OnesCount64(differing); distance <= best.Reach() && turn(differing) == phase {
			best.Offer(*p, p.Seq, distance)
		}
	}
}

// turn returns the phase in which a point is offered that differs from the query in these bits.
func turn(differing uint64) int {
	phase := quarters * 64
	for i := range quarters {
		phase = min(phase, quarters*bits.OnesCount16(quarter(differing, i))+i)
	}
	return phase
}

func (q *quarterIndex) Len() int { return q.len }

func (q *quarterIndex) Candidates() uint64 { return q.candidates.Load() }
