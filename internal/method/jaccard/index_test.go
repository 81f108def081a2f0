package jaccard

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

func centre(sketch string, seq uint64) singlepass.Centre {
	return singlepass.Centre{Fingerprint: singlepass.Fingerprint{
		Hash: uint64(len(sketch)), Sketch: sketch,
	}, Seq: seq}
}

func newTestIndex(t testing.TB, threshold float64) *Index {
	t.Helper()
	index, err := NewIndex(threshold, Rule{})
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// newScan returns the plain statement of what an Index answers.
func newScan(threshold float64) singlepass.Index {
	return singlepass.NewLinear(threshold, func(a,
		b singlepass.Fingerprint,
	) float64 {
		return Distance(Set(a.Sketch), Set(b.Sketch))
	})
}

func TestBounds(t *testing.T) {
	for threshold, ok := range map[float64]bool{
		0: true, .05: true, .999: true, 1: false, 1.5: false,
		-.1: false, math.NaN(): false,
	} {
		if _, err := NewIndex(threshold, Rule{}); (err == nil) != ok {
			t.Errorf("threshold %v: %v", threshold, err)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, test := range []struct {
		name      string
		threshold float64
		centres   [][]uint64 // by Seq
		query     []uint64
		want      int // -1: none
		distance  float64
	}{
		{"no centres", .5, nil, []uint64{1}, -1, 0},
		{"the same", .5, [][]uint64{{1, 2}}, []uint64{1, 2}, 0, 0},
		{"at the threshold", .5, [][]uint64{{1, 2, 3, 4}}, []uint64{1, 2}, 0, .5},
		{"at the threshold, the last ones", .5, [][]uint64{{1, 2, 3, 4}}, []uint64{3, 4}, 0, .5},
		{"beyond the threshold", .5, [][]uint64{{1, 2, 3, 4, 5}}, []uint64{1, 2}, -1, 0},
		{"nearer before older", .5, [][]uint64{{1, 2, 3}, {1, 2, 3, 4}}, []uint64{1, 2, 3, 4}, 1, 0},
		{"older among equals", .5, [][]uint64{{1, 2, 3, 9}, {1, 2, 3, 8}}, []uint64{1, 2, 3, 4}, 0, .4},
		{
			"equal fractions, older", .5,
			[][]uint64{{2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 2}},
			[]uint64{1, 2, 3, 4},
			0, .5,
		},
		{"threshold 0", 0, [][]uint64{{1, 2}, {1, 2, 3}}, []uint64{1, 2, 3}, 1, 0},
		{"threshold 0, other", 0, [][]uint64{{1, 2}}, []uint64{1, 2, 3}, -1, 0},
		{"nothing in it", .5, [][]uint64{{}, {1}}, []uint64{}, -1, 0},
	} {
		index := newTestIndex(t, test.threshold)
		for seq, hashes := range test.centres {
			index.Insert(centre(string(of(hashes...)), uint64(seq)))
		}
		c, distance, ok := index.Nearest(centre(string(of(test.query...)), 0).Fingerprint, nil)
		if ok != (test.want >= 0) || ok && c.Seq != uint64(test.want) || distance != test.distance {
			t.Errorf("%s: centre %d at %v, %t", test.name, c.Seq, distance, ok)
		}
	}
}

// A family is one of similar sets: most hashes are those of the family, some are of all, some of
// none.
func familySet(r *rand.Rand, families int) Set {
	family, size := uint64(r.IntN(families)), 1+r.IntN(30)
	var b Builder
	for i := range size {
		switch r.IntN(12) {
		case 0:
			b.Add(r.Uint64())
		case 1:
			b.Add(uint64(r.IntN(5)) * 0x9e3779b97f4a7c15)
		default:
			b.Add((family<<8 + uint64(i) + 1) * 0x9e3779b97f4a7c15)
		}
	}
	return b.Set()
}

// A checked index is held to a scan of all centres.
type checked struct {
	t     testing.TB
	index singlepass.Index
	scan  singlepass.Index
	have  map[uint64]singlepass.Centre
	next  uint64
	found int
}

func newCheck(t testing.TB, threshold float64) *checked {
	return &checked{
		t: t, index: newTestIndex(t, threshold), scan: newScan(threshold),
		have: make(map[uint64]singlepass.Centre),
	}
}

func (k *checked) insert(s Set) {
	c := centre(string(s), k.next)
	k.next++
	k.have[c.Seq] = c
	k.index.Insert(c)
	k.scan.Insert(c)
}

func (k *checked) remove(c singlepass.Centre) {
	k.t.Helper()
	_, was := k.have[c.Seq]
	was = was && k.have[c.Seq] == c
	if was {
		delete(k.have, c.Seq)
	}
	if got := k.index.Remove(c); got != was || k.scan.Remove(c) != was {
		k.t.Fatalf("Remove says %t, it was there: %t", got, was)
	}
	if k.index.Len() != len(k.have) {
		k.t.Fatalf("%d centres, want %d", k.index.Len(), len(k.have))
	}
}

func (k *checked) nearest(s Set, live func(singlepass.Centre) bool) {
	k.t.Helper()
	f := centre(string(s), 0).Fingerprint
	asked := make(map[uint64]bool)
	best := singlepass.NewNearest(2., func(singlepass.Centre) bool { return true })
	once := func(c singlepass.Centre) bool {
		d := Distance(s, Set(c.Sketch))
		if asked[c.Seq] || k.have[c.Seq] != c || !best.Beaten(c.Seq, d) {
			k.t.Fatalf("asked of centre %d: again, or not in the index, or no answer so far", c.Seq)
		}
		asked[c.Seq] = true
		if live(c) {
			best.Offer(c, c.Seq, d)
		}
		return live(c)
	}
	c, d, ok := k.index.Nearest(f, &singlepass.Live{Asked: once})
	wantC, wantD, wantOK := k.scan.Nearest(f, &singlepass.Live{Asked: live})
	if c != wantC || d != wantD || ok != wantOK {
		k.t.Fatalf("centre %d at %v, %t; the scan says %d at %v, %t", c.Seq, d, ok, wantC.Seq, wantD,
			wantOK)
	}
	if ok {
		k.found++
	}
}

// refill puts the centres into a new index, at once.
func (k *checked) refill(threshold float64) {
	k.index = newTestIndex(k.t, threshold)
	k.index.BulkLoad(len(k.have), maps.Values(k.have))
}

// The index answers as a scan does, whatever comes and goes, also when it has learnt how frequent
// hashes are.
func TestIndexEqualsScan(t *testing.T) {
	check.OneGoroutine(t)
	for _, threshold := range []float64{0, .05, 1 - .77, .95} {
		k, r := newCheck(t, threshold), rand.New(rand.NewPCG(3, math.Float64bits(threshold)))
		sets := make([]Set, 1000)
		for i := range sets {
			sets[i] = familySet(r, 200)
		}
		for step := range 2400 {
			bit := r.Uint64N(4)
			live := func(c singlepass.Centre) bool { return c.Seq%4 != bit }
			switch set := sets[r.IntN(len(sets))]; {
			case step == 1600:
				k.refill(threshold)
			case r.IntN(2) == 0:
				k.insert(set)
			case r.IntN(3) == 0:
				gone := centre(string(set), r.Uint64N(k.next+1))
				if c, ok := k.have[gone.Seq]; ok {
					gone = c
				}
				k.remove(gone)
			default:
				k.nearest(set, live)
			}
		}
		if len(k.have) < learnFirst*5/4 || k.found < 100 {
			t.Errorf("threshold %v: %d centres, %d found: the test shows little", threshold, len(k.have),
				k.found)
		}
	}
}

// The same of large sets, of which samples are left.
func TestIndexOfSamples(t *testing.T) {
	check.OneGoroutine(t)
	all := upTo(Max + Max/2)
	k := newCheck(t, .5)
	for n := Max / 2; n <= len(all); n += Max / 4 {
		k.insert(of(all[:n]...))
		k.insert(of(all[len(all)-n:]...))
	}
	for n := Max / 4; n <= len(all); n += Max / 4 {
		k.nearest(of(all[:n]...), func(c singlepass.Centre) bool { return c.Seq%2 == 0 })
	}
	if k.found < 4 {
		t.Errorf("%d found", k.found)
	}
}

// Queries may run at once.
func TestNearestAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	index := newTestIndex(t, .3)
	sets := make([]Set, 700)
	for i := range sets {
		sets[i] = familySet(r, 100)
		index.Insert(centre(string(sets[i]), uint64(i)))
	}
	nearest := func(i int) uint64 {
		c, _, _ := index.Nearest(centre(string(sets[i]), 0).Fingerprint, nil)
		return c.Seq
	}
	want := make([]uint64, len(sets))
	for i := range want {
		want[i] = nearest(i)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for i := range sets {
				if got := nearest(i); got != want[i] {
					t.Errorf("nearest to %d: %d, want %d", i, got, want[i])
				}
			}
		})
	}
	group.Wait()
}

