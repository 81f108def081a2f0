package pipeline

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
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
			for b.Loop() {
				if out := f.one(r); out.rejection != nil {
					b.Fatal(out.rejection)
				}
			}
		})
	}
}

// One article is assigned among 100,000 clusters; every second one joins.
func BenchmarkAssign(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 5))
	s := testSpace(b, 0)
	var known []uint64
	for i := range int64(100_000) {
		known = append(known, r.Uint64())
		s.assign([]fingerprinted{art(i, known[i], wallClock)})
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
		s.assign(batch)
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
	c := s.assign(batch)
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
		input := Input{Name: "feed", Reader: strings.NewReader(content.String())}
		if _, err := clusterFiles(b.Context(), c, f, []Input{input}, io.Discard, func(r Rejected) error { return r.Rejection }); err != nil {
			b.Fatal(err)
		}
	}
}
