package jaccard

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// articleSets returns n sets of some 1,000 hashes each, as of articles of a thousand characters: a
// tenth of them frequent, by Zipf's law, the rest of one article alone.
func articleSets(n int) []Set {
	r := rand.New(rand.NewPCG(1, 1))
	frequent := rand.NewZipf(r, 1.2, 10, 1<<20)
	all := make([]Set, n)
	var b Builder
	for i := range all {
		for range 900 {
			b.Add(r.Uint64())
		}
		for range 100 {
			b.Add(frequent.Uint64() * 0x9e3779b97f4a7c15)
		}
		all[i] = b.Set()
	}
	return all
}

// eachBound runs f as a sub-benchmark on indexes of so many centres.
func eachBound(b *testing.B, centres int, f func(b *testing.B, index *Index, all []Set)) {
	b.Helper()
	all := articleSets(centres)
	for _, threshold := range []float64{.05, .2} {
		b.Run(fmt.Sprintf("%v/%d", threshold, centres), func(b *testing.B) {
			index := newTestIndex(b, threshold)
			for i, s := range all {
				index.Insert(centre(string(s), uint64(i)))
			}
			f(b, index, all)
		})
	}
}

// BenchmarkNearest asks for copies of known centres, and for new articles.
func BenchmarkNearest(b *testing.B) {
	eachBound(b, 10_000, func(b *testing.B, index *Index, all []Set) {
		fresh := articleSets(11_000)[10_000:]
		for name, queries := range map[string][]Set{"copy": all, "new": fresh} {
			b.Run(name, func(b *testing.B) {
				before := index.Candidates()
				n := 0
				for ; b.Loop(); n++ {
					index.Nearest(singlepass.Fingerprint{Sketch: string(queries[n%len(queries)])}, nil)
				}
				b.ReportMetric(float64(index.Candidates()-before)/float64(n), "candidates/op")
			})
		}
	})
}

// BenchmarkMemory measures what a centre takes beside its sketch.
func BenchmarkMemory(b *testing.B) {
	eachBound(b, 10_000, func(b *testing.B, like *Index, all []Set) {
		for b.Loop() {
			before := heap()
			index := newTestIndex(b, like.threshold)
			for i, s := range all {
				index.Insert(centre(string(s), uint64(i)))
			}
			b.ReportMetric(float64(heap()-before)/float64(len(all)), "bytes/centre")
			b.ReportMetric(float64(len(index.postings.nodes))/float64(len(all)), "postings/centre")
			runtime.KeepAlive(index)
		}
	})
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkBuilder makes the set of an article.
func BenchmarkBuilder(b *testing.B) {
	var builder Builder
	all := upTo(1000)
	for b.Loop() {
		for _, hash := range all {
			builder.Add(hash)
		}
		builder.Set()
	}
}
