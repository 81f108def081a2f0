package space

import (
	"math"
	"math/bits"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

const (
	manyValues = 100_000
	ofValue    = 10 // clusters
)

// valuesOf returns the n-th batch of articles: each value founds a cluster in each of ten rounds,
// and from then on its articles join them.
func valuesOf(n, size int, divided bool) []fingerprint.Article {
	articles := make([]fingerprint.Article, size)
	for i := range articles {
		at := n*size + i
		value, round := at%manyValues, at/manyValues%ofValue
		// Unrelated fingerprints, so that an undivided space has as many clusters.
		hash := uint64(value*ofValue+round) * 0x9e3779b97f4a7c15
		published := wallClock.Add(time.Duration(at) * time.Millisecond)
		articles[i] = clustertest.Article(int64(3*at), hash, published)
		articles[i].RecordedAt = articles[i].PublishedAt
		if divided {
			articles[i].Fingerprint.Space = "tenant-" + strconv.Itoa(value)
		}
	}
	return articles
}

func manySpaces(b *testing.B, divided bool) (index func() singlepass.Index, o Options) {
	b.Helper()
	index = func() singlepass.Index { return hamming.Centres(hamming.NewMIH(3)) }
	o = Options{Rule: singlepass.Rule{Window: 72 * time.Hour, Divided: divided}}
	if divided {
		one := index
		index = func() singlepass.Index {
			return singlepass.NewDivided(singlepass.Division{
				New: one, Small: 32,
				Near: func(a, c singlepass.Fingerprint) (float64, bool) {
					d := bits.OnesCount64(a.Hash ^ c.Hash)
					return float64(d), d <= 3
				},
			})
		}
	}
	return index, o
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A hundred thousand values of ten clusters each, beside one space with all of the clusters: rates
// of founding and joining, memory beside the store, and the time to load the index from the disk.
func BenchmarkManyValues(b *testing.B) {
	for _, divided := range []bool{false, true} {
		b.Run("divided="+strconv.FormatBool(divided), func(b *testing.B) {
			index, o := manySpaces(b, divided)
			const batch = 20_000
			dir, identity := b.TempDir(), state.Identity{Input: "articles"}
			for b.Loop() {
				store, err := state.Open(dir, identity, state.Options{})
				if err != nil {
					b.Fatal(err)
				}
				clock := func() time.Time { return wallClock.Add(24 * time.Hour) }
				before := heap()
				s := New(index(), store, o, clock)
				phase := func(name string, from, to int) {
					took := time.Duration(0)
					for n := from; n < to; n++ {
						articles := valuesOf(n, batch, divided)
						began := time.Now()
						mustAssign(b, s, articles)
						took += time.Since(began)
					}
					b.ReportMetric(float64((to-from)*batch)/took.Seconds(), name+"/s")
				}
				all := manyValues * ofValue / batch
				phase("founded", 0, all)
				phase("joined", all, 2*all)
				if s.Len() != manyValues*ofValue {
					b.Fatalf("%d clusters", s.Len())
				}
				b.ReportMetric(float64(heap()-before)/manyValues, "B/value")
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				if store, err = state.Open(dir, identity, state.Options{}); err != nil {
					b.Fatal(err)
				}
				s = New(index(), store, o, clock)
				began := time.Now()
				if err := s.Load(b.Context(), func(singlepass.Fingerprint) error { return nil }); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(time.Since(began).Seconds(), "s/load")
				if divided && s.rule.StreamTime("tenant-7") == math.MinInt64 {
					b.Fatal("no stream time")
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				if err := state.Remove(dir); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a value costs in the index alone.
func BenchmarkValueMemory(b *testing.B) {
	for _, of := range []int{1, 10} {
		b.Run(strconv.Itoa(of), func(b *testing.B) {
			index, o := manySpaces(b, true)
			for b.Loop() {
				before := heap()
				s := singlepass.NewSpace(index(), o.Rule, func(uint64) int64 { return wallClock.UnixMilli() })
				for i := range manyValues * of {
					s.Assign(singlepass.Fingerprint{
						Hash:  uint64(i) * 0x9e3779b97f4a7c15,
						Space: "tenant-" + strconv.Itoa(i%manyValues),
					}, wallClock.UnixMilli())
				}
				b.ReportMetric(float64(heap()-before)/manyValues, "B/value")
				runtime.KeepAlive(s)
			}
		})
	}
}
