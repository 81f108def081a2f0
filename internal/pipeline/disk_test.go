package pipeline

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/texts"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// spaceDir is where the store of a space lies in an instance's folder.
func spaceDir(t *testing.T, dir, name string) string {
	t.Helper()
	d, err := state.OpenDir(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return d.Space(name)
}

// A disk, whatever became of it, makes no difference to what comes out.
func TestRunFromDisk(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		// spoil is what happens to the disk between a stop and the next start; old is a copy from before
		// the last articles.
		spoil func(t *testing.T, b *bench, dir, old string) (next string)
		want  []string // in the log
	}{
		"as it was left": {
			func(_ *testing.T, _ *bench, dir, _ string) string { return dir },
			[]string{"recovered the clusters", "from=disk read_back=0"},
		},
		"lost": {
			func(t *testing.T, _ *bench, _, _ string) string { return t.TempDir() },
			[]string{"no clusters are on disk yet: reading all of them from Kafka", "from=topic"},
		},
		"an old copy": {
			func(_ *testing.T, _ *bench, _, old string) string { return old },
			[]string{"from=tail"},
		},
		"another group's": {
			func(t *testing.T, b *bench, dir, _ string) string {
				reidentify(t, spaceDir(t, dir, "all"))
				return dir
			},
			[]string{
				"the clusters on disk cannot be used; reading all of them back from Kafka",
				"not those of this space", "from=topic",
			},
		},
		"damaged": {
			func(t *testing.T, _ *bench, dir, _ string) string {
				damage(t, spaceDir(t, dir, "all"))
				return dir
			},
			[]string{
				"the clusters on disk cannot be used; reading all of them back from Kafka", "damaged",
				"from=topic",
			},
		},
		"older than tombstones stay": {
			func(t *testing.T, b *bench, _, old string) string {
				b.setConfig("clusters", "delete.retention.ms", "0")
				return old
			},
			[]string{
				"the clusters on disk cannot be used; reading all of them back from Kafka",
				"delete.retention.ms", "from=topic",
			},
		},
		"of another topic by that name": {
			func(t *testing.T, b *bench, dir, _ string) string {
				b.forge(spaceDir(t, dir, "all"))
				return dir
			},
			[]string{
				"the clusters on disk cannot be used; reading all of them back from Kafka",
				"it does not fit the clusters topic: at clusters/0/", "from=topic",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, dir := newBench(t, testConfig(), 2), t.TempDir()
			values := feed(20, 100)
			round := func(dir string) *instance {
				b.produce(spread(values)...)
				i := b.startIn(dir)
				b.committed()
				i.end()
				return i
			}
			round(dir)
			old := wait.CopyDir(t, dir)
			round(dir)
			i := round(tt.spoil(t, b, dir, old))
			b.verify()
			for _, want := range tt.want {
				if !strings.Contains(i.log.String(), want) {
					t.Errorf("the log has no %q:\n%s", want, i.log)
				}
			}
		})
	}
}

// setConfig changes a setting of a topic.
func (b *bench) setConfig(topic, name, value string) {
	b.Helper()
	client := &kafkago.Client{Addr: kafkago.TCP(b.config.Kafka.Brokers...)}
	request := &kafkago.IncrementalAlterConfigsRequest{
		Resources: []kafkago.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafkago.ResourceTypeTopic, ResourceName: topic,
			Configs: []kafkago.IncrementalAlterConfigsRequestConfig{{
				Name: name, Value: value, ConfigOperation: kafkago.ConfigOperationSet,
			}},
		}},
	}
	response, err := client.IncrementalAlterConfigs(b.Context(), request)
	if err != nil || response.Resources[0].Error != nil {
		b.Fatal(err, response)
	}
}

