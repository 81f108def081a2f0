package hamming

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

func TestNewIndex(t *testing.T) {
	for _, test := range []struct {
		name     string
		distance int
		want     string // error
	}{
		{"btree", 0, ""},
		{"btree", 3, ""},
		{"btree", 6, ""},
		{"mih", 0, ""},
		{"mih", 6, ""},
		{"mih", 7, "hamming: distance 7: allowed are 0 to 6"},
		{"btree", -1, "hamming: distance -1: allowed are 0 to 6"},
		{"btree", 7, "hamming: distance 7: allowed are 0 to 6"},
		{"", 3, `hamming: unknown index "": allowed are btree, mih and auto`},
		{"linear", 3, `hamming: unknown index "linear": allowed are btree, mih and auto`},
	} {
		index, err := NewIndex(test.name, test.distance)
		var got string
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("NewIndex(%q, %d): error %q, want %q", test.name, test.distance, got, test.want)
		}
		if (index == nil) != (err != nil) {
			t.Errorf("NewIndex(%q, %d): index %v beside error %v", test.name, test.distance, index, err)
		}
	}
}

// wide is the largest distance at which indexes are tested: they answer beyond what is allowed.
const wide = 10

// soonAuto moves its points early.
func soonAuto(distance int) Index { return newAuto(distance, 100) }

// eachIndex runs f as a subtest for every kind of index.
func eachIndex(t *testing.T, f func(t *testing.T, build func(distance int) Index)) {
	t.Helper()
	t.Run("linear", func(t *testing.T) { f(t, NewLinear) })
	t.Run("btree", func(t *testing.T) { f(t, NewBTree) })
	t.Run("mih", func(t *testing.T) { f(t, NewMIH) })
	t.Run("auto", func(t *testing.T) { f(t, soonAuto) })
}

func TestNearest(t *testing.T) {
	const far = 0xffffffffffffffff
	for _, test := range []struct {
		name     string
		bound    int
		centres  []Point
		query    uint64
		want     Point
		distance int
		ok       bool
	}{
		{"empty", 3, nil, 0, Point{}, 0, false},
		{"the same", 3, []Point{{7, 0}}, 7, Point{7, 0}, 0, true},
		{"at the bound", 3, []Point{{0b111, 0}}, 0, Point{0b111, 0}, 3, true},
		{"past the bound", 3, []Point{{0b1111, 0}}, 0, Point{}, 0, false},
		{"all bits differ", 3, []Point{{far, 0}}, 0, Point{}, 0, false},
		{"distance 0 finds only the same", 0, []Point{{1, 0}, {2, 1}}, 2, Point{2, 1}, 0, true},
		{"distance 0 finds nothing else", 0, []Point{{1, 0}, {2, 1}}, 3, Point{}, 0, false},
		{"nearer before older", 3, []Point{{0b11, 0}, {0b1, 1}}, 0, Point{0b1, 1}, 1, true},
		{"older among equals", 3, []Point{{0b01, 5}, {0b10, 2}, {0b100, 9}}, 0, Point{0b10, 2}, 1, true},
		{
			"older among equals in other blocks", 3,
			[]Point{{1 << 63, 5}, {1, 2}, {1 << 32, 9}},
			0,
			Point{1, 2},
			1, true,
		},
		{"older among the same", 3, []Point{{9, 8}, {9, 3}, {9, 4}}, 9, Point{9, 3}, 0, true},
		{"older at the bound", 2, []Point{{3 << 62, 4}, {3, 1}, {3 << 30, 3}}, 0, Point{3, 1}, 2, true},
		{"greatest fingerprint", 3, []Point{{far, 0}}, far, Point{far, 0}, 0, true},
		{"greatest Seq", 3, []Point{{far, far}}, far ^ 1<<63, Point{far, far}, 1, true},
	} {
		eachIndex(t, func(t *testing.T, build func(int) Index) {
			index := build(test.bound)
			for _, c := range test.centres {
				index.Insert(c)
			}
			c, distance, ok := index.Nearest(test.query, nil)
			if c != test.want || distance != test.distance || ok != test.ok {
				t.Errorf("%s: got %x at %d, %t; want %x at %d, %t", test.name, c, distance, ok, test.want,
					test.distance, test.ok)
			}
		})
	}
}

