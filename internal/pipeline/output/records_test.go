package output

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

func testTopics(partitions int) *Topics {
	c := config.Default().Output
	o := &Topics{
		Output: c, Identity: "method=simhash", Partitions: make(map[string][]int),
		Limits: make(map[string]int), Room: 1 << 20, parts: article.AllParts,
	}
	for _, topic := range []string{c.Topic, c.ClustersTopic, c.DeadLetterTopic} {
		for p := range partitions {
			o.Partitions[topic] = append(o.Partitions[topic], p)
		}
		o.Limits[topic] = 1 << 20
	}
	return o
}

func TestResultRecord(t *testing.T) {
	const founder = "articles/3/812731"
	clustered := func(key []byte) *space.Assignment {
		return &space.Assignment{
			Article: &fingerprint.Article{
				Source: article.Address{Topic: "articles", Partition: 2, Offset: 9}, Key: key,
				Representative: article.Representative{ID: "x"},
			},
			ClusterID: founder, Status: article.Joined, Position: 41, EventTime: 1777636800000,
		}
	}
	unclustered := func(key []byte) *space.Assignment {
		a := clustered(key)
		return &space.Assignment{
			Article: a.Article, Status: article.Unclustered, Position: a.Position, EventTime: a.EventTime,
		}
	}
	of := func(key string) int { return sink.PartitionOf([]byte(key), []int{0, 1, 2, 3, 4}) }
	for name, tt := range map[string]struct {
		key       string
		out       *space.Assignment
		wantKey   []byte
		partition int // by output.partition: key; the article is in partition 2
	}{
		"by cluster":         {"cluster", clustered([]byte("site-1")), []byte(founder), of(founder)},
		"by cluster, no key": {"cluster", clustered(nil), []byte(founder), of(founder)},
		"by cluster, unclustered": {
			"cluster", unclustered([]byte("site-1")), []byte("articles/2/9"), of("articles/2/9"),
		},
		"by source":            {"source", clustered([]byte("site-1")), []byte("site-1"), of("site-1")},
		"by source, empty key": {"source", clustered([]byte{}), []byte{}, of("")},
		"by source, no key":    {"source", clustered(nil), nil, 2},
		"by source, unclustered": {
			"source", unclustered([]byte("site-1")), []byte("site-1"), of("site-1"),
		},
		"by source, unclustered keyed": {"source", unclustered(nil), nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := testTopics(5)
			o.Key = tt.key
			got := o.result(&kafka.Arena{}, tt.out)
			want := kafka.Record{
				Topic: "article-clusters", Partition: tt.partition, Key: tt.wantKey,
				Value: tt.out.AppendJSON(nil, o.Identity, article.AllParts),
				Headers: []kafka.Header{ // the same of all results
					{Key: "clusterd.source", Value: []byte("articles/2/9")},
					{Key: "clusterd.position", Value: []byte("41")},
					{Key: "clusterd.event_time", Value: []byte("1777636800000")},
				},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			o.Partition, want.Partition = config.PartitionOfSource, 2
			got = o.result(&kafka.Arena{}, tt.out)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("record with output.partition: source (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("no key, fewer partitions than the input", func(t *testing.T) {
		o := testTopics(2)
		o.Key = "source"
		out := clustered(nil)
		out.Source.Partition = 5
		if got := o.result(&kafka.Arena{}, out).Partition; got != 1 {
			t.Errorf("partition = %d, want 5 mod 2", got)
		}
	})
}

// With output.partition: source each result has the number of its article's partition, whatever is
// in its batch; all else is where it was.
func TestResultsAreWhereTheirArticlesAre(t *testing.T) {
	random := rand.New(rand.NewPCG(40, 10))
	for range 200 {
		inputs := 1 + random.IntN(20)
		o := testTopics(inputs + random.IntN(3))
		o.Key = []string{"cluster", "source"}[random.IntN(2)]
		var b space.Batch
		for i := range random.IntN(60) {
			source := article.Address{Topic: "articles", Partition: random.IntN(inputs), Offset: int64(i)}
			key := [][]byte{
				nil, {}, fmt.Appendf(nil, "key-%d", random.IntN(9)), make([]byte, article.MaxIDBytes+1),
			}[random.IntN(4)]
			a := space.Assignment{
				Article: &fingerprint.Article{Source: source, Key: key}, Status: article.Unclustered,
			}
			if random.IntN(4) > 0 {
				founder := article.Address{Topic: "articles", Partition: random.IntN(inputs)}
				a.Status, a.ClusterID = article.Joined, founder.String()
			}
			b.Assignments = append(b.Assignments, a)
			b.Touched = append(b.Touched, testCluster(source.Partition, int64(i)))
		}
		records := func(partition string) (all []kafka.Record) {
			o.Partition = partition
			for _, r := range o.Records(nil, b, &checkpoint.Record{Group: "g", Space: "all"}) {
				all = append(all, r.Clone())
			}
			return all
		}
		want := records(config.PartitionByKey)
		for i := range b.Assignments {
			want[i].Partition = b.Assignments[i].Source.Partition
		}
		if diff := cmp.Diff(want, records(config.PartitionOfSource)); diff != "" {
			t.Fatalf("%d partitions, output.key: %s (-want +got):\n%s", inputs, o.Key, diff)
		}
	}
}

func testCluster(partition int, offset int64) cluster.Cluster {
	seen := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return cluster.Cluster{
		Centre: singlepass.Centre{
			Fingerprint: singlepass.Fingerprint{Hash: 0xabc}, Seq: uint64(offset),
		},
		Founder:  article.Address{Topic: "articles", Partition: partition, Offset: offset},
		Position: uint64(offset) + 100,
		Size:     3, FirstSeen: seen.UnixMilli(), LastSeen: seen.Add(time.Hour).UnixMilli(),
		Representative: article.Representative{ID: "a", Title: "港口大桥"},
	}
}

func TestClusterRecords(t *testing.T) {
	o := testTopics(3)
	live, gone := testCluster(4, 7), testCluster(5, 8)
	checkpoint := &checkpoint.Record{Group: "g", Space: "2"}
	records := o.Records(nil, space.Batch{
		Touched: []cluster.Cluster{live}, Expired: []cluster.Cluster{gone},
	}, checkpoint)
	want := []kafka.Record{
		{
			Topic: "clusters", Partition: 1, Key: []byte("articles/4/7"),
			Value: []byte(
				`{"cluster_id":"articles/4/7","seq":7,"fingerprint":"0000000000000abc","size":3,"first_seen":"2026-05-01T12:00:00Z",` +
					`"last_seen":"2026-05-01T13:00:00Z","representative":{"id":"a","title":"港口大桥"},"pipeline":"method=simhash"}`),
			Headers: []kafka.Header{{Key: "clusterd.position", Value: []byte("107")}},
		},
		{Topic: "clusters", Partition: 2, Key: []byte("articles/5/8")}, // a tombstone
		{
			Topic: "clusters", Partition: 2, Key: []byte("checkpoint:g/2"), Value: checkpoint.JSON(),
			Headers: []kafka.Header{{Key: "clusterd.own", Value: []byte("checkpoint")}},
		},
	}
	if diff := cmp.Diff(want, records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if records[1].Value != nil {
		t.Error("a tombstone's value must be nil, not empty")
	}
	back, identity, err := cluster.Parse(records[0].Key, records[0].Value, live.Position)
	if err != nil || identity != o.Identity {
		t.Fatalf("identity %q, %v", identity, err)
	}
	if diff := cmp.Diff(live, back); diff != "" {
		t.Errorf("parsed (-written +read):\n%s", diff)
	}
}

// The state of a story says by its key and a header that it is not a cluster, and so does its
// tombstone. It has the form that clusters have.
func TestStoryStateRecords(t *testing.T) {
	lives, gone := clustertest.FullStory(), clustertest.MergedStory()
	for form, value := range map[string][]byte{
		config.JSONClusters: lives.AppendJSON(nil), config.BinaryClusters: lives.AppendBinary(nil),
	} {
		o := testTopics(2)
		o.ClustersFormat = form
		records := o.Records(nil, space.Batch{
			Stories: []state.StoryChange{{Story: lives}, {Story: gone, Gone: true}},
		}, &checkpoint.Record{})
		own := kafka.Header{Key: "clusterd.own", Value: []byte("story")}
		want := []kafka.Record{
			{
				Topic: "clusters", Partition: 1, Key: []byte("story:articles/3/17"), Value: value,
				Headers: []kafka.Header{own, {Key: "clusterd.position", Value: []byte("41")}},
			},
			{
				Topic: "clusters", Partition: 1, Key: []byte("story:articles/3/17"),
				Headers: []kafka.Header{own},
			},
		}
		if diff := cmp.Diff(want, records[:2]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", form, diff)
		}
	}
}

// A result that its topic does not take with the headers of its input goes without.
func TestHeadersMakeRoom(t *testing.T) {
	a := &space.Assignment{Status: article.Unclustered, Article: &fingerprint.Article{
		Headers: []fingerprint.Header{{Key: "h", Value: []byte(strings.Repeat("v", 1000))}},
	}}
	o := testTopics(1)
	whole := o.result(&kafka.Arena{}, a)
	o.Room = sink.Size(whole)
	if got := o.result(&kafka.Arena{}, a); len(got.Headers) != 4 || a.Notes != nil {
		t.Fatalf("headers %v, notes %v: it fits", got.Headers, a.Notes)
	}
	o.Room--
	if got := o.result(&kafka.Arena{}, a); len(got.Headers) != 3 ||
		got.Headers[0].Key != article.HeaderSource || len(a.Notes.Fallbacks) != 1 {
		t.Errorf("headers %v, notes %v", got.Headers, a.Notes)
	}
	refused := &sink.TooLargeError{Size: o.Room - 5}
	refused.Topic = o.Topic
	if !o.MakeRoom(refused) || o.Room >= refused.Size {
		t.Errorf("results of %d bytes may have headers where one of %d is refused", o.Room, refused.Size)
	}
	if o.MakeRoom(refused) {
		t.Error("a result that is refused without headers may have room")
	}
	refused.Topic, refused.Size = o.ClustersTopic, 1
	if o.MakeRoom(refused) {
		t.Error("a cluster may have had headers")
	}
}
