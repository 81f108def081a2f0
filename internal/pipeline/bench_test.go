package pipeline

import (
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/checkpoint"
	"github.com/clusterd/clusterd/internal/fingerprint"
	"github.com/clusterd/clusterd/internal/method/hamming"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// Results and clusters of a batch of 1,000 articles are encoded.
func BenchmarkRecords(b *testing.B) {
	const articles = 1000
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		b.Fatal(err)
	}
	o, s := testOutputs(4), space.New(hamming.Centres(hamming.NewBTree(3)), store, space.Options{},
		time.Now)
	assigned, err := s.Assign(func(yield func(*fingerprint.Article) bool) {
		for i := range articles {
			a := clustertest.Article(int64(i), uint64(i/2)*0x0123_4567_89ab_cdef,
				wallClock.Add(time.Duration(i)*time.Second))
			yield(&a)
		}
	}, articles)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		size := 0
		for _, r := range o.records(nil, assigned, &checkpoint.Record{}) {
			size += len(r.Value)
		}
		b.SetBytes(int64(size))
	}
	b.ReportMetric(float64(articles)*float64(b.N)/b.Elapsed().Seconds(), "articles/s")
}
