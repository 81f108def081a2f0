package replica

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/method/minhash"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
	"github.com/clusterd/clusterd/internal/text"
)

// wallClock is when the records of these tests were written.
var wallClock = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// testReplica returns an open replica of some input partitions, all if none is named, with its disk
// in memory and without a broker. It has SimHash, and the clusters topic has three partitions.
func testReplica(t testing.TB, window time.Duration, inputs ...int) *Replica {
	t.Helper()
	r := &Replica{
		Options: Options{
			Log: slog.New(slog.DiscardHandler), Monitor: monitor.New("test"), Topic: "clusters",
			Brokers: []string{"broker:9092"},
			Space: checkpoint.Record{
				Input: "articles", Group: "clusterd", Scope: "topic", Space: "all", Pipeline: "test",
				Threshold: "distance=3", Window: window.String(),
			},
			Inputs: inputs, Rule: space.Options{Rule: singlepass.Rule{Window: window}},
			Check: singlepass.Fingerprint.CheckNoSketch, Dir: "space",
			State:    state.Options{FS: vfs.NewMem()},
			NewIndex: func() (singlepass.Index, error) { return hamming.Centres(hamming.NewBTree(3)), nil },
		},
		modulus: 3, scans: make(map[int]scan),
		scanTail: func(_ context.Context, _ int, from int64, _ func(kafka.Record)) (int64,
			error,
		) {
			return from, nil
		},
	}
	reopen(t, r)
	t.Cleanup(r.Close)
	return r
}

// reopen opens the disk of a replica again, and fills the index from it.
func reopen(t testing.TB, r *Replica) {
	t.Helper()
	r.Close()
	err := r.openOf("kafka")
	if err == nil {
		err = r.load(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// stored returns how many clusters with a small seq are on disk.
func stored(t testing.TB, r *Replica) (n int) {
	t.Helper()
	for seq := range uint64(1000) {
		_, ok, err := r.space.Get(seq)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			n++
		}
	}
	return n
}

var minhashMethod = sync.OnceValues(func() (*minhash.Method, error) {
	cleaner, err := text.NewCleaner(text.CleanOptions{})
	if err != nil {
		return nil, err
	}
	return minhash.New(minhash.Options{
		Shingles: shingling.Shingles{Cleaner: cleaner, Size: 5}, Signature: "fast", Hashes: 16,
		Recall: .99,
	})
})

// minhashReplica returns a replica of a method with sketches.
func minhashReplica(t testing.TB) *Replica {
	t.Helper()
	m, err := minhashMethod()
	if err != nil {
		t.Fatal(err)
	}
	r := testReplica(t, time.Hour)
	r.Check, r.Options.Space.Pipeline, r.Options.Space.Threshold = m.Check, m.Identity(),
		m.ThresholdSettings()
	r.NewIndex = func() (singlepass.Index, error) { return m.NewIndex(m.Threshold()) }
	r.State.FS = vfs.NewMem()
	reopen(t, r)
	return r
}

// soundCluster is one of two articles that minhash could have made.
func soundCluster(t testing.TB, r *Replica) article.Cluster {
	t.Helper()
	m, err := minhashMethod()
	if err != nil {
		t.Fatal(err)
	}
	f, _ := m.NewFingerprinter()("", "the harbour bridge opens after three years of work")
	return article.Cluster{
		ClusterID: "articles/4/7", Seq: 7, Fingerprint: article.Fingerprint(f.Hash),
		Sketch: []byte(f.Sketch), Size: 2,
		FirstSeen: wallClock.Add(-time.Hour), LastSeen: wallClock,
		Representative: article.Representative{ID: "a", Title: "Harbour bridge opens"},
		Pipeline:       r.Options.Space.Pipeline,
	}
}

// clusterRecord is the record of a cluster at an offset of partition 1, of three.
func clusterRecord(c article.Cluster, offset int64, position string) kafka.Record {
	return kafka.Record{
		Topic: "clusters", Partition: 1, Offset: offset, Time: wallClock, Key: []byte(c.ClusterID),
		Value:   c.JSON(),
		Headers: []kafka.Header{{Key: article.HeaderPosition, Value: []byte(position)}},
	}
}

func applyAll(t testing.TB, r *Replica, records ...kafka.Record) error {
	t.Helper()
	for _, record := range records {
		if _, err := r.applyChunk(t.Context(), consumer.Chunk{
			Partition: record.Partition,
			Records:   []kafka.Record{record}, Next: record.Offset + 1,
		}); err != nil {
			return err
		}
	}
	return nil
}

func checkpointOf(r *Replica, offsets map[int]int64) checkpoint.Record {
	c := r.Options.Space
	c.Offsets, c.NextPosition, c.StreamTime = offsets, 20, wallClock.UnixMilli()
	return c
}

func checkpointRecord(c checkpoint.Record, offset int64) kafka.Record {
	return kafka.Record{
		Topic: "clusters", Partition: 0, Offset: offset, Time: wallClock, Key: []byte(c.Key()),
		Value: c.JSON(),
	}
}

// liveRecord returns the record of a live cluster, in one form or the other.
func liveRecord(c cluster.Cluster, identity string) kafka.Record {
	form := c.AppendJSON
	if c.Position%2 == 1 {
		form = c.AppendBinary
	}
	return kafka.Record{
		Topic: "clusters", Partition: c.Founder.Partition % 3, Key: []byte(c.ID()),
		Value:   form(nil, identity),
		Headers: []kafka.Header{{Key: article.HeaderPosition, Value: fmt.Append(nil, c.Position)}},
	}
}

func xxh3Of(sketch []byte) uint64 { return xxh3.Hash(sketch) }

func assign(s *space.Space, articles []fingerprint.Article) (space.Batch, error) {
	return s.Assign(clustertest.Each(articles), len(articles))
}

// mustAssign assigns a batch and commits it.
func mustAssign(t testing.TB, s *space.Space, articles []fingerprint.Article) space.Batch {
	t.Helper()
	b, err := assign(s, articles)
	if err == nil {
		err = s.Commit(b, s.Meta())
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// testCluster returns a cluster of SimHash that was founded at this address.
func testCluster(partition int, offset int64) cluster.Cluster {
	return cluster.Cluster{
		Centre: singlepass.Centre{
			Fingerprint: singlepass.Fingerprint{Hash: 0xabc}, Seq: uint64(offset),
		},
		Founder:  article.Address{Topic: "articles", Partition: partition, Offset: offset},
		Position: uint64(offset) + 100,
		Size:     3, FirstSeen: wallClock.UnixMilli(), LastSeen: wallClock.Add(time.Hour).UnixMilli(),
		Representative: article.Representative{ID: "a", Title: "港口大桥"},
	}
}