// Centres that are not live are as good as removed.
func TestNearestLive(t *testing.T) {
	for _, test := range []struct {
		name    string
		centres []Point
		live    []uint64 // Seqs
		want    Point
		ok      bool
	}{
		{"none", []Point{{0, 0}, {1, 1}}, nil, Point{}, false},
		{"all", []Point{{0, 0}, {1, 1}}, []uint64{0, 1}, Point{0, 0}, true},
		{"the further one", []Point{{0, 0}, {0b111, 1}}, []uint64{1}, Point{0b111, 1}, true},
		{
			"the further one, equal in another block alone",
			[]Point{{0, 0}, {1<<63 | 1<<40 | 1<<20, 1}},
			[]uint64{1},
			Point{1<<63 | 1<<40 | 1<<20, 1},
			true,
		},
		{"the younger among equals", []Point{{1, 0}, {2, 1}, {4, 2}}, []uint64{1, 2}, Point{2, 1}, true},
		{"the younger among the same", []Point{{0, 0}, {0, 1}}, []uint64{1}, Point{0, 1}, true},
	} {
		eachIndex(t, func(t *testing.T, build func(int) Index) {
			index := build(3)
			for _, c := range test.centres {
				index.Insert(c)
			}
			c, _, ok := index.Nearest(0, func(c Point) bool { return slices.Contains(test.live, c.Seq) })
			if c != test.want || ok != test.ok {
				t.Errorf("%s: got %x, %t; want %x, %t", test.name, c, ok, test.want, test.ok)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	eachIndex(t, func(t *testing.T, build func(int) Index) {
		index := build(3)
		old, young := Point{9, 1}, Point{9, 2}
		index.Insert(young)
		index.Insert(old)
		for _, absent := range []Point{{9, 3}, {8, 1}, {}} {
			if index.Remove(absent) {
				t.Errorf("Remove(%v) reports a centre that was never there", absent)
			}
		}
		for i, want := range []Point{old, young} {
			if got, _, ok := index.Nearest(9, nil); !ok || got != want {
				t.Errorf("nearest is %v, %t; want %v", got, ok, want)
			}
			if !index.Remove(want) || index.Remove(want) {
				t.Errorf("Remove(%v) must report true once, then false", want)
			}
			if got := index.Len(); got != 1-i {
				t.Errorf("length %d, want %d", got, 1-i)
			}
		}
		if _, _, ok := index.Nearest(9, nil); ok {
			t.Error("found a centre in an empty index")
		}
	})
}

// A centre that agrees with the query in one block alone, whichever it is, is
// found; one that differs in all of them is past the bound.
func TestBTreeFindsEveryBlock(t *testing.T) {
	const query = 0x9e3779b97f4a7c15
	r := rand.New(rand.NewPCG(1, 1))
	for distance := range MaxDistance + 1 {
		p := NewBTree(distance).(*permutedCopies)
		copies := p.copies
		flip := func(block int) uint64 {
			return bits.RotateLeft64(1<<(63-r.IntN(p.widths[block])), -copies[block].rotate)
		}
		var everywhere uint64
		for block := range copies {
			everywhere |= flip(block)
		}
		if got := bits.OnesCount64(everywhere); got != distance+1 {
			t.Fatalf("distance %d: blocks overlap: %d bits flipped in %d blocks", distance, got, distance+1)
		}
		for intact := range copies {
			c := Point{Fingerprint: query}
			for block := range copies {
				if block != intact {
					c.Fingerprint ^= flip(block)
				}
			}
			index := NewBTree(distance)
			index.Insert(c)
			if got, at, ok := index.Nearest(query, nil); !ok || got != c || at != distance {
				t.Errorf("distance %d, block %d intact: got %x at %d, %t", distance, intact, got, at, ok)
			}
		}
		index := NewBTree(distance)
		index.Insert(Point{Fingerprint: query ^ everywhere})
		if got, at, ok := index.Nearest(query, nil); ok {
			t.Errorf("distance %d: found %x at %d", distance, got, at)
		}
	}
}

func TestBTreeBlocksCoverAllBits(t *testing.T) {
	for distance := range MaxDistance + 1 {
		var covered uint64
		p := NewBTree(distance).(*permutedCopies)
		for i, c := range p.copies {
			covered ^= bits.RotateLeft64(^uint64(0)<<(64-p.widths[i]), -c.rotate)
		}
		if covered != ^uint64(0) {
			t.Errorf("distance %d: the blocks cover %064b", distance, covered)
		}
	}
}

func TestNearestDoesNotAllocate(t *testing.T) {
	check.OneGoroutine(t)
	eachIndex(t, func(t *testing.T, build func(int) Index) {
		r := rand.New(rand.NewPCG(3, 3))
		index := build(3)
		for seq := range uint64(5000) {
			index.Insert(Point{r.Uint64(), seq})
		}
		for _, live := range []func(Point) bool{nil, func(c Point) bool { return c.Seq%2 == 0 }} {
			if n := testing.AllocsPerRun(100, func() { index.Nearest(r.Uint64(), live) }); n != 0 {
				t.Errorf("%v allocations, want none", n)
			}
		}
	})
}

// Queries may run at once, and what they cost may be asked meanwhile.
func TestNearestAtOnce(t *testing.T) {
	eachIndex(t, func(t *testing.T, build func(int) Index) {
		const each, goroutines = 200, 4
		have := randomCentres(rand.New(rand.NewPCG(7, 7)), 500)
		index := build(3)
		index.BulkLoad(slices.Clone(have))
		query := func(n uint64) {
			r := rand.New(rand.NewPCG(8, n))
			for range each {
				c := have[r.IntN(len(have))]
				if got, _, ok := index.Nearest(c.Fingerprint, nil); !ok || got != c {
					t.Errorf("found %v, %t; want %v", got, ok, c)
				}
			}
		}
		query(0)
		once := index.Candidates()
		if once < each {
			t.Errorf("%d candidates of %d queries that each found a centre", once, each)
		}
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() { query(0) })
		}
		for before := once; before < once*(1+goroutines); {
			now := index.Candidates()
			if now < before {
				t.Fatalf("%d candidates after %d", now, before)
			}
			before = now
			runtime.Gosched()
		}
		wg.Wait()
		if got := index.Candidates(); got != once*(1+goroutines) {
			t.Errorf("%d candidates, want %d times %d", got, 1+goroutines, once)
		}
	})
}
