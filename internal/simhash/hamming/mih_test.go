package hamming

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// skewed returns sources of fingerprints that are far from random.
func skewed() map[string]source {
	const some = 0xfedc4321
	return map[string]source{
		"random": func(r *rand.Rand, _ []Point) uint64 { return r.Uint64() },
		"each bit set 13 times in 16": func(r *rand.Rand, _ []Point) uint64 {
			return r.Uint64() | r.Uint64() | r.Uint64()&r.Uint64()
		},
		"equal upper halves": func(r *rand.Rand,
			_ []Point,
		) uint64 {
			return some<<32 | uint64(r.Uint32())
		},
		"equal lower halves": func(r *rand.Rand,
			_ []Point,
		) uint64 {
			return uint64(r.Uint32())<<32 | some
		},
		"upper halves in a ball": func(r *rand.Rand, _ []Point) uint64 {
			return (some^1<<r.IntN(32))<<32 | uint64(r.Uint32())
		},
		"three equal quarters": func(r *rand.Rand,
			_ []Point,
		) uint64 {
			return some<<32 | r.Uint64N(1<<16)<<16
		},
		"all equal": func(*rand.Rand, []Point) uint64 { return some },
	}
}

// However the fingerprints are spread, a query is compared with few centres, even where
// a million agree in a half.
func TestMIHCandidates(t *testing.T) {
	const queries = 200
	for _, test := range []struct {
		name string
		size int
		most int // candidates a query on average
	}{
		{"random", 1 << 16, 500},
		{"random", 1 << 18, 550},
		{"each bit set 13 times in 16", 1 << 16, 800},
		{"each bit set 13 times in 16", 1 << 18, 1000},
		{"equal upper halves", 1 << 16, 700},
		{"equal upper halves", 1 << 20, 900},
		{"equal lower halves", 1 << 16, 700},
		{"equal lower halves", 1 << 20, 900},
		{"upper halves in a ball", 1 << 16, 700},
		// There are 2^16 of them in all, and 697 within the distance.
		{"three equal quarters", 1 << 16, 4000},
	} {
		t.Run(fmt.Sprintf("%s/%d", test.name, test.size), func(t *testing.T) {
			if test.size > 1<<18 && !check.Long {
				t.Skip("it takes long: make variants runs it")
			}
			if check.Race {
				t.Skip("it counts candidates, and TestNearestAtOnce fills at once too")
			}
			r := rand.New(rand.NewPCG(6, uint64(test.size)))
			next := skewed()[test.name]
			index := NewMIH(3)
			index.BulkLoad(centresOf(r, next, test.size))
			for range queries {
				// With nothing found there is no early end.
				index.Nearest(flipped(r, next(r, nil), r.IntN(4)), func(Point) bool { return false })
			}
			if got := int(index.Candidates()) / queries; got > test.most {
				t.Errorf("%d candidates a query, want at most %d", got, test.most)
			} else {
				t.Logf("%d candidates a query", got)
			}
		})
	}
}

func centresOf(r *rand.Rand, next source, size int) []Point {
	centres := make([]Point, size)
	for i := range centres {
		centres[i] = Point{next(r, nil), uint64(i)}
	}
	return centres
}

// Whatever came and went, every centre is in both tables where its path leads, and
// nothing is lost of what they have allocated.
func TestMIHKeepsInOrder(t *testing.T) {
	check.OneGoroutine(t)
	for name, next := range skewed() {
		for _, size := range []int{0, 1, leafMax, leafMax + 1, 1000, 5000} {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				r := rand.New(rand.NewPCG(9, uint64(size)))
				have := centresOf(r, next, size)
				m := NewMIH(3).(*multiIndex)
				m.BulkLoad(slices.Clone(have[:size/2]))
				checkTables(t, m, have[:size/2])
				insert(m, have[size/2:])
				checkTables(t, m, have)
				r.Shuffle(size, func(i, j int) { have[i], have[j] = have[j], have[i] })
				for _, rest := range []int{size * 3 / 4, size / 20, 0} {
					for _, c := range have[rest:] {
						if !m.Remove(c) {
							t.Fatalf("%v is not there to remove", c)
						}
					}
					have = have[:rest]
					checkTables(t, m, have)
				}
			})
		}
	}
}

// checkTables fails where the tables do not have these centres, each once.
func checkTables(t *testing.T, m *multiIndex, have []Point) {
	t.Helper()
	want := make(map[Point]bool)
	for _, c := range have {
		want[c] = true
	}
	if m.Len() != len(have) {
		t.Fatalf("%d centres, want %d", m.Len(), len(have))
	}
	for _, table := range m.tables {
		k := checker{t: t, table: table, units: make(map[uint32]bool)}
		var all []Point
		for address := range table.buckets.len {
			p := *table.buckets.at(address)
			for _, c := range k.centres(p, bucketWidth(table, address), false) {
				if got, _ := table.bucket(table.half(c.Fingerprint)); got != address {
					t.Fatalf("%v is in bucket %d, want %d", c, address, got)
				}
				all = append(all, c)
			}
		}
		found := make(map[Point]bool)
		for _, c := range all {
			found[c] = true
		}
		if len(all) != len(have) || len(found) != len(want) {
			t.Fatalf("%d centres in a table, %d different ones, want %d", len(all), len(found), len(have))
		}
		for c := range want {
			if !found[c] {
				t.Fatalf("%v is missing", c)
			}
		}
		k.free()
	}
}

