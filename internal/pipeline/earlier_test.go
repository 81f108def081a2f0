package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// earlierVersions are directories of what an earlier version left behind. A README beside them says
// what each file is.
const earlierVersions = "testdata/earlier"

// State and topics of an earlier version are taken over: what comes of further articles is, byte
// for byte, what that version made of them, but for what results carry since.
func TestStateOfAnEarlierVersionIsTakenOver(t *testing.T) {
	if *record != "" {
		recordEarlier(t, *record)
	}
	for _, method := range []string{"simhash", "minhash"} {
		dir := filepath.Join(earlierVersions, method)
		t.Run(method+" from disk", func(t *testing.T) {
			t.Parallel()
			takesOver(t, dir, wait.CopyDir(t, filepath.Join(dir, "state")), "from=tail")
		})
		t.Run(method+" from the topic", func(t *testing.T) {
			t.Parallel()
			takesOver(t, dir, t.TempDir(), "from=topic")
		})
		t.Run(method+" compares the checkpoint", func(t *testing.T) {
			t.Parallel()
			refusesOtherOffsets(t, dir)
		})
	}
}

// takesOver starts an instance on what the earlier version left in dir, with its disk in state, and
// compares what comes of further articles.
func takesOver(t *testing.T, dir, state, want string) {
	t.Helper()
	b, left := earlierBench(t, dir)
	replay(b, left)
	if got := dump(b); string(encodeLines(t, got)) != string(encodeLines(t, left)) {
		t.Fatal("the topics are not those that the earlier version left")
	}
	produceLines(b, readLines(t, filepath.Join(dir, "more.jsonl")))
	i := b.startIn(state)
	b.committed()
	i.end()
	log := i.log.String()
	for partition, c := range leftClusters(b, left) {
		recovered := fmt.Sprintf(" clusters=%d %s ", c.live, want)
		all := fmt.Sprintf(" %s read_back=%d ", want, c.records)
		if !strings.Contains(log, recovered) || strings.Contains(log, all) != (want == "from=topic") {
			t.Errorf("partition %d: want %q, and %q only without a disk; log:\n%s",
				partition, recovered, all, log)
		}
	}
	compareLines(t, withoutNews(outcomes(b, left)), readLines(t, filepath.Join(dir, "want.jsonl")))
}

// news is what results carry beside what the earlier version wrote.
var news = regexp.MustCompile(`,"(publisher|excerpt)":"(\\.|[^"\\])*"|,"output":"[^"]*","begins":\{[^}]*\}(,"ids":\{[^}]*\})?`)

// withoutNews returns the lines as the earlier version would have written them. Its results of
// unclustered articles had neither position nor event time, and its checkpoints had no header.
func withoutNews(lines []line) []line {
	for i := range lines {
		v := lines[i].Value
		if v == nil {
			continue
		}
		*v = news.ReplaceAllString(*v, "")
		if strings.Contains(*v, `,"status":"unclustered",`) {
			lines[i].Headers = slices.DeleteFunc(lines[i].Headers, func(h [2]string) bool {
				return h[0] == article.HeaderPosition || h[0] == article.HeaderEventTime
			})
		}
		if k := lines[i].Key; k != nil && checkpoint.Is([]byte(*k)) {
			lines[i].Headers = nil
		}
	}
	return lines
}

// clustersLeft is what a partition of the clusters topic has.
type clustersLeft struct{ live, records int }

// leftClusters returns what each partition of the clusters topic has.
func leftClusters(b *bench, lines []line) map[int32]clustersLeft {
	b.Helper()
	type key struct {
		partition int32
		key       string
	}
	last, left := make(map[key]line), make(map[int32]clustersLeft)
	for _, l := range lines {
		if l.Topic == b.config.Output.ClustersTopic && !l.End {
			last[key{l.Partition, *l.Key}] = l
			c := left[l.Partition]
			c.records++
			left[l.Partition] = c
		}
	}
	for k, l := range last {
		if l.Value != nil && !checkpoint.Is([]byte(k.key)) {
			c := left[k.partition]
			c.live++
			left[k.partition] = c
		}
	}
	return left
}

// refusesOtherOffsets holds an instance to what the checkpoint says of the offsets. So it was read.
func refusesOtherOffsets(t *testing.T, dir string) {
	t.Helper()
	b, left := earlierBench(t, dir)
	for i, l := range left {
		if l.Committed != nil && l.Partition == 0 {
			*left[i].Committed--
		}
	}
	replay(b, left)
	check.ErrorHas(t, b.failure(),
		"is at offset", "of articles/0, of which it has made clusters up to")
}

