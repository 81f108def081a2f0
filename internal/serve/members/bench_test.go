package members

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/space/disk"
)

// results returns n records of results like those of a feed: half of the articles found clusters,
// and few clusters are large.
func results(n int) []kafka.Record {
	random := rand.New(rand.NewPCG(1, 1))
	var clusters []string
	sizes := make(map[string]int)
	records := make([]kafka.Record, n)
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for i := range records {
		at = at.Add(time.Millisecond)
		source := article.Address{Topic: "articles", Partition: i % 4, Offset: int64(i)}
		id, status, distance := source.String(), article.New, 0.0
		if i > 0 && random.IntN(2) == 0 {
			if id = clusters[0]; random.IntN(10) > 0 {
				id = clusters[int(float64(len(clusters))*random.Float64()*random.Float64())]
			}
			status, distance = article.Joined, float64(random.IntN(4))
		} else {
			clusters = append(clusters, id)
		}
		sizes[id]++
		fingerprint := article.Fingerprint(random.Uint64())
		r := article.Result{
			ArticleID: fmt.Sprintf("https://example.com/2026/05/01/%d.html", i), ClusterID: &id,
			Status: status, Distance: &distance, Size: sizes[id], Source: source,
			Representative: &article.Representative{
				ID: "https://example.com/2026/05/01/1.html", Title: "港口大桥今天通车，居民沿着河岸庆祝",
			},
			Fingerprint: &fingerprint, Pipeline: "method=simhash,weights=log,idf=none,clean=1",
		}
		records[i] = kafka.Record{
			Topic: "results", Offset: int64(i), Time: at, Value: r.JSON(),
			Headers: []kafka.Header{
				{Key: article.HeaderSource, Value: []byte(source.String())},
				{Key: article.HeaderPosition, Value: strconv.AppendInt(nil, int64(i), 10)},
				{Key: article.HeaderEventTime, Value: strconv.AppendInt(nil, at.UnixMilli(), 10)},
			},
		}
	}
	return records
}

// full returns a view of records, without a broker.
func full(b *testing.B, records []kafka.Record) *View {
	b.Helper()
	v := New(Options{
		Log: slog.New(slog.DiscardHandler), Dir: b.TempDir(), Topic: "results", Input: "articles",
		Bytes: 4 << 30,
	})
	v.cache = disk.NewCache(cacheBytes)
	opened, err := v.open(identity{})
	if err != nil {
		b.Fatal(err)
	}
	opened[0].meta = meta{identity: identity{Version: version}, Next: make(map[int]int64)}
	v.generations, v.reads.ends = opened, make(map[int]int64)
	b.Cleanup(func() {
		if err := v.close(); err != nil {
			b.Error(err)
		}
		v.cache.Release()
	})
	for from := 0; from < len(records); from += 2000 {
		to := min(from+2000, len(records))
		chunk := consumer.Chunk{Records: records[from:to], Next: int64(to)}
		if err := v.apply(b.Context(), chunk); err != nil {
			b.Fatal(err)
		}
	}
	return v
}

// BenchmarkBuild is what a result costs the view, and how many bytes of disk it takes.
func BenchmarkBuild(b *testing.B) {
	records := results(max(b.N, 1))
	b.ReportAllocs()
	b.ResetTimer()
	v := full(b, records)
	b.StopTimer()
	if err := v.newest().Flush(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(v.newest().Size())/float64(len(records)), "diskB/op")
}

// BenchmarkPage is a page of 100 members of a large cluster.
func BenchmarkPage(b *testing.B) {
	v := full(b, results(200_000))
	id := article.Address{Topic: "articles"}.String()
	page, err := v.Range(b.Context(), id, 0, math.MaxUint64, MaxPage)
	if err != nil || len(page.Members) < 500 {
		b.Fatal(len(page.Members), err)
	}
	for b.Loop() {
		if page, err = v.Range(b.Context(), id, 1000, math.MaxUint64, 100); err != nil {
			b.Fatal(err)
		}
	}
	if len(page.Members) != 100 {
		b.Fatal(len(page.Members))
	}
}

// BenchmarkArticle is one article by its id.
func BenchmarkArticle(b *testing.B) {
	const n = 200_000
	v, i := full(b, results(n)), 0
	for b.Loop() {
		i = (i + 7919) % n
		id := fmt.Sprintf("https://example.com/2026/05/01/%d.html", i)
		if _, found, err := v.latest(id); !found || err != nil {
			b.Fatal(found, err)
		}
	}
}
