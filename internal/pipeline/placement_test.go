package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// placedConfig has results with the keys and in the partitions of their articles.
func placedConfig() config.Config {
	c := testConfig()
	c.Output.Key, c.Output.Partition = "source", config.PartitionOfSource
	return c
}

// elsewhere returns how many results are in another partition than their articles.
func (b *bench) elsewhere() (n int) {
	b.Helper()
	for _, r := range b.results() {
		if r.Partition != r.Source.Partition {
			n++
		}
	}
	return n
}

// With output.partition: source each result has the number of its article's partition, whichever
// role writes it, and whatever key it has.
func TestResultsFollowTheirArticles(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"topic", "partition"} {
		for _, key := range []string{"source", "cluster"} {
			for _, roles := range [][]string{{config.All}, {config.FingerprintOnly, config.AssignOnly}} {
				t.Run(fmt.Sprintf("scope %s, key %s, roles %v", scope, key, roles), func(t *testing.T) {
					t.Parallel()
					c := placedConfig()
					c.Cluster.Scope, c.Output.Key = scope, key
					b := newRolesBench(t, c, 3)
					b.produce(mixedFeed(150)...)
					for _, role := range roles {
						b.startAs(role, t.TempDir())
					}
					if b.committed(); len(roles) > 1 {
						b.assigned()
					}
					if n, all := b.elsewhere(), len(b.verify()); n > 0 || all < 40 {
						t.Errorf("%d of %d results are in another partition than their articles", n, all)
					}
				})
			}
		}
	}
}

// A changed output.partition counts for what is assigned from then on. The checkpoint says from
// where on, through a lost disk and a change back.
func TestPlacementChanges(t *testing.T) {
	t.Parallel()
	c := testConfig()
	b := newBench(t, c, 3).alone()
	last := func() (found *checkpoint.Record) {
		for _, r := range b.read(c.Output.ClustersTopic) {
			if checkpoint.Is(r.Key) {
				one, err := checkpoint.Parse(r.Key, r.Value)
				if err != nil {
					t.Fatal(err)
				}
				found = &one
			}
		}
		return found
	}
	var ends []map[int]int64
	partitions := []string{"key", "source", "source", "key"}
	for i, partition := range partitions {
		b.config.Output.Partition = partition
		b.produce(spread(feed(uint64(i), 90))...)
		one := b.start()
		b.committed()
		one.end()
		ends = append(ends, last().Offsets)
	}
	want := []checkpoint.Placement{
		{Partition: "source", From: ends[0]}, {Partition: "key", From: ends[2]},
	}
	if got := last().Placements; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("placements %v, want %v", got, want)
	}
	strays := 0
	for _, r := range b.verify() {
		at := slices.IndexFunc(ends, func(end map[int]int64) bool {
			return r.Source.Offset < end[r.Source.Partition]
		})
		bySource := r.Partition == r.Source.Partition
		if partitions[at] == "source" && !bySource {
			t.Errorf("%s is in partition %d", r.Source, r.Partition)
		}
		if partitions[at] == "key" && !bySource {
			strays++
		}
	}
	if strays < 20 {
		t.Errorf("only %d results by key are elsewhere: the test shows little", strays)
	}
}

// grow gives a topic more partitions.
func (b *bench) grow(topic string, partitions int) {
	b.Helper()
	response, err := (&kafkago.Client{Addr: kafkago.TCP(b.config.Kafka.Brokers...)}).CreatePartitions(
		b.Context(), &kafkago.CreatePartitionsRequest{
			Topics: []kafkago.TopicPartitionsConfig{{Name: topic, Count: int32(partitions)}},
		})
	if err != nil || response.Errors[topic] != nil {
		b.Fatal(err, response)
	}
	// the old one knows fewer partitions for a second more
	b.client = kafkatest.Connect(b.T, kafka.Options{Brokers: b.config.Kafka.Brokers})
}

