package minhash

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// known are the bits of a hash that tables tell apart.
const known = 1<<27 - 1

// A model is what tables hold, by slot and table, beside the tables.
type model struct {
	tables Tables
	hashes [][]uint64 // by slot, then table
	n      int        // tables
	hash   func() uint64
	r      *rand.Rand
}

func newModel(n int, seed uint64, hash func(r *rand.Rand) uint64) *model {
	r := rand.New(rand.NewPCG(seed, 1))
	return &model{tables: NewTables(n), n: n, r: r, hash: func() uint64 { return hash(r) }}
}

func (m *model) add() {
	slot, hashes := uint32(len(m.hashes)), make([]uint64, m.n)
	for table := range hashes {
		hashes[table] = m.hash()
		m.tables.Add(table, hashes[table], slot)
	}
	m.hashes = append(m.hashes, hashes)
	m.tables.Resize(len(m.hashes))
}

// remove takes out any slot, and gives the last one its number.
func (m *model) remove() {
	slot, last := m.r.IntN(len(m.hashes)), len(m.hashes)-1
	for table, hash := range m.hashes[slot] {
		m.tables.Remove(table, hash, uint32(slot))
	}
	if slot != last {
		for table, hash := range m.hashes[last] {
			m.tables.Replace(table, hash, uint32(last), uint32(slot))
		}
		m.hashes[slot] = m.hashes[last]
	}
	m.hashes = m.hashes[:last]
	m.tables.Resize(last)
}

// see asks for the hashes of a slot, and for others.
func (m *model) see(t *testing.T) {
	t.Helper()
	hashes := make([]uint64, m.n)
	for table := range hashes {
		if hashes[table] = m.hash(); len(m.hashes) > 0 && m.r.IntN(2) == 0 {
			hashes[table] = m.hashes[m.r.IntN(len(m.hashes))][table] ^ uint64(m.r.IntN(2))<<40
		}
	}
	probes := make([]Probe, m.n)
	m.tables.ProbeAll(0, hashes, probes)
	for table, hash := range hashes {
		var want, got, one []uint32
		for slot, of := range m.hashes {
			if (of[table]^hash)&known == 0 {
				want = append(want, uint32(slot))
			}
		}
		probes[table].All(func(slot uint32) { got = append(got, slot) })
		p := m.tables.Probe(table, hash)
		p.All(func(slot uint32) { one = append(one, slot) })
		if !slices.Equal(one, got) {
			t.Fatalf("table %d, hash %x: one probe has %d, and one of all %d", table, hash, one, got)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("%d slots, table %d, hash %x: got %d, want %d", len(m.hashes), table, hash, got, want)
		}
		for _, more := range []int{0, 3, len(want)} {
			if n := p.Sharing(more); (n > more) != (len(want) > more) || n > more && n != len(want) {
				t.Fatalf("%d slots share a hash, which is more than %d; got %d", len(want), more, n)
			}
		}
	}
}

// kinds are hashes that are spread and that are not.
var kinds = map[string]func(r *rand.Rand) uint64{
	"random":   func(r *rand.Rand) uint64 { return r.Uint64() },
	"few":      func(r *rand.Rand) uint64 { return uint64(r.IntN(5)) * 0x9e3779b97f4a7c15 },
	"same low": func(r *rand.Rand) uint64 { return r.Uint64N(8)<<24 | 77 },
	"skewed":   func(r *rand.Rand) uint64 { return r.Uint64N(1<<20) >> r.IntN(20) },
}

// Whatever was added, removed and renumbered, tables find the slots of a hash, and of others none
// but those that agree in the bits that they know.
func TestTables(t *testing.T) {
	for name, hash := range kinds {
		t.Run(name, func(t *testing.T) {
			m := newModel(11, 2, hash)
			for range 12 {
				for more := m.r.IntN(1500); more > 0; more-- {
					m.add()
				}
				for less := m.r.IntN(len(m.hashes) + 1); less > 0; less-- {
					m.remove()
					if less%40 == 0 {
						m.see(t)
					}
				}
				for range 20 {
					m.see(t)
				}
			}
		})
	}
}

// Tables that are made for many at once hold them as those that grew.
func TestExpect(t *testing.T) {
	m := newModel(3, 3, kinds["random"])
	m.tables.Expect(20_000)
	for range 20_000 {
		m.add()
	}
	if got := m.tables.buckets.Len(); got != (20_000+bucketLoad-1)/bucketLoad {
		t.Errorf("%d buckets for 20000 slots, want one for %d", got, bucketLoad)
	}
	for range 50 {
		m.see(t)
	}
}

// Tables shrink with what is in them, down to one bucket, and go on finding it while an arena goes.
func TestTablesShrink(t *testing.T) {
	check.OneGoroutine(t)
	m := newModel(2, 4, kinds["random"])
	const size = 100_000
	for range size {
		m.add()
	}
	evacuated, before := 0, false
	for left := size; left > 0; left-- {
		if m.remove(); left%500 == 0 {
			m.see(t)
		}
		if now := m.tables.evacuating(); now != before {
			before = now
			evacuated++
		}
		if got, most := m.tables.buckets.Len(), left/bucketLoad+spare+1; got > most {
			t.Fatalf("%d buckets for %d slots, want at most %d", got, left, most)
		}
	}
	if evacuated < 4 {
		t.Errorf("an arena began or ended to go %d times, want at least 4", evacuated)
	}
	for range 2 * spare { // what is left of an arena goes as others come and go
		m.add()
		m.remove()
	}
	units := m.tables.parts[0].units + m.tables.parts[1].units
	if most := uint32(2 * minFreed); units > most {
		t.Errorf("empty tables have %d units, want at most %d", units, most)
	}
}

// Slots that come and go take no more memory than they did.
func TestMemoryStays(t *testing.T) {
	check.OneGoroutine(t)
	m := newModel(2, 5, kinds["random"])
	const size = 50_000
	for range size {
		m.add()
	}
	for range 5 * size {
		m.add()
		m.remove()
	}
	used := 0
	for row := range m.tables.buckets.Len() {
		for _, l := range m.tables.buckets.At(row) {
			used += int(unitsOf(l.n))
		}
	}
	if got := int(m.tables.part(m.tables.current).units); got > used*3/2 {
		t.Errorf("%d units for leaves of %d", got, used)
	}
}

// Rows give memory back by whole chunks, and what stays keeps its place.
func TestRows(t *testing.T) {
	rows := NewRows[uint32](3)
	const size = 5*rowsChunk + 7
	for i := range uint32(size) {
		copy(rows.Push(), []uint32{i, i + 1, i + 2})
	}
	first := &rows.At(0)[0]
	for left := size - 1; left > 0; left-- {
		rows.Pop()
		if got, most := len(rows.chunks), (left+spare)/rowsChunk+1; got > most {
			t.Fatalf("%d chunks for %d rows, want at most %d", got, left, most)
		}
		last := uint32(left - 1)
		if got := rows.At(left - 1); !slices.Equal(got, []uint32{last, last + 1, last + 2}) {
			t.Fatalf("row %d is %d", left-1, got)
		}
	}
	if rows.Len() != 1 || rows.Width() != 3 || first != &rows.At(0)[0] {
		t.Errorf("%d rows of %d are left, want one of 3 where it was", rows.Len(), rows.Width())
	}
}