// What centres took is used again when they are gone.
func TestMemoryIsUsedAgain(t *testing.T) {
	check.OneGoroutine(t)
	r := rand.New(rand.NewPCG(6, 6))
	index := newTestIndex(t, .2)
	var have []singlepass.Centre
	replace := func(times int) {
		for range times {
			have = append(have, centre(string(familySet(r, 50)), r.Uint64()))
			index.Insert(have[len(have)-1])
			if len(have) > 100 {
				index.Remove(have[0])
				have = slices.Delete(have, 0, 1)
			}
		}
	}
	replace(1000)
	nodes, entries := len(index.postings.nodes), len(index.entries)
	replace(10_000)
	if n := len(index.postings.nodes); n > 2*nodes || len(index.entries) != entries {
		t.Errorf("%d postings and %d entries became %d and %d", nodes, entries, n, len(index.entries))
	}
	for _, c := range have {
		index.Remove(c)
	}
	if n := len(index.postings.heads); n != 0 {
		t.Errorf("%d hashes are left of no centre", n)
	}
}

// Steps of two bytes insert, remove and look for sets of few hashes.
func FuzzIndex(f *testing.F) {
	f.Fuzz(func(t *testing.T, threshold uint8, steps []byte) {
		k := newCheck(t, float64(threshold)/256)
		for ; len(steps) > 1 && k.next < 300; steps = steps[2:] {
			var b Builder
			for i := range 8 {
				if steps[1]>>i&1 == 1 {
					b.Add(uint64(i) * 0x9e3779b97f4a7c15)
				}
			}
			set, seq := b.Set(), uint64(steps[0]>>2)
			switch steps[0] % 4 {
			case 0:
				k.insert(set)
			case 1:
				k.remove(centre(string(set), seq))
			case 2:
				k.remove(k.have[seq])
			default:
				k.nearest(set, func(c singlepass.Centre) bool { return c.Seq%8 != seq })
			}
		}
		k.refill(float64(threshold) / 256)
		k.nearest(of(0), func(singlepass.Centre) bool { return true })
	})
}
