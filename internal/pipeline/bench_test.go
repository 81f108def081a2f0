package pipeline

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sample"
	"github.com/clusterd/clusterd/internal/state"
)

func BenchmarkFingerprint(b *testing.B) {
	f := testFingerprinter(b, testConfig())
	chinese := strings.Repeat("港口大桥今天正式通车，居民沿着河岸庆祝，这项工程历时三年建成。市场价格上涨，农民喜获丰收。", 15)
	for _, bench := range []struct {
		name  string
		value []byte
	}{
		{"article-zh-2KB", articleJSON("a", "港口大桥通车", chinese)},
		{"comment-100B", articleJSON("a", "", "great offer, call 555-0100 now 加微信 abc123")},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.value)))
			b.ReportAllocs()
			r := kafka.Record{Topic: "articles", Value: bench.value}
			print := &printer{f.NewPrinter()}
			for b.Loop() {
				if out := f.one(print, r); out.rejection != nil {
					b.Fatal(out.rejection)
				}
			}
		})
	}
}

// The stage as it runs, on as many cores as -cpu says: made-up news, a chunk at a time.
func BenchmarkFingerprints(b *testing.B) {
	f := testFingerprinter(b, testConfig())
	articles, bytes := sample.New(8, wallClock), int64(0)
	records := make([]kafka.Record, 2000)
	for i := range records {
		records[i].Value = articles.Next().JSON()
		bytes += int64(len(records[i].Value))
	}
	b.SetBytes(bytes)
	for b.Loop() {
		if err := f.Fingerprints(b.Context(), records); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(records))*float64(b.N)/b.Elapsed().Seconds(), "articles/s")
}

// One article is assigned among 100,000 clusters; every second one joins.
func BenchmarkAssign(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 5))
	s := testSpace(b, 0)
	var known []uint64
	for i := range int64(100_000) {
		known = append(known, r.Uint64())
		mustAssign(b, s, []fingerprinted{art(i, known[i], wallClock)})
	}
	batch := make([]fingerprinted, 1)
	i := int64(100_000)
	b.ReportAllocs()
	for b.Loop() {
		fingerprint := r.Uint64()
		if i%2 == 0 {
			fingerprint = known[r.IntN(len(known))] ^ 1<<r.IntN(64)
		}
		batch[0] = art(i, fingerprint, wallClock)
		mustAssign(b, s, batch)
		i++
	}
}

// Results and clusters of a batch of 1,000 articles are encoded.
func BenchmarkRecords(b *testing.B) {
	const articles = 1000
	s, o := testSpace(b, 0), testOutputs(4)
	batch := make([]fingerprinted, articles)
	for i := range batch {
		batch[i] = art(int64(i), uint64(i/2)*0x0123_4567_89ab_cdef, wallClock.Add(time.Duration(i)*time.Second))
	}
	c := mustAssign(b, s, batch)
	b.ReportAllocs()
	for b.Loop() {
		size := 0
		for _, r := range o.records(c) {
			size += len(r.Value)
		}
		b.SetBytes(int64(size))
	}
	b.ReportMetric(float64(articles)*float64(b.N)/b.Elapsed().Seconds(), "articles/s")
}

func BenchmarkFile(b *testing.B) {
	c := testConfig()
	f := testFingerprinter(b, c)
	var content strings.Builder
	for _, v := range feed(1, 2000) {
		fmt.Fprintf(&content, "%s\n", v)
	}
	b.SetBytes(int64(content.Len()))
	for b.Loop() {
		file := files.File{Name: "feed", Lines: strings.NewReader(content.String())}
		if _, err := clusterFiles(b.Context(), c, f, []files.File{file}, io.Discard, func(r Rejected) error { return r.Rejection }, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// onDisk is a space whose store is on the real disk.
func onDisk(b *testing.B, window time.Duration) *space {
	r := testReplica(b, window)
	r.close()
	store, err := state.Open(b.TempDir(), state.Identity{Input: "articles"}, state.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r.space = newTestSpace(r, store)
	return r.space
}

// foundMany lets a space found clusters, in batches of the size that a backlog has.
func foundMany(b *testing.B, s *space, r *rand.Rand, first, n int64, seen func(i int64) time.Time) {
	const size = 20_000
	batch := make([]fingerprinted, 0, size)
	for i := first; i < first+n; i++ {
		batch = append(batch, art(i, r.Uint64(), seen(i)))
		if len(batch) == size || i == first+n-1 {
			mustAssign(b, s, batch)
			batch = batch[:0]
		}
	}
}

// A million clusters expire with one article: how long the batches take that have them to take away, each
// of one article.
func BenchmarkMassExpiry(b *testing.B) {
	const clusters, window = 1_000_000, time.Hour
	for b.Loop() {
		r := rand.New(rand.NewPCG(1, 6))
		s := onDisk(b, window)
		foundMany(b, s, r, 0, clusters, func(int64) time.Time { return wallClock })
		var took []float64
		for i := int64(clusters); s.rule.Len() > 10_000; i++ {
			began := time.Now()
			mustAssign(b, s, []fingerprinted{art(i, r.Uint64(), at(2*window))})
			took = append(took, time.Since(began).Seconds()*1000)
		}
		slices.Sort(took)
		b.ReportMetric(float64(len(took)), "batches")
		b.ReportMetric(took[len(took)/2], "ms/median-batch")
		b.ReportMetric(took[len(took)*99/100], "ms/p99-batch")
		b.ReportMetric(took[len(took)-1], "ms/longest-batch")
	}
}

// An hour's worth of articles, 100 a second, with a window of ten minutes: the live heap after twenty
// minutes, when the window is full twice over, and at the end.
func BenchmarkChurn(b *testing.B) {
	const perSecond, window = 100, 10 * time.Minute
	for b.Loop() {
		r := rand.New(rand.NewPCG(1, 7))
		s := onDisk(b, window)
		articles := func(from, to time.Duration) {
			first, n := int64(from.Seconds()*perSecond), int64((to-from).Seconds()*perSecond)
			foundMany(b, s, r, first, n, func(i int64) time.Time { return at(-time.Hour + time.Duration(i)*time.Second/perSecond) })
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
