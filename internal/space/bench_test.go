package space

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// One article is assigned among 100,000 clusters; every second one joins.
func BenchmarkAssign(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 5))
	s := testSpace(b, 0)
	var known []uint64
	for i := range int64(100_000) {
		known = append(known, r.Uint64())
		mustAssign(b, s, []fingerprint.Article{clustertest.Article(i, known[i], wallClock)})
	}
	batch := make([]fingerprint.Article, 1)
	i := int64(100_000)
	b.ReportAllocs()
	for b.Loop() {
		hash := r.Uint64()
		if i%2 == 0 {
			hash = known[r.IntN(len(known))] ^ 1<<r.IntN(64)
		}
		batch[0] = clustertest.Article(i, hash, wallClock)
		mustAssign(b, s, batch)
		i++
	}
}

// onDisk is a space whose store is on the real disk.
func onDisk(b *testing.B, window time.Duration) *Space {
	store, err := state.Open(b.TempDir(), state.Identity{Input: "articles"}, state.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return New(hamming.Centres(hamming.NewBTree(3)), store,
		Options{Rule: singlepass.Rule{Window: window}},
		func() time.Time { return at(24 * time.Hour) })
}

// foundMany lets a space found clusters, in batches of the size that a backlog has.
func foundMany(b *testing.B, s *Space, r *rand.Rand, first, n int64, seen func(i int64) time.Time) {
	const size = 20_000
	batch := make([]fingerprint.Article, 0, size)
	for i := first; i < first+n; i++ {
		batch = append(batch, clustertest.Article(i, r.Uint64(), seen(i)))
		if len(batch) == size || i == first+n-1 {
			mustAssign(b, s, batch)
			batch = batch[:0]
		}
	}
}

// A million clusters expire with one article: how long the batches take that have them to take
// away, each of one article.
func BenchmarkMassExpiry(b *testing.B) {
	const clusters, window = 1_000_000, time.Hour
	for b.Loop() {
		r := rand.New(rand.NewPCG(1, 6))
		s := onDisk(b, window)
		foundMany(b, s, r, 0, clusters, func(int64) time.Time { return wallClock })
		var took []float64
		for i := int64(clusters); s.rule.Len() > 10_000; i++ {
			began := time.Now()
			mustAssign(b, s, []fingerprint.Article{clustertest.Article(i, r.Uint64(), at(2*window))})
			took = append(took, time.Since(began).Seconds()*1000)
		}
		slices.Sort(took)
		b.ReportMetric(float64(len(took)), "batches")
		b.ReportMetric(took[len(took)/2], "ms/median-batch")
		b.ReportMetric(took[len(took)*99/100], "ms/p99-batch")
		b.ReportMetric(took[len(took)-1], "ms/longest-batch")
	}
}

// An hour's worth of articles, 100 a second, with a window of ten minutes: the live heap after
// twenty minutes, when the window is full twice over, and at the end.
func BenchmarkChurn(b *testing.B) {
	const perSecond, window = 100, 10 * time.Minute
	for b.Loop() {
		r := rand.New(rand.NewPCG(1, 7))
		s := onDisk(b, window)
		articles := func(from, to time.Duration) {
			first, n := int64(from.Seconds()*perSecond), int64((to-from).Seconds()*perSecond)
			foundMany(b, s, r, first, n,
				func(i int64) time.Time { return at(-time.Hour + time.Duration(i)*time.Second/perSecond) })
		}
		articles(0, 20*time.Minute)
		b.ReportMetric(liveHeap(), "MB/after-20-min")
		articles(20*time.Minute, 40*time.Minute)
		b.ReportMetric(liveHeap(), "MB/after-40-min")
		articles(40*time.Minute, time.Hour)
		b.ReportMetric(liveHeap(), "MB/after-60-min")
		b.ReportMetric(float64(s.rule.Len()), "clusters")
	}
}

// liveHeap is in megabytes.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}
