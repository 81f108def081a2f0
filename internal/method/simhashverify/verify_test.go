package simhashverify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/method/minhash"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text"
)

func newSketcher(t testing.TB, similarity float64) *Sketcher {
	t.Helper()
	cleaner, err := text.NewCleaner(text.CleanOptions{HTML: "never"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSketcher(cleaner, similarity, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNew(t *testing.T) {
	check.OneGoroutine(t)
	for _, similarity := range []float64{-1, 1.01, math.NaN(), math.Inf(1)} {
		if s, err := NewSketcher(nil, similarity, nil); err == nil || s != nil {
			t.Errorf("similarity %v: %v, error %v", similarity, s, err)
		}
	}
	for similarity, differ := range map[float64]int{
		1: 0, .5: components / 4, .75: components / 8,
		.9: components / 20, 0: 56,
	} {
		if got := newSketcher(t, similarity).differ; got != differ {
			t.Errorf("similarity %v: %d bits may differ, want %d", similarity, got, differ)
		}
	}
}

// random returns n random characters.
func random(r *rand.Rand, n int) string {
	made := make([]rune, n)
	for i := range made {
		made[i] = rune(0x4e00 + r.IntN(3000))
	}
	return string(made)
}

func TestSketches(t *testing.T) {
	check.OneGoroutine(t)
	sketch := newSketcher(t, 0).NewSketchFunc()
	for _, nothing := range []string{"", " \n", "——！"} {
		if got, ok := sketch("", nothing); ok || got != "" {
			t.Errorf("%q has the sketch %x", nothing, got)
		}
	}
	article := random(rand.New(rand.NewPCG(1, 1)), 300)
	one, ok := sketch("Title", article)
	if !ok || len(one) != components/8 {
		t.Fatalf("a sketch of %d bytes, %t; want %d", len(one), ok, components/8)
	}
	for name, same := range map[string][2]string{
		"the same":           {"Title", article},
		"white space":        {"T it\tle ", "\n" + article[:30] + "  " + article[30:]},
		"case":               {"TITLE", article},
		"title and contents": {"", "title" + article},
	} {
		if got, _ := sketch(same[0], same[1]); got != one {
			t.Errorf("%s: another sketch", name)
		}
	}
	if got := parse(one).String(); got != one {
		t.Errorf("%x is taken apart and put together to %x", one, got)
	}
}

// The share of bits that differ is half of what the shingles lack in similarity.
func TestSketchesEstimateSimilarity(t *testing.T) {
	check.OneGoroutine(t)
	sketch := newSketcher(t, 0).NewSketchFunc()
	r := rand.New(rand.NewPCG(2, 2))
	const articles, length = 60, 400
	for _, cut := range []int{0, 10, 40, 100, 200, 400} {
		var sum, squares float64
		for range articles {
			article := random(r, length)
			a, _ := sketch("", article)
			b, _ := sketch("", article[:3*(length-cut)]+random(r, cut))
			estimate := 1 - 2*float64(parse(a).differing(parse(b)))/components
			sum, squares = sum+estimate, squares+estimate*estimate
		}
		shared, all := float64(max(0, length-cut-shingle+1)), float64(length-shingle+1)
		similarity := shared / (2*all - shared)
		mean := sum / articles
		deviation := math.Sqrt(max(0, squares/articles-mean*mean))
		if math.Abs(mean-similarity) > .015 || deviation > .06 {
			t.Errorf("similarity %.3f: estimated as %.3f, standard deviation %.3f", similarity, mean,
				deviation)
		}
	}
}

// plain is what an index of a Sketcher answers.
type plain struct {
	s        *Sketcher
	distance int
	have     []singlepass.Centre
}

func (p *plain) nearest(
	f singlepass.Fingerprint, live func(singlepass.Centre) bool,
) (singlepass.Centre, float64, bool) {
	best := singlepass.NewNearest(p.distance, live)
	for _, c := range p.have {
		if p.s.Agree(c.Sketch, f.Sketch) {
			best.Offer(c, c.Seq, simhash.Distance(c.Hash, f.Hash))
		}
	}
	c, distance, ok := best.Result()
	return c, float64(distance), ok
}

// stream makes fingerprints, of which many are near others in hash, sketch or both.
func stream(r *rand.Rand, have []singlepass.Centre) singlepass.Fingerprint {
	var s sketch
	for i := range s {
		s[i] = r.Uint64()
	}
	hash := r.Uint64()
	if len(have) > 0 && r.IntN(4) > 0 {
		near := have[r.IntN(len(have))]
		hash = near.Hash
		for range r.IntN(MaxDistance + 3) {
			hash ^= 1 << r.IntN(64)
		}
		if r.IntN(4) == 0 {
			near = have[r.IntN(len(have))]
		}
		s = parse(near.Sketch)
		for range r.IntN(components / 5) {
			s[r.IntN(len(s))] ^= 1 << r.IntN(64)
		}
	}
	return singlepass.Fingerprint{Hash: hash, Sketch: s.String()}
}

// Whatever centres come and go, and whichever are live, an index answers as the definition says.
func TestIndexEqualsDefinition(t *testing.T) {
	check.OneGoroutine(t)
	for _, distance := range []int{0, 3, 8, MaxDistance} {
		t.Run(fmt.Sprint(distance), func(t *testing.T) { compareIndex(t, distance, .78) })
	}
}

func compareIndex(t *testing.T, distance int, similarity float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, uint64(distance)))
	want := &plain{s: newSketcher(t, similarity), distance: distance}
	for seq := range uint64(100) {
		want.have = append(want.have, singlepass.Centre{Fingerprint: stream(r, want.have), Seq: seq})
	}
	index := want.s.NewIndex(distance)
	index.BulkLoad(len(want.have), slices.Values(want.have))
	found := 0
	for seq := uint64(100); seq < 800; seq++ {
		if at := r.IntN(len(want.have)); r.IntN(3) == 0 {
			gone := want.have[at]
			want.have = slices.Delete(want.have, at, at+1)
			if !index.Remove(gone) || index.Remove(gone) {
				t.Fatalf("%v must be there to remove once", gone.Seq)
			}
		}
		c := singlepass.Centre{Fingerprint: stream(r, want.have), Seq: seq}
		want.have = append(want.have, c)
		index.Insert(c)
		if index.Len() != len(want.have) {
			t.Fatalf("%d centres, want %d", index.Len(), len(want.have))
		}
		if compareNearest(t, index, want, stream(r, want.have), r) {
			found++
		}
	}
	if found < 10 {
		t.Errorf("only %d queries found a centre: the stream tests little", found)
	}
}

func compareNearest(
	t *testing.T, index singlepass.Index, want *plain, query singlepass.Fingerprint, r *rand.Rand,
) (found bool) {
	t.Helper()
	salt := r.Uint64() | 1
	live := func(c singlepass.Centre) bool { return c.Seq*salt>>32%4 > 0 }
	asked := make(map[singlepass.Centre]bool)
	ask := func(c singlepass.Centre) bool {
		if !slices.Contains(want.have, c) || asked[c] || !want.s.Agree(c.Sketch, query.Sketch) {
			t.Fatalf("asked whether %d lives, again, or it is not there or does not agree", c.Seq)
		}
		asked[c] = true
		return live(c)
	}
	asking := &singlepass.Live{Asked: ask}
	if r.IntN(4) == 0 {
		live, asking = nil, nil
	}
	c, distance, ok := index.Nearest(query, asking)
	wantC, wantDistance, wantOK := want.nearest(query, live)
	if c != wantC || distance != wantDistance || ok != wantOK {
		t.Fatalf("nearest is %d at %v, %t; want %d at %v, %t", c.Seq, distance, ok, wantC.Seq,
			wantDistance, wantOK)
	}
	return ok
}

func TestSketchAllocatesLittle(t *testing.T) {
	sketch := newSketcher(t, 0).NewSketchFunc()
	article := random(rand.New(rand.NewPCG(4, 4)), 1000)
	sketch("", article)
	// the signature and the sketch
	if n := testing.AllocsPerRun(20, func() { sketch("", article) }); n > 2 {
		t.Errorf("%v allocations, want 2", n)
	}
}

func BenchmarkSketch(b *testing.B) {
	sketch := newSketcher(b, 0).NewSketchFunc()
	for _, length := range []int{20, 100, 1000} {
		article := random(rand.New(rand.NewPCG(5, 5)), length)
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			b.SetBytes(int64(len(article)))
			b.ReportAllocs()
			for b.Loop() {
				sketch("", article)
			}
		})
	}
}

