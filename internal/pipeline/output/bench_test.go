package output

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
	"github.com/clusterd/clusterd/internal/testutil/texts"
)

// Results and clusters of a batch of 1,000 articles are encoded.
func BenchmarkRecords(b *testing.B) {
	const articles = 1000
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		b.Fatal(err)
	}
	o, s := testTopics(4), space.New(hamming.Centres(hamming.NewBTree(3)), store, space.Options{},
		time.Now)
	assigned, err := s.Assign(func(yield func(*fingerprint.Article) bool) {
		for i := range articles {
			a := clustertest.Article(int64(i), uint64(i/2)*0x0123_4567_89ab_cdef,
				time.Unix(0, 0).Add(time.Duration(i)*time.Second))
			yield(&a)
		}
	}, articles)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		size := 0
		for _, r := range o.Records(nil, assigned, &checkpoint.Record{}) {
			size += len(r.Value)
		}
		b.SetBytes(int64(size))
	}
	b.ReportMetric(float64(articles)*float64(b.N)/b.Elapsed().Seconds(), "articles/s")
}

// What each field of a result that can be left out takes, in bytes before and after gzip, and in
// the time to encode and compress it. The results are of comments, without titles.
func BenchmarkFields(b *testing.B) {
	const articles = 1000
	results := make([]space.Assignment, articles)
	for i := range results {
		founder := article.Address{Topic: "comments", Partition: i % 4, Offset: int64(i / 2)}
		results[i] = space.Assignment{
			Article: &fingerprint.Article{
				Source:         article.Address{Topic: "comments", Partition: i % 4, Offset: int64(i)},
				Representative: article.Representative{ID: fmt.Sprint("comment-", i)},
				PublishedAt:    time.Unix(1_700_000_000+int64(i), 0).UTC(),
				Fingerprint:    singlepass.Fingerprint{Hash: uint64(i+1) * 0x9e37_79b9_7f4a_7c15},
			},
			Status: article.Joined, ClusterID: founder.String(), Distance: 1, Size: 2,
			Representative: article.Representative{
				ID: fmt.Sprint("comment-", i/2), Excerpt: texts.Sentence(uint64(i), 17),
			},
			Position: uint64(i), EventTime: 1_700_000_000_000 + int64(i),
		}
	}
	for _, left := range append([]string{"none", "all"}, config.ResultFields()...) {
		fields := slices.DeleteFunc(config.ResultFields(), func(field string) bool {
			return left == "all" || left == field
		})
		b.Run("left-out="+left, func(b *testing.B) {
			o := testTopics(1)
			o.Identity = "method=simhash,hash=sdbm,weight=log,dict=983d9d68,stop=c9db4fa2,norm=1,html=auto"
			o.parts = article.PartsOf(fields)
			w, err := recordbatch.NewWriter("gzip")
			if err != nil {
				b.Fatal(err)
			}
			var size, compressed int
			for b.Loop() {
				var memory kafka.Arena
				records := make([]*kafka.Record, articles)
				size = 0
				for i := range results {
					records[i] = new(o.result(&memory, &results[i]))
					size += len(records[i].Value)
				}
				data, err := w.Encode(records, time.Unix(1_700_000_000, 0))
				if err != nil {
					b.Fatal(err)
				}
				compressed = len(data)
			}
			b.ReportMetric(float64(size)/articles, "bytes/result")
			b.ReportMetric(float64(compressed)/articles, "gzip-bytes/result")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/articles/float64(b.N), "ns/result")
		})
	}
}