// earlierBench starts a broker with the configuration of an earlier version, and reads its topics.
func earlierBench(t *testing.T, dir string) (*bench, []line) {
	t.Helper()
	left := readLines(t, filepath.Join(dir, "topics.jsonl"))
	var partitions int32
	for _, l := range left {
		partitions = max(partitions, l.Partition+1)
	}
	return newEarlierBench(t, dir, partitions), left
}

func newEarlierBench(t *testing.T, dir string, partitions int32) *bench {
	t.Helper()
	path := filepath.Join(dir, "config.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse(path, data, os.LookupEnv, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	broker := kafkatest.Start(t, 1, kfake.ClusterID("earlier"))
	c.Kafka.Brokers = broker.ListenAddrs()
	client := kafkatest.Connect(t, kafka.Options{Brokers: c.Kafka.Brokers})
	b := &bench{T: t, broker: broker, client: client, config: c, pauses: defaultPauses}
	for _, topic := range b.topics() {
		// Nothing is too old, neither the records nor the disk.
		settings := map[string]string{"retention.ms": "-1"}
		if topic == c.Output.ClustersTopic {
			settings["cleanup.policy"] = "compact"
			settings["delete.retention.ms"] = "9223372036854775807"
		}
		if err := broker.CreateTopic(topic, partitions, settings); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// partitions returns how many partitions the input has.
func (b *bench) partitions() int {
	b.Helper()
	partitions, err := b.client.Partitions(b.Context(), b.config.Input.Topic)
	if err != nil {
		b.Fatal(err)
	}
	return len(partitions)
}

func produceLines(b *bench, lines []line) {
	b.Helper()
	records := make([]*kgo.Record, len(lines))
	for i, l := range lines {
		records[i] = l.record()
	}
	write(b.T, b.franz(), records...)
}

// outcomes returns what was written after what had been left: results and dead letters, and the
// last record of each live cluster and of each checkpoint. Offsets and times are left out, since
// both depend on how articles came together in batches.
func outcomes(b *bench, left []line) []line {
	b.Helper()
	type at struct {
		topic     string
		partition int32
	}
	ends := make(map[at]int64)
	for _, l := range left {
		if l.End {
			ends[at{l.Topic, l.Partition}] = l.Offset
		}
	}
	clusters, streamTimes := make(map[string]line), make(map[int32]int64)
	var lines []line
	for _, l := range dump(b) {
		if l.End || l.Offset < ends[at{l.Topic, l.Partition}] || l.Topic == b.config.Input.Topic {
			continue
		}
		l.Offset, l.Time = 0, 0
		if l.Topic != b.config.Output.ClustersTopic {
			lines = append(lines, l)
			continue
		}
		clusters[*l.Key] = l
		if checkpoint.Is([]byte(*l.Key)) {
			streamTimes[l.Partition] = streamTime(b.T, l)
		}
	}
	for key, l := range clusters {
		checkpoint := checkpoint.Is([]byte(key))
		if checkpoint || l.Value != nil && !b.overdue(l, streamTimes[l.Partition]) {
			lines = append(lines, l)
		}
	}
	slices.SortFunc(lines, func(x, y line) int {
		return cmp.Or(cmp.Compare(x.Topic, y.Topic), cmp.Compare(x.name(), y.name()))
	})
	return lines
}

// streamTime returns the stream time of a checkpoint.
func streamTime(t *testing.T, l line) int64 {
	t.Helper()
	c, err := checkpoint.Parse([]byte(*l.Key), []byte(*l.Value))
	if err != nil {
		t.Fatal(err)
	}
	return c.StreamTime
}

// overdue reports whether a cluster has expired. Its record may stay some batches longer.
func (b *bench) overdue(l line, streamTime int64) bool {
	b.Helper()
	c, err := article.ParseCluster([]byte(*l.Value))
	if err != nil {
		b.Fatal(err)
	}
	return streamTime-c.LastSeen.UnixMilli() > b.config.Cluster.Window.Milliseconds()
}

// compareLines reports the first line that differs.
func compareLines(t *testing.T, got, want []line) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		g, _ := json.Marshal(got[i])
		w, _ := json.Marshal(want[i])
		if string(g) != string(w) {
			t.Fatalf("got\n%s\nwant\n%s", g, w)
		}
	}
}
