package fingerprint

import (
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/texts"
)

func BenchmarkFingerprint(b *testing.B) {
	f := newFingerprinter(b)
	chinese := strings.Repeat("港口大桥今天正式通车，居民沿着河岸庆祝，这项工程历时三年建成。市场价格上涨，农民喜获丰收。", 15)
	for _, bench := range []struct {
		name  string
		value []byte
	}{
		{"article-zh-2KB", texts.ArticleJSON("a", "港口大桥通车", chinese)},
		{"comment-100B", texts.ArticleJSON("a", "", "great offer, call 555-0100 now 加微信 abc123")},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.value)))
			b.ReportAllocs()
			w := f.workers.Get().(*Worker)
			for b.Loop() {
				if _, rejection := w.Record(nil, bench.value,
					article.Address{Topic: "articles"}); rejection != nil {
					b.Fatal(rejection)
				}
			}
		})
	}
}

// The stage as it runs, on as many cores as -cpu says: made-up news, a chunk at a time.
func BenchmarkFingerprints(b *testing.B) {
	f := newFingerprinter(b)
	articles, bytes := sample.New(8, time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)), int64(0)
	records := make([][]byte, 2000)
	for i := range records {
		records[i] = articles.Next().JSON()
		bytes += int64(len(records[i]))
	}
	b.SetBytes(bytes)
	for b.Loop() {
		err := f.ForEach(b.Context(), len(records),
			func(w *Worker, i int) { _, _ = w.Record(nil, records[i], article.Address{}) })
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(records))*float64(b.N)/b.Elapsed().Seconds(), "articles/s")
}
