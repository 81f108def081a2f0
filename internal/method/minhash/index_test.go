package minhash

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

func always(singlepass.Centre) bool { return true }

// signatures are of eight places here, of which two may differ, in three bands of two.
func TestNearest(t *testing.T) {
	for _, test := range []struct {
		name     string
		centres  []string // Seq is the position
		query    string
		want     int // position, -1 none
		distance float64
	}{
		{"empty", nil, "abcdefgh", -1, 0},
		{"the same", []string{"abcdefgh"}, "abcdefgh", 0, 0},
		{"at the threshold", []string{"abcdef.."}, "abcdefgh", 0, 0.25},
		{"past the threshold", []string{"abcde..."}, "abcdefgh", -1, 0},
		{"nearer before older", []string{"abcdef..", "abcdefg."}, "abcdefgh", 1, 0.125},
		{"older among equals", []string{"abcdefg.", "abcdefg,"}, "abcdefgh", 0, 0.125},
		{"older among equals in other bands", []string{".bcdefgh", "abcdefg."}, "abcdefgh", 0, 0.125},
		{"older among the same", []string{"abcdefgh", "abcdefgh"}, "abcdefgh", 0, 0},
		{"in the last band alone", []string{".b.defgh"}, "abcdefgh", 0, 0.25},
	} {
		index := newIndex(8, 0.25, 1, jaccard.Rule{})
		if index.bands != 3 || index.rows != 2 {
			t.Fatalf("%d bands of %d, want 3 of 2", index.bands, index.rows)
		}
		var all []singlepass.Centre
		for i, s := range slices.Backward(test.centres) {
			all = append(all, singlepass.Centre{Fingerprint: fingerprintOf([]byte(s)), Seq: uint64(i)})
			index.Insert(all[len(all)-1])
		}
		slices.Reverse(all)
		got, distance, ok := index.Nearest(fingerprintOf([]byte(test.query)), nil)
		if test.want < 0 {
			if ok {
				t.Errorf("%s: found %v, want none", test.name, got)
			}
		} else if !ok || got != all[test.want] || distance != test.distance {
			t.Errorf("%s: got %v at %v, %t; want %v at %v", test.name, got, distance, ok, all[test.want],
				test.distance)
		}
	}
}

func TestRemove(t *testing.T) {
	index := newIndex(8, 0.25, 1, jaccard.Rule{})
	old := singlepass.Centre{Fingerprint: fingerprintOf([]byte("abcdefgh")), Seq: 1}
	young, other := old, singlepass.Centre{Fingerprint: fingerprintOf([]byte("abcdefg.")), Seq: 1}
	young.Seq = 2
	index.Insert(young)
	index.Insert(old)
	for _, absent := range []singlepass.Centre{
		other,
		{Seq: 1},
		{Fingerprint: old.Fingerprint, Seq: 3},
	} {
		if index.Remove(absent) {
			t.Errorf("Remove(%v) reports a centre that was never there", absent)
		}
	}
	for i, want := range []singlepass.Centre{old, young} {
		if got, _, ok := index.Nearest(old.Fingerprint, nil); !ok || got != want {
			t.Errorf("nearest is %v, %t; want %v", got, ok, want)
		}
		if !index.Remove(want) || index.Remove(want) {
			t.Errorf("Remove(%v) must report true once, then false", want)
		}
		if got := index.Len(); got != 1-i {
			t.Errorf("length %d, want %d", got, 1-i)
		}
	}
}

// An exact duplicate ends a query early, so that it is compared once, though it agrees in all
// bands.
func TestCandidates(t *testing.T) {
	check.OneGoroutine(t)
	index := newIndex(128, 0.25, 0.999, jaccard.Rule{})
	r := rand.New(rand.NewPCG(1, 1))
	signature := randomSignature(r, 128)
	index.Insert(singlepass.Centre{Fingerprint: fingerprintOf(signature)})
	for i := range 1000 {
		index.Insert(singlepass.Centre{
			Fingerprint: fingerprintOf(randomSignature(r, 128)), Seq: uint64(i + 1),
		})
	}
	for want := uint64(1); want <= 3; want++ {
		index.Nearest(fingerprintOf(changed(r, signature, int(want)-1)), nil)
		if got := index.Candidates(); got != want {
			t.Errorf("%d candidates after %d queries, want one of each", got, want)
		}
	}
}

