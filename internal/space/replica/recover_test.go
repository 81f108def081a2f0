package replica

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

func TestApplyChunk(t *testing.T) {
	const identity = "method=simhash,hash=sdbm,weight=log"
	r := testReplica(t, 0, 1, 4)
	r.Options.Space.Pipeline = identity
	record := func(partition int, change func(*cluster.Cluster)) kafka.Record {
		c := testCluster(partition, 7)
		change(&c)
		return liveRecord(c, identity)
	}
	same := func(*cluster.Cluster) {}
	read := func(records ...kafka.Record) error {
		_, err := r.applyChunk(t.Context(), consumer.Chunk{Partition: 1, Records: records, Next: 13})
		return err
	}
	for i, record := range []kafka.Record{
		record(1, same),
		record(1, func(c *cluster.Cluster) { c.Size = 9 }), // a later state of the same
		record(4, func(c *cluster.Cluster) { c.Seq = 8 }),
		record(0, same),                         // another space's
		record(7, same),                         // another space's in a partition of ours
		{Key: []byte("articles/4/7")},           // it expired
		{Key: []byte("articles/9/1")},           // unknown: compaction kept the tombstone alone
		{Key: []byte("of another application")}, // likewise
	} {
		record.Offset = int64(i)
		if err := read(record); err != nil {
			t.Fatal(err)
		}
	}
	c, ok, err := r.space.Get(7)
	if err != nil || !ok || c.Size != 9 || stored(t, r) != 1 || r.space.Len() != 1 {
		t.Errorf("on disk %+v (%t, %v), %d clusters, %d centres; want articles/1/7 alone, of size 9", c,
			ok, err, stored(t, r), r.space.Len())
	}
	want := state.Meta{
		Offsets: map[int]int64{1: 13}, Founders: map[int]int64{1: 7, 4: 7},
		StreamTime: testCluster(1, 7).LastSeen, Next: 108,
		Last: map[int]state.LastRecord{1: {Offset: 7, Key: "of another application"}},
	}
	if diff := cmp.Diff(want, r.space.Meta(), cmpopts.IgnoreFields(state.Meta{},
		"Written")); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}

	unreadable := kafka.Record{
		Topic: "clusters", Partition: 1, Offset: 12, Value: []byte("x"),
		Unreadable: &kafka.Unreadable{Last: 14, Reason: "codec 7"},
	}
	says := "offsets 12 to 14 of clusters/1 cannot be read (codec 7): it is a record batch that " +
		"clusterd did not write. Nothing was skipped. Find out who " +
		"else writes to output.clusters_topic, and start anew with another input.group and another " +
		"output.clusters_topic"
	if err := read(unreadable); err == nil || err.Error() != says {
		t.Errorf("error = %v\nwant    %s", err, says)
	}
}

// What is right by itself may contradict what was there before.
func TestContradictions(t *testing.T) {
	for name, tt := range map[string]struct {
		change   func(*article.Cluster)
		position string
		want     string
	}{
		"another fingerprint": {func(c *article.Cluster) {
			c.Sketch[0]++
			c.Fingerprint = article.Fingerprint(xxh3Of(c.Sketch))
		}, "10", "centre or representative is another"},
		"another representative": {
			func(c *article.Cluster) { c.Representative.ID = "b" }, "10",
			"centre or representative is another",
		},
		"another title": {
			func(c *article.Cluster) { c.Representative.Title = "b" }, "10",
			"centre or representative is another",
		},
		"another seq": {
			func(c *article.Cluster) { c.Seq = 8 }, "10", "another founding order than before, 7",
		},
		"another founder": {
			func(c *article.Cluster) { c.ClusterID = "articles/1/7" }, "10",
			"cluster articles/4/7 has the same founding order 7",
		},
		"position goes back": {
			func(*article.Cluster) {}, "8", "goes back, from size 2 at position 9",
		},
		"size goes back": {func(c *article.Cluster) { c.Seq, c.Size = 7, 1 }, "7", "goes back"},
		"first seen comes later": {
			func(c *article.Cluster) { c.FirstSeen = c.LastSeen }, "10", "goes back",
		},
		"last seen comes earlier": {
			func(c *article.Cluster) { c.LastSeen = c.FirstSeen }, "10", "goes back",
		},
	} {
		for _, inOneChunk := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in one chunk %t", name, inOneChunk), func(t *testing.T) {
				r := minhashReplica(t)
				c := soundCluster(t, r)
				sound := clusterRecord(c, 11, "9")
				tt.change(&c)
				bad := clusterRecord(c, 12, tt.position)
				var err error
				if inOneChunk {
					_, err = r.applyChunk(t.Context(), consumer.Chunk{
						Partition: 1, Records: []kafka.Record{sound, bad}, Next: 13,
					})
				} else {
					err = applyAll(t, r, sound, bad)
				}
				check.ErrorHas(t, err, "clusters/1/12", tt.want, "a tombstone to its key takes it out")
			})
		}
	}
	// The same again is no contradiction.
	r := minhashReplica(t)
	c := soundCluster(t, r)
	if err := applyAll(t, r, clusterRecord(c, 11, "9"), clusterRecord(c, 12, "9")); err != nil {
		t.Error(err)
	}
}