// reidentify makes a store that of another space.
func reidentify(t *testing.T, dir string) {
	t.Helper()
	if err := state.Remove(dir); err != nil {
		t.Fatal(err)
	}
	store, err := state.Open(dir, state.Identity{Input: "articles", Group: "of somebody else"},
		state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Apply(nil, nil, state.Meta{Next: 1}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// damage overwrites the middle of each table.
func damage(t *testing.T, dir string) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, name := range tables {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range min(40, len(data)/2) {
			data[len(data)/3+i] ^= 0x55
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// forge makes a store say that its last cluster in each partition was another one.
func (b *bench) forge(dir string) {
	t := b.T
	t.Helper()
	kafkaID, err := b.client.ClusterID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store, err := state.Open(dir, state.Identity{
		Kafka: kafkaID, Clusters: "clusters", Partitions: 2, Input: "articles", Group: "clusterd",
		Space: "all", Pipeline: testFingerprinter(t, b.config).Identity(),
	}, state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := store.Meta()
	for p, last := range m.Last {
		last.Key = "articles/0/9999 at 1"
		m.Last[p] = last
	}
	if err := store.Apply(nil, nil, m); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// A cluster's partition is its founder's modulo the number of partitions: with another number
// clusters would be looked for where they are not.
func TestRunHaltsWhereTheClustersTopicHasMorePartitions(t *testing.T) {
	b, dir := newBareBench(t, testConfig()), t.TempDir()
	for topic, partitions := range map[string]int32{
		"articles": 2, "article-clusters": 1,
		"clusters": 1, "articles-dead": 1,
	} {
		if err := b.broker.CreateTopic(topic, partitions,
			map[string]string{"cleanup.policy": "compact"}); err != nil {
			t.Fatal(err)
		}
	}
	b.produce(spread(texts.Feed(25, 50))...)
	i := b.startIn(dir)
	b.committed()
	i.end()
	response, err := (&kafkago.Client{Addr: kafkago.TCP(b.config.Kafka.Brokers...)}).CreatePartitions(
		t.Context(), &kafkago.CreatePartitionsRequest{
			Topics: []kafkago.TopicPartitionsConfig{{Name: "clusters", Count: 2}},
		})
	if err != nil || response.Errors["clusters"] != nil {
		t.Fatal(err, response)
	}
	// the old one knows one partition for a second more
	b.client = kafkatest.Connect(t, kafka.Options{Brokers: b.config.Kafka.Brokers})
	i = b.startIn(dir)
	check.ErrorHas(t, i.wait(),
		"is in another partition than its founder's, 1: the number of partitions of "+
			"output.clusters_topic was changed")
}

func TestRunHaltsWhereTheClustersTopicWasMadeAnew(t *testing.T) {
	b, dir := newBench(t, testConfig(), 1), t.TempDir()
	b.produce(spread(texts.Feed(21, 50))...)
	i := b.startIn(dir)
	b.committed()
	i.end()
	b.recreate("clusters")
	i = b.startIn(dir)
	check.ErrorHas(t, i.wait(), "topic clusters was made anew: its id was ",
		"Nothing was read or written",
		"delete "+spaceDir(t, dir, "all"), "start anew with another input.group")
}

func TestRunHaltsWhenTheClustersTopicIsMadeAnewMeanwhile(t *testing.T) {
	b := newBench(t, testConfig(), 1)
	b.produce(spread(texts.Feed(22, 50))...)
	i := b.start()
	b.committed()
	b.recreate("clusters")
	b.produce(spread(texts.Feed(23, 5))...)
	check.ErrorHas(t, i.wait(), " was made anew", "start anew with another input.group")
}

func (b *bench) recreate(topic string) {
	b.Helper()
	client := &kafkago.Client{Addr: kafkago.TCP(b.config.Kafka.Brokers...)}
	if _, err := client.DeleteTopics(b.Context(),
		&kafkago.DeleteTopicsRequest{Topics: []string{topic}}); err != nil {
		b.Fatal(err)
	}
	if err := b.broker.CreateTopic(topic, 1,
		map[string]string{"cleanup.policy": "compact"}); err != nil {
		b.Fatal(err)
	}
}

// A standby has read what there is when it takes over.
func TestRunStandbyFollows(t *testing.T) {
	t.Parallel()
	b := newBench(t, testConfig(), 2)
	first := b.start()
	first.log.WaitFor(t, "msg=live", 1)
	second := b.start()
	second.log.WaitFor(t, "standing by", 1)
	for range 5 {
		b.produce(spread(feed(24, 100))...)
		b.committed()
	}
	first.end()
	second.log.WaitFor(t, "msg=live", 1)
	lines := strings.Split(second.log.String(), "\n")
	recovered := slices.DeleteFunc(lines,
		func(line string) bool { return !strings.Contains(line, "recovered the clusters") })
	var clusters, read int
	last := recovered[len(recovered)-1]
	if _, err := fmt.Sscanf(last[strings.Index(last, "clusters="):], "clusters=%d",
		&clusters); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(last[strings.Index(last, "read_back="):], "read_back=%d",
		&read); err != nil {
		t.Fatal(err)
	}
	if clusters == 0 || read >= clusters {
		t.Errorf("it read %d records back for %d clusters when it took over: it did not follow", read,
			clusters)
	}
	b.produce(spread(feed(24, 100))...)
	b.committed()
	second.end()
	b.verify()
}

func TestRunTwiceInOneFolder(t *testing.T) {
	b, dir := newBench(t, testConfig(), 1), t.TempDir()
	first := b.startIn(dir)
	first.log.WaitFor(t, "msg=live", 1)
	check.ErrorHas(t, b.startIn(dir).wait(), "state.dir: "+dir+
		" belongs to another clusterd that runs: give each instance a folder of its own")
	first.end()
}

// An instance that was killed left its membership behind. The next start in its folder takes it out
// of the group.
func TestRunRemovesTheMemberThatWasKilled(t *testing.T) {
	b, dir := newBench(t, testConfig(), 1), t.TempDir()
	d, err := state.OpenDir(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	name, start := d.Instance()
	b.ghost(fmt.Sprintf("clusterd-%s-%d", name, start))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	i := b.startIn(dir)
	i.log.WaitFor(t, "msg=live", 1)
	i.end()
}

// ghost joins the group and never says anything again. Its session is longer than a test waits.
func (b *bench) ghost(clientID string) {
	b.Helper()
	group, err := kafkago.NewConsumerGroup(kafkago.ConsumerGroupConfig{
		ID: b.config.Input.Group, Brokers: b.config.Kafka.Brokers, Topics: []string{b.config.Input.Topic},
		SessionTimeout: 2 * wait.Timeout,
		Dialer:         &kafkago.Dialer{ClientID: clientID},
	})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := group.Next(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = group.Close() })
}