// forms returns the shapes of indexes that are held to the oracle.
func forms() []struct {
	hashes            int
	threshold, recall float64
	rule              jaccard.Rule
} {
	return []struct {
		hashes            int
		threshold, recall float64
		rule              jaccard.Rule
	}{
		{128, 0.23, 0.999, jaccard.Rule{}},
		{128, 0.23, 1, jaccard.Rule{}},
		{128, 0, 0.9, jaccard.Rule{}},
		{64, 0.4, 0.5, jaccard.Rule{}},
		{16, 0.5, 0.9, jaccard.Rule{}},
		{17, 0.3, 1, jaccard.Rule{}},
		{1, 0, 1, jaccard.Rule{}},
		{20, 0.9, 0.9, jaccard.Rule{}},
		{128, 0.23, 0.999, jaccard.Rule{Containment: .9}},
		{16, 0.1, 1, jaccard.Rule{Containment: .7}},
		{20, 0.9, 0.9, jaccard.Rule{Containment: .9}},
		{128, 0.5, 0.999, jaccard.Rule{LongSimilarity: .7}},
		{20, 0.5, 1, jaccard.Rule{Containment: .9, LongSimilarity: .8}},
	}
}

// However centres come and go, an index answers as the oracle does.
func TestIndexAgainstLinear(t *testing.T) {
	check.OneGoroutine(t)
	for _, form := range forms() {
		t.Run(fmt.Sprint(form), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(form.hashes), 7))
			index := newIndex(form.hashes, form.threshold, form.recall, form.rule)
			oracle := newLinear(index, form.threshold)
			history := &history{t: t, r: r, index: index, oracle: oracle, hashes: form.hashes}
			history.fill(200)
			for range 12 {
				// It grows and shrinks over the edges of chunks and of what is spare.
				history.insert(r.IntN(300))
				history.remove(r.IntN(300))
				history.ask(30)
			}
			history.remove(len(oracle.centres))
			history.insert(100)
			history.ask(30)
		})
	}
}

// A history is what happens to an index and to the oracle.
type history struct {
	t      *testing.T
	r      *rand.Rand
	index  *index
	oracle *linear
	hashes int
	seq    uint64
	gone   []singlepass.Centre
}

// next makes a centre: like no other, a changed copy of one, the same as one, or one of a template,
// in which half of the places are those of all. Where the sketch has the number of shingles, that
// is one of a few.
func (h *history) next() singlepass.Centre {
	h.seq += 1 + h.r.Uint64N(3)
	signature := randomSignature(h.r, h.hashes)
	if n := len(h.oracle.centres); n > 0 {
		other := []byte(h.oracle.centres[h.r.IntN(n)].Sketch)[:h.hashes]
		switch h.r.IntN(5) {
		case 0:
			signature = changed(h.r, other, h.r.IntN(h.hashes/2+1))
		case 1:
			signature = other
		case 2:
			copy(signature[:h.hashes/2], make([]byte, h.hashes))
		}
	}
	if h.index.rule.Counts() {
		size := []uint32{99, 100, 140, 149, 150, 700, 140 | quoting}[h.r.IntN(7)]
		signature = binary.LittleEndian.AppendUint32(signature[:h.hashes:h.hashes], size)
	}
	return singlepass.Centre{Fingerprint: fingerprintOf(signature), Seq: h.seq}
}

func (h *history) fill(n int) {
	for range n {
		h.oracle.centres = append(h.oracle.centres, h.next())
	}
	h.index.BulkLoad(n, slices.Values(h.oracle.centres))
}

func (h *history) insert(n int) {
	for range n {
		c := h.next()
		if gone := len(h.gone); gone > 0 && h.r.IntN(4) == 0 { // one that was there before
			c, h.gone = h.gone[gone-1], h.gone[:gone-1]
		}
		h.oracle.centres = append(h.oracle.centres, c)
		h.index.Insert(c)
	}
}