// A record of which the key is no text is recognised after a restart, like any other: else the disk
// would be recreated at each start.
func TestLastRecordIsRecognised(t *testing.T) {
	for name, key := range map[string][]byte{
		"binary": {0xff, 0xfe, 0}, "long": bytes.Repeat([]byte("k"), 1<<20),
		"a checkpoint": []byte("checkpoint:other/1"), "nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			r := testReplica(t, 0)
			last := kafka.Record{Topic: "clusters", Offset: 5, Key: key}
			if err := applyAll(t, r, last); err != nil {
				t.Fatal(err)
			}
			reopen(t, r)
			if err := applyAll(t, r, last); err != nil {
				t.Error(err)
			}
			if n := len(r.space.Meta().Last[0].Key); n > 2*maxKeyBytes {
				t.Errorf("%d bytes of it are kept", n)
			}
		})
	}
}

// A sketch on disk that the method cannot have made is damage, not a panic.
func TestLoadChecksSketches(t *testing.T) {
	r := testReplica(t, 0)
	c := testCluster(1, 7)
	c.Sketch = "abc"
	meta := r.space.Meta()
	meta.Next = 1000
	changes := []*space.Change{{Cluster: c}}
	if err := r.space.Apply(slices.Values(changes), meta); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := r.openOf("kafka"); err != nil {
		t.Fatal(err)
	}
	if err := r.load(t.Context()); !errors.Is(err, state.ErrDamaged) {
		t.Errorf("error = %v, want damage", err)
	}
}

// randomStream is a stream with copies, late articles, articles without times, bare ones, and gaps.
func randomStream(r *rand.Rand, n int) []fingerprint.Article {
	var stream []fingerprint.Article
	now := -100 * time.Hour
	for i := range n {
		now += time.Duration(r.IntN(int(20 * time.Minute)))
		published := wallClock.Add(now - time.Duration(r.IntN(3))*time.Duration(
			r.IntN(int(3*time.Hour)))).Truncate(time.Millisecond)
		if r.IntN(10) == 0 {
			published = time.Time{}
		}
		a := clustertest.Article(int64(i), r.Uint64()&0x3030303, published)
		if r.IntN(2) == 0 {
			a.RecordedAt = wallClock.Add(now)
		}
		switch r.IntN(20) {
		case 0:
			a.Comparable = false
		case 1:
			continue // it is no article
		}
		stream = append(stream, a)
	}
	return stream
}

// history is what a stream left in the topics: results, and live clusters by id.
type history struct {
	results []string
	live    map[string]cluster.Cluster
}

func (h *history) add(b space.Batch) {
	for i := range b.Assignments {
		a := &b.Assignments[i]
		h.results = append(h.results, fmt.Sprintf("%d %d %s", a.Position, a.EventTime,
			a.AppendJSON(nil, "test", article.AllParts)))
	}
	for _, c := range b.Touched {
		h.live[c.ID()] = c
	}
	for _, c := range b.Expired {
		delete(h.live, c.ID())
	}
}

// restarted returns the replica again, opened from its disk, or a new one read from the clusters
// topic.
func (h *history) restarted(t *testing.T, r *rand.Rand, old *Replica) *Replica {
	t.Helper()
	return h.restartedAs(t, r, old, func() *Replica { return testReplica(t, old.Rule.Window) })
}

func (h *history) restartedAs(
	t *testing.T, r *rand.Rand, old *Replica, anew func() *Replica,
) *Replica {
	t.Helper()
	if r.IntN(2) == 0 {
		reopen(t, old)
		return old
	}
	next := anew()
	var records []kafka.Record
	for _, c := range h.live {
		record := liveRecord(c, "test")
		record.Offset, record.Partition = int64(len(records)), c.Founder.Partition%3
		records = append(records, record)
	}
	for len(records) > 0 {
		n := min(len(records), 1+r.IntN(20))
		if _, err := next.applyChunk(t.Context(), consumer.Chunk{Records: records[:n]}); err != nil {
			t.Fatal(err)
		}
		records = records[n:]
	}
	return next
}

func TestBatchesAndRestartsMakeNoDifference(t *testing.T) {
	seeds := uint64(30)
	if check.Race {
		seeds = 3
	}
	for _, window := range []time.Duration{0, time.Minute, 2 * time.Hour} {
		t.Run(window.String(), func(t *testing.T) {
			for seed := range seeds {
				r := rand.New(rand.NewPCG(seed, 3))
				stream := randomStream(r, 200)
				whole := history{live: map[string]cluster.Cluster{}}
				whole.add(mustAssign(t, testReplica(t, window).space, slices.Clone(stream)))

				cut := history{live: map[string]cluster.Cluster{}}
				replica := testReplica(t, window)
				for rest := slices.Clone(stream); len(rest) > 0; {
					n := min(len(rest), 1+r.IntN(30))
					if r.IntN(4) == 0 { // a transaction that fails
						if _, err := assign(replica.space, slices.Clone(rest[:n])); err != nil {
							t.Fatal(err)
						}
						replica.space.Rollback()
					}
					cut.add(mustAssign(t, replica.space, rest[:n]))
					rest = rest[n:]
					if r.IntN(4) == 0 {
						replica = cut.restarted(t, r, replica)
					}
				}
				if !reflect.DeepEqual(whole.results, cut.results) {
					t.Fatalf("seed %d: results in one batch (-) and in many with restarts (+):\n%s", seed,
						cmp.Diff(whole.results, cut.results))
				}
				if !maps.Equal(whole.live, cut.live) {
					t.Fatalf("seed %d: live clusters:\n%s", seed, cmp.Diff(whole.live, cut.live))
				}
			}
		})
	}
}
