package pipeline

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/texts"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// serving starts an instance that only answers.
func (b *bench) serving() *instance {
	b.Helper()
	role := b.config.Role
	b.config.Role = config.ServeOnly
	defer func() { b.config.Role = role }()
	return b.start()
}

// textOf returns the text of a record of [texts.Feed].
func textOf(t *testing.T, value []byte) api.Text {
	t.Helper()
	var a struct{ Title, Content string }
	if err := json.Unmarshal(value, &a); err != nil {
		t.Fatal(err)
	}
	return api.Text{Title: a.Title, Content: a.Content}
}

// reaches waits until an instance answers as of so many articles of a space.
func (i *instance) reaches(space string, position uint64) {
	i.t.Helper()
	wait.Until(i.t, "an instance to have read all that is committed", func() bool {
		return slices.ContainsFunc(i.lookup.AsOf(), func(at api.AsOf) bool {
			return at.Space == space && at.Position == position
		})
	})
}

// Whoever is asked, worker, standby or an instance that only serves: what a check says is what the
// stream then makes of the article.
func TestRunCheckThenStream(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"topic", "partition"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			c := testConfig()
			c.Cluster.Scope = scope
			b := newBench(t, c, 2)
			b.produce(spread(feed(7, 60))...)
			asked := []*instance{b.start(), b.serving()}
			b.committed()
			if scope == "topic" {
				asked = append(asked, b.start())
			}
			more := texts.Feed(7, 100)[60:]
			if check.Race {
				more = more[:10]
			}
			var before [][]api.Checked
			for n, value := range more {
				before = append(before, b.ask(asked, n%2, textOf(t, value)))
				b.produce(kafkago.Message{Value: value, WriterData: n})
				b.committed()
			}
			for _, i := range asked {
				i.end()
			}
			b.verify()
			b.compare(before, len(more))
		})
	}
}

// ask asks each instance about an article of a partition, once it has all of the space.
func (b *bench) ask(asked []*instance, partition int, text api.Text) (answers []api.Checked) {
	b.Helper()
	space, n := "all", len(b.results())
	if b.config.Cluster.Scope == "partition" {
		space, n = string('0'+rune(partition)), 0
		for _, r := range b.results() {
			if r.Source.Partition == partition {
				n++
			}
		}
	}
	for _, i := range asked {
		i.reaches(space, uint64(n))
		got, err := i.lookup.Check(b.Context(), []api.Text{text}, api.CheckOptions{
			Partition: &partition,
		})
		if err != nil {
			b.Fatal(err)
		}
		answers = append(answers, got[0])
	}
	return answers
}

// compare compares what was said of the last n articles with their results.
func (b *bench) compare(said [][]api.Checked, n int) {
	b.Helper()
	results := b.results()
	bySource := make(map[article.Address]result)
	for _, r := range results {
		bySource[r.Source] = r
	}
	joined := 0
	for k, answers := range said {
		at := article.Address{Topic: b.config.Input.Topic, Partition: k % 2}
		at.Offset = b.broker.PartitionInfo(at.Topic, int32(at.Partition)).HighWatermark - int64(n/2) +
			int64(k/2)
		want := bySource[at]
		if want.Status == article.Joined {
			joined++
		}
		for _, got := range answers {
			id, distance, size := at.String(), 0.0, 0 // of the cluster that it would found
			if got.Status == article.Joined {
				id, distance, size = got.Cluster.ClusterID, *got.Distance, got.Cluster.Size
			}
			if got.Status != want.Status || id != *want.ClusterID || distance != *want.Distance ||
				size+1 != want.Size {
				b.Errorf("%s: a check said %+v; the result is %s", at, got, want.Value)
			}
		}
	}
	if joined == 0 || joined == n {
		b.Errorf("%d of %d joined: the test shows little", joined, n)
	}
}

// Whoever has recovered the clusters says how many there are before an article comes: a worker, a
// standby and an instance that only serves.
func TestRunCountsClustersOfARecovery(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"topic", "partition"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			c := testConfig()
			c.Cluster.Scope = scope
			b := newBench(t, c, 2)
			b.produce(spread(feed(9, 60))...)
			dir := b.TempDir()
			first := b.startIn(dir)
			b.committed()
			first.end()
			instances := map[string]*instance{"worker": b.startIn(dir), "serve": b.serving()}
			instances["worker"].ready()
			if scope == "topic" {
				instances["standby"] = b.start()
			}
			want := make(map[string]int) // by space
			for _, r := range b.results() {
				space := "all"
				if scope == "partition" {
					space = strconv.Itoa(r.Source.Partition)
				}
				if r.Status == article.New {
					want[space]++
				}
			}
			for name, i := range instances {
				i.ready()
				if got := i.monitor.Counts().Clusters; !maps.Equal(got, want) {
					t.Errorf("the %s says %v clusters, want %v", name, got, want)
				}
			}
			b.produce(spread(texts.Feed(10, 30))...) // which a standby follows
			b.committed()
			for name, i := range instances {
				wait.Until(t, "the "+name+" to have as many clusters as the worker", func() bool {
					n := instances["worker"].monitor.Counts().Clusters
					return !maps.Equal(n, want) && maps.Equal(n, i.monitor.Counts().Clusters)
				})
			}
		})
	}
}

// ready waits until an instance is ready.
func (i *instance) ready() {
	i.t.Helper()
	wait.Until(i.t, "the instance to be ready", func() bool { return i.monitor.Status().Ready })
}

// An instance that only serves asks the brokers for what is there, and for nothing else.
func TestRunServeWritesNothing(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"topic", "partition"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			c := testConfig()
			c.Cluster.Scope, c.Kafka.CreateTopics = scope, true
			b := newBench(t, c, 2)
			b.produce(spread(feed(8, 40))...)
			worker := b.start()
			b.committed()
			worker.end()
			var mu sync.Mutex
			seen := make(map[string]bool)
			b.broker.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
				b.broker.KeepControl()
				mu.Lock()
				defer mu.Unlock()
				seen[kmsg.NameForKey(r.Key())] = true
				return nil, nil, false
			})
			i := b.serving()
			i.ready()
			i.end()
			mu.Lock()
			defer mu.Unlock()
			for name := range seen {
				if !slices.Contains([]string{
					"ApiVersions", "Metadata", "ListOffsets", "Fetch", "DescribeConfigs",
				}, name) {
					t.Errorf("it asked the brokers to %s", name)
				}
			}
			if !seen["Fetch"] {
				t.Errorf("it sent %v: the test shows nothing", seen)
			}
		})
	}
}

// An instance that only serves waits for topics that are not there yet, and says so.
func TestRunServeWaitsForTopics(t *testing.T) {
	t.Parallel()
	c := testConfig()
	b := newBareBench(t, c)
	i := b.serving()
	i.log.WaitFor(t, "looking at topic "+c.Output.ClustersTopic, 1)
	if s := i.monitor.Status(); s.Ready {
		t.Errorf("it is ready: %+v", s)
	}
	_, err := i.lookup.Check(t.Context(), []api.Text{{Title: "x"}}, api.CheckOptions{})
	if !errors.Is(err, api.ErrNotReady) {
		t.Errorf("a check says %v", err)
	}
	if err := b.broker.CreateTopic(c.Output.ClustersTopic, 1, nil); err != nil {
		t.Fatal(err)
	}
	i.ready()
	i.end()
}