func (h *history) remove(n int) {
	h.t.Helper()
	for range min(n, len(h.oracle.centres)) {
		c := h.oracle.centres[h.r.IntN(len(h.oracle.centres))]
		if !h.index.Remove(c) || !h.oracle.remove(c) {
			h.t.Fatalf("%x is not there to remove", c)
		}
		if h.index.Remove(c) {
			h.t.Fatalf("%x is there after it was removed", c)
		}
		h.gone = append(h.gone, c)
	}
	if h.index.Len() != len(h.oracle.centres) {
		h.t.Fatalf("length %d, want %d", h.index.Len(), len(h.oracle.centres))
	}
}

func (h *history) ask(n int) {
	h.t.Helper()
	for range n {
		f := h.next().Fingerprint
		for _, live := range []func(singlepass.Centre) bool{
			always, sometimes(h.r.Uint64(), 0.5), sometimes(h.r.Uint64(), 0.05),
		} {
			compare(h.t, h.index, h.oracle, f, live)
		}
	}
}

// As centres go, those that are left are found, to the last one.
func TestShrink(t *testing.T) {
	check.OneGoroutine(t)
	const size = 20_000
	r := rand.New(rand.NewPCG(3, 3))
	index, all := newIndex(16, 0.25, 1, jaccard.Rule{}), make([]singlepass.Centre, size)
	for i := range all {
		all[i] = singlepass.Centre{Fingerprint: fingerprintOf(randomSignature(r, 16)), Seq: uint64(i)}
		index.Insert(all[i])
	}
	for i, c := range all[:size-1] {
		if !index.Remove(c) {
			t.Fatalf("%x is not there to remove", c)
		}
		if i%100 == 0 {
			if got, _, ok := index.Nearest(all[i+1].Fingerprint, nil); !ok || got != all[i+1] {
				t.Fatalf("nearest is %x, %t; want %x, which is there", got, ok, all[i+1])
			}
		}
	}
	if got, _, ok := index.Nearest(all[size-1].Fingerprint, nil); !ok || got != all[size-1] {
		t.Errorf("nearest is %x, %t; want %x, the last one left", got, ok, all[size-1])
	}
}

// Any number may ask at once.
func TestNearestConcurrently(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	index := newIndex(64, 0.25, 0.99, jaccard.Rule{})
	var all []singlepass.Centre
	for i := range 500 {
		all = append(all, singlepass.Centre{
			Fingerprint: fingerprintOf(randomSignature(r, 64)), Seq: uint64(i),
		})
	}
	index.BulkLoad(len(all), slices.Values(all))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, c := range all {
				got, _, ok := index.Nearest(c.Fingerprint, &singlepass.Live{Asked: always})
				if !ok || got != c {
					t.Errorf("nearest is %x, %t; want %x", got, ok, c)
				}
				_ = index.Len() + int(index.Candidates())
			}
		})
	}
	wg.Wait()
	if got := index.Candidates(); got != 4*500 {
		t.Errorf("%d candidates, want one a query", got)
	}
}

// An index of any shape, under any operations, answers as the oracle does.
func FuzzIndex(f *testing.F) {
	check.OneGoroutine(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 2 {
			return
		}
		form := forms()[int(data[0])%len(forms())]
		index := newIndex(form.hashes, form.threshold, form.recall, form.rule)
		history := &history{
			t: t, r: rand.New(rand.NewPCG(uint64(data[1]), 11)), hashes: form.hashes,
			index: index, oracle: newLinear(index, form.threshold),
		}
		for i, op := range data[2:min(len(data), 40)] {
			n := int(op & 63)
			switch {
			case i == 0:
				history.fill(n)
			case op>>6 == 3:
				history.remove(2 * n)
			case op>>6 == 2:
				history.remove(n)
				history.insert(n)
			default:
				history.insert(n)
			}
			history.ask(2)
		}
	})
}