// sendTo writes articles to a partition of the input that is new.
func (b *bench) sendTo(partition int32, values [][]byte) {
	b.Helper()
	client := b.franz()
	for _, value := range values {
		r := &kgo.Record{Topic: b.config.Input.Topic, Partition: partition, Value: value}
		if err := client.ProduceSync(b.Context(), r).FirstErr(); err != nil {
			b.Fatal(err)
		}
	}
}

// Where the topic of results has fewer partitions than the input, clusterd does not start, and says
// what to do. It goes on when that is done.
func TestTooFewPartitionsForResults(t *testing.T) {
	t.Parallel()
	b := newBareBench(t, placedConfig())
	for topic, partitions := range map[string]int32{
		"articles": 3, "article-clusters": 2, "clusters": 3, "articles-dead": 1,
	} {
		policy := map[string]string{"articles": "delete", "clusters": "compact"}[topic]
		if err := b.broker.CreateTopic(topic, partitions,
			map[string]string{"cleanup.policy": policy}); err != nil {
			t.Fatal(err)
		}
	}
	b.produce(spread(feed(3, 90))...)
	check.ErrorHas(t, b.failure(), "topic article-clusters has 2 partitions, and articles has 3",
		"kafka-topics --alter --topic article-clusters --partitions 3", "output.partition: key")
	if n := len(b.read("article-clusters")) + len(b.read("articles-dead")); n > 0 {
		t.Errorf("%d records were written", n)
	}
	b.grow("article-clusters", 3)
	b.start()
	b.committed()
	if n := b.elsewhere(); n > 0 {
		t.Errorf("%d results are elsewhere", n)
	}
	b.verify()
}

// An input that gets more partitions while clusterd runs ends it before a result would have nowhere
// to go. Nothing is lost: the next start goes on when the topic of results has as many.
func TestInputGrowsBeyondResults(t *testing.T) {
	t.Parallel()
	for name, roles := range map[string][]string{
		"all": {config.All}, "roles": {config.FingerprintOnly, config.AssignOnly},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, placedConfig(), 2).alone()
			// It has room already, so that nobody tells those that assign of a change.
			if err := b.broker.CreateTopic(b.config.Fingerprints.Topic, 3, nil); err != nil {
				t.Fatal(err)
			}
			b.produce(spread(feed(4, 60))...)
			start := func() (last *instance) {
				for _, role := range roles {
					last = b.startAs(role, t.TempDir())
				}
				return last
			}
			i := start()
			b.committed()
			b.grow("articles", 3)
			b.sendTo(2, feed(5, 60))
			check.ErrorHas(t, i.wait(), "topic article-clusters has 2 partitions, and articles has 3",
				"No article is passed over")
			b.grow("article-clusters", 3)
			start()
			wait.Until(t, "all results", func() bool { return len(b.results()) == len(b.inputs()) })
			if n := b.elsewhere(); n > 0 {
				t.Errorf("%d results are elsewhere", n)
			}
			b.verify()
		})
	}
}

// Both topics grow, that of results first, as the message says: nobody has to be started again.
func TestResultsGrowFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, placedConfig(), 2).alone()
	if err := b.broker.CreateTopic(b.config.Fingerprints.Topic, 3, nil); err != nil {
		t.Fatal(err)
	}
	b.produce(spread(feed(4, 60))...)
	fingerprints := b.startAs(config.FingerprintOnly, t.TempDir())
	assigns := b.startAs(config.AssignOnly, t.TempDir())
	b.committed()
	b.grow("article-clusters", 3)
	b.grow("articles", 3)
	b.sendTo(2, feed(5, 60))
	wait.Until(t, "all results", func() bool { return len(b.results()) == len(b.inputs()) })
	if n := b.elsewhere(); n > 0 {
		t.Errorf("%d results are elsewhere", n)
	}
	fingerprints.end()
	assigns.end()
	if countStatus(b.verify(), article.New) == 0 || strings.Contains(assigns.log.String(), "ERROR") {
		t.Error("no clusters, or an error")
	}
}