func bucketWidth(t *table, address int) int {
	_, width := t.bucket(uint32(address))
	return width
}

// A checker collects what belongs to a table.
type checker struct {
	t     *testing.T
	table *table
	units map[uint32]bool
	nodes int
}

func (k *checker) use(at uint32, units int) {
	for i := range uint32(units) {
		if k.units[at+i] {
			k.t.Fatalf("unit %d is in use twice", at+i)
		}
		k.units[at+i] = true
	}
}

// centres returns those below p, which must agree in the bits at the places before.
func (k *checker) centres(p subtree, at int, swapped bool) (all []Point) {
	if !p.node() {
		if p.n > leafMax {
			k.t.Fatalf("a leaf of %d", p.n)
		}
		k.use(p.at, units(p.n))
		for i := range int(p.n) {
			slot := k.table.leaf(p).slot(i)
			if got, want := k.table.leaf(p).tag(i), k.table.path(slot, false).other(); got != want {
				k.t.Fatalf("tag %x of %x, want %x", got, *k.table.slots.at(slot), want)
			}
			all = append(all, *k.table.slots.at(slot))
		}
		return all
	}
	k.nodes++
	for side, child := range k.table.nodes.at(int(p.at)) {
		below := k.centres(child, at+1, swapped || at == twinAt && side == 1)
		if at == twinAt && side == 1 {
			byCentre := func(a, b Point) int { return int(a.Seq) - int(b.Seq) }
			slices.SortFunc(all, byCentre)
			slices.SortFunc(below, byCentre)
			if !slices.Equal(all, below) {
				k.t.Fatalf("a twin has %d centres and %d others", len(all), len(below))
			}
			continue
		}
		for _, c := range below {
			if at != twinAt && k.table.leads(c, swapped).bit(at) != side {
				k.t.Fatalf("%v is on side %d at place %d", c, side, at)
			}
		}
		all = append(all, below...)
	}
	if len(all) <= leafMax/2 {
		k.t.Fatalf("a node of %d", len(all))
	}
	return all
}

// free fails unless what is not in use is free.
func (k *checker) free() {
	r := &k.table.arena
	for units, first := range r.freed {
		for ; first > 0; first = uint32(*r.words.at(int(first-1) * unitWords)) {
			k.use(first-1, units)
		}
	}
	if got := r.words.len / unitWords; got != len(k.units) {
		k.t.Fatalf("%d units, %d in use or free", got, len(k.units))
	}
	for first := k.table.freedNode; first > 0; first = k.table.nodes.at(int(first - 1))[0].at {
		k.nodes++
	}
	if got := k.table.nodes.len; got != k.nodes {
		k.t.Fatalf("%d nodes, %d in use or free", got, k.nodes)
	}
}

// Growth is spread over the insertions: none of them copies more than a few leaves.
func TestMIHInsertMovesLittle(t *testing.T) {
	check.OneGoroutine(t)
	for name, next := range skewed() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(10, 10))
			m := NewMIH(3).(*multiIndex)
			var most, before uint64
			const size = 50_000
			for seq := range uint64(size) {
				m.Insert(Point{next(r, nil), seq})
				moved := m.tables[0].moved + m.tables[1].moved
				most, before = max(most, moved-before), moved
			}
			if most == 0 || most > 16*leafMax {
				t.Errorf("an insertion moved %d entries, want at most %d", most, 16*leafMax)
			}
			if per := float64(before) / size; per > 40 {
				t.Errorf("an insertion moved %.1f entries on average, want at most 40", per)
			}
		})
	}
}

// What is removed makes room for what comes, whatever its size was: at a steady number of
// centres, memory is steady, though fingerprints drift.
func TestMIHReusesRoom(t *testing.T) {
	check.OneGoroutine(t)
	const size = 10_000
	r := rand.New(rand.NewPCG(11, 11))
	m := NewMIH(3).(*multiIndex)
	var have []Point
	var drift uint64
	next := func(seq uint64) Point {
		if seq%size == 0 {
			drift = r.Uint64()
		}
		return Point{(r.Uint64()|r.Uint64())&^0xff ^ drift, seq}
	}
	memory := func() (words int) {
		words = m.slots.centres.len * 2
		for _, t := range m.tables {
			words += t.words.len + t.buckets.len + t.nodes.len*2
		}
		return words
	}
	var first int
	for seq := range uint64(20 * size) {
		if len(have) == size {
			m.Remove(have[0])
			have = have[1:]
		}
		have = append(have, next(seq))
		m.Insert(have[len(have)-1])
		if seq == 4*size {
			first = memory()
		}
	}
	if got := memory(); got > first*5/4 {
		t.Errorf("%d words after 20 times as many centres as there are at a time, want about %d", got,
			first)
	}
	if got := m.slots.centres.len; got != size {
		t.Errorf("%d slots for %d centres", got, size)
	}
}