// The signature of which a sketch keeps a bit a place is that of minhash with as many components.
func TestSketchIsOfMinHash(t *testing.T) {
	check.OneGoroutine(t)
	cleaner, err := text.NewCleaner(text.CleanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := minhash.New(minhash.Options{Shingles: shingling.Shingles{
		Cleaner: cleaner, Size: shingle,
	}, Signature: "fast", Hashes: components, Recall: 1})
	if err != nil {
		t.Fatal(err)
	}
	article := random(rand.New(rand.NewPCG(6, 6)), 50)
	f, _ := m.NewFingerprinter()("", article)
	got, _ := newSketcher(t, 0).NewSketchFunc()("", article)
	for i := range components {
		if bit := got[i/8] >> (i % 8) & 1; bit != f.Sketch[i]&1 {
			t.Fatalf("bit %d is %d, and place %d of the signature %x", i, bit, i, f.Sketch[i])
		}
	}
}

// BenchmarkIndex asks an index of random centres at the largest distance, and says what it takes on
// the heap.
func BenchmarkIndex(b *testing.B) {
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			r := rand.New(rand.NewPCG(7, 7))
			query := stream(r, nil)
			before := heapInUse()
			index := newSketcher(b, 0).NewIndex(MaxDistance)
			for seq := range uint64(size) {
				index.Insert(singlepass.Centre{Fingerprint: singlepass.Fingerprint{
					Hash: r.Uint64(), Sketch: query.Sketch,
				}, Seq: seq})
			}
			perCentre := float64(heapInUse()-before) / float64(size)
			for b.Loop() {
				query.Hash = r.Uint64()
				index.Nearest(query, nil)
			}
			b.ReportMetric(perCentre, "B/centre")
		})
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
