package replica

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// someCluster returns cluster i of many, as comments found them.
func someCluster(i int, random *rand.Rand) cluster.Cluster {
	at := wallClock.UnixMilli() + int64(i)
	c := cluster.Cluster{
		Centre: singlepass.Centre{
			Fingerprint: singlepass.Fingerprint{Hash: random.Uint64()}, Seq: uint64(i),
		},
		Founder: article.Address{Topic: "articles", Offset: int64(i)}, Position: uint64(i), Size: 1,
		FirstSeen: at, LastSeen: at,
		Representative: article.Representative{
			ID:      "c" + strconv.Itoa(i),
			Excerpt: "Best watches in town, all brands at half the price, number " + strconv.Itoa(i),
		},
	}
	if i%4 == 0 { // others have joined, long after
		c.Size, c.Position, c.LastSeen = 3, uint64(i)+1000, at+1000
	}
	return c
}

// chunks returns the records of n clusters as a fetch of the clusters topic brings them.
func chunks(r *Replica, n int, binary bool) (all []consumer.Chunk) {
	const size = 20_000
	random := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < n; from += size {
		chunk := consumer.Chunk{Next: int64(min(from+size, n))}
		for i := from; i < min(from+size, n); i++ {
			c := someCluster(i, random)
			form := c.AppendJSON
			if binary {
				form = c.AppendBinary
			}
			chunk.Records = append(chunk.Records, kafka.Record{
				Topic: r.Topic, Offset: int64(i), Time: wallClock, Key: []byte(c.ID()),
				Value:   form(nil, r.Options.Space.Pipeline),
				Headers: []kafka.Header{{Key: article.HeaderPosition, Value: fmt.Append(nil, c.Position)}},
			})
		}
		all = append(all, chunk)
	}
	return all
}

// lostDisk returns a replica whose disk is to be rebuilt.
func lostDisk(b *testing.B) *Replica {
	b.Helper()
	r := testReplica(b, 0)
	r.Close()
	r.State.FS, r.Dir = nil, b.TempDir()
	if err := r.openOf("kafka"); err != nil {
		b.Fatal(err)
	}
	r.rebuild = newRebuild(r)
	return r
}

func rebuildFrom(b *testing.B, r *Replica, all []consumer.Chunk) {
	b.Helper()
	for _, chunk := range all {
		if _, err := r.applyChunk(b.Context(), chunk); err != nil {
			b.Fatal(err)
		}
	}
	if err := r.rebuild.finish(b.Context()); err != nil {
		b.Fatal(err)
	}
	r.rebuild = nil
}

// A disk that was lost is rebuilt from the records of its clusters, and the index filled.
func BenchmarkRebuild(b *testing.B) {
	for name, binary := range map[string]bool{"json": false, "binary": true} {
		const n = 1_000_000
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				r := lostDisk(b)
				r.NewIndex = func() (singlepass.Index, error) {
					index, err := hamming.NewIndex("mih", 3)
					return hamming.Centres(index), err
				}
				all := chunks(r, n, binary)
				b.StartTimer()
				began := time.Now()
				rebuildFrom(b, r, all)
				applied := time.Since(began)
				if err := r.load(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(n)/applied.Seconds(), "applied/s")
				b.ReportMetric(float64(n)/time.Since(began).Seconds(), "clusters/s")
				b.StopTimer()
				r.Close()
				b.StartTimer()
			}
		})
	}
}

// The stories of a disk that was lost are read from the records of either form.
func BenchmarkRebuildStories(b *testing.B) {
	const n = 100_000
	for name, write := range map[string]func(*cluster.Story, []byte) []byte{
		"json": (*cluster.Story).AppendJSON, "binary": (*cluster.Story).AppendBinary,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				r := lostDisk(b)
				all := storyChunks(r, n, write)
				b.StartTimer()
				rebuildFrom(b, r, all)
				b.StopTimer()
				r.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "stories/s")
		})
	}
}

// storyChunks returns the records of n stories as a fetch of the clusters topic brings them.
func storyChunks(
	r *Replica, n int, write func(*cluster.Story, []byte) []byte,
) (all []consumer.Chunk) {
	const size = 20_000
	for from := 0; from < n; from += size {
		chunk := consumer.Chunk{Next: int64(min(from+size, n))}
		for i := from; i < min(from+size, n); i++ {
			s := clustertest.LargeStory(i)
			chunk.Records = append(chunk.Records, kafka.Record{
				Topic: r.Topic, Offset: int64(i), Time: wallClock,
				Key: []byte(cluster.StoryPrefix + s.Address), Value: write(&s, nil),
				Headers: []kafka.Header{{Key: article.HeaderPosition, Value: fmt.Append(nil, s.Position)}},
			})
		}
		all = append(all, chunk)
	}
	return all
}
