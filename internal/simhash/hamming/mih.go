package hamming

import (
	"sync"
	"sync/atomic"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// multiIndex is an index for distance d by multi-index hashing (Norouzi, Punjani and
// Fleet, "Fast Search in Hamming Space with Multi-Index Hashing", CVPR 2012), with a table
// for each half of the fingerprints.
//
// A query takes d+1 phases, of the two tables in turn. Phases 2r and 2r+1 offer the
// centres whose first or second half differs from the query's in exactly r bits and that
// no phase before has offered. A centre whose halves differ in a and b bits hence has its
// turn in phase min(2a, 2b+1), which is at most a+b, its distance. So after phase i every
// centre at a distance of up to i has been offered, whatever centres there are.
//
// A centre takes some 36 to 40 bytes: 16 in its slot, and an entry of 8 in each table, with
// their buckets and the room that is left in leaves.
type multiIndex struct {
	distance   int
	slots      slots
	tables     [2]*table
	candidates atomic.Uint64
}

// NewMIH returns an empty index of two tables, of up to 2^32 centres. The distance must
// be 0 to [MaxDistance], which [NewIndex] checks.
func NewMIH(distance int) Index {
	m := &multiIndex{distance: distance}
	m.tables = [2]*table{newTable(&m.slots, 0), newTable(&m.slots, 32)}
	return m
}

func (m *multiIndex) Insert(c Point) {
	slot := m.slots.insert(c)
	for _, t := range m.tables {
		t.insert(slot)
	}
}

func (m *multiIndex) Remove(c Point) bool {
	slot, ok := m.tables[0].find(c)
	if !ok {
		return false
	}
	for _, t := range m.tables {
		t.remove(slot)
	}
	m.slots.release(slot)
	return true
}

// BulkLoad makes the slice the slots, and the tables at their final size, each on a core.
func (m *multiIndex) BulkLoad(centres []Point) {
	m.slots.adopt(centres)
	var wg sync.WaitGroup
	for _, t := range m.tables {
		wg.Go(t.load)
	}
	wg.Wait()
}

func (m *multiIndex) Nearest(fingerprint uint64, live func(Point) bool) (Point, int, bool) {
	s := search{
		fingerprint: fingerprint, tables: m.tables, best: singlepass.NewNearest(m.distance, live),
	}
	for own := 0; 2*own <= m.distance && s.best.Cutoff() >= 2*own; own++ {
		s.round(own, m.distance+1)
	}
	m.candidates.Add(s.compared)
	return s.best.Result()
}

func (m *multiIndex) Candidates() uint64 { return m.candidates.Load() }

func (m *multiIndex) Len() int { return m.slots.used }

// load puts all slots into an empty table: it counts what is in each bucket, makes room
// in all of them, and then puts every entry where it belongs. Buckets that are to be tries
// are loaded one by one.
func (t *table) load() {
	n := t.slots.used
	t.buckets.grow(n / bucketLoad)
	for slot := range n {
		t.bucketOf(uint32(slot)).n++
	}
	for i := range t.buckets.len {
		p := t.buckets.at(i)
		if p.n > leafMax {
			*p = t.makeNode([2]subtree{})
		} else if p.n > 0 {
			*p = t.alloc(p.n)
			t.leaf(*p).set(int(p.n)-1, 0, 0)
		}
	}
	for first := 0; first < n; first += prefetchLen {
		t.place(first, min(first+prefetchLen, n))
	}
}

// place puts a few slots where they belong, and prefetches all of these places first.
func (t *table) place(first, end int) {
	var buckets [prefetchLen]subtree
	for slot := first; slot < end; slot++ {
		buckets[slot-first] = *t.bucketOf(uint32(slot))
	}
	for _, p := range buckets[:end-first] {
		if !p.node() {
			entries := t.leaf(p)
			t.prefetched.read(entries[0] + entries[len(entries)-1])
		}
	}
	for i, p := range buckets[:end-first] {
		slot := uint32(first + i)
		if p.node() {
			t.insert(slot)
			continue
		}
		// How many there are already is kept where the last one is going to be.
		entries, last := t.leaf(p), int(p.n)-1
		filled := entries.slot(last)
		entries.set(last, 0, filled+1)
		entries.set(int(filled), t.path(slot, false).other(), slot)
	}
}

func (t *table) bucketOf(slot uint32) *subtree {
	address, _ := t.bucket(t.path(slot, false).own())
	return t.buckets.at(address)
}
