package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/method/hamming"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// loadFingerprinter loads the dictionary once for all tests that have the default fingerprints.
var loadFingerprinter = sync.OnceValues(func() (*Fingerprinter, error) { return NewFingerprinter(config.Default()) })

func testFingerprinter(t testing.TB, c config.Config) *Fingerprinter {
	t.Helper()
	f, err := loadFingerprinter()
	if err != nil {
		t.Fatal(err)
	}
	if d := config.Default(); c.Fingerprint != d.Fingerprint || !reflect.DeepEqual(c.Text, d.Text) {
		if f, err = NewFingerprinter(c); err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f, err = newFingerprinter(c, configured{f.Method, c.Cluster}); err != nil {
		t.Fatal(err)
	}
	return f
}

// configured is simhash with another distance and index, without loading the dictionary again.
type configured struct {
	method.Method
	cluster config.Cluster
}

func (m configured) Bound() float64 { return float64(m.cluster.Distance) }

func (m configured) Threshold() string { return fmt.Sprintf("distance=%d", m.cluster.Distance) }

func (m configured) NewIndex(bound float64) (singlepass.Index, error) {
	points, err := hamming.NewIndex(m.cluster.Index, int(bound))
	return hamming.Centres(points), err
}

// testConfig is the default with batches so small that every test has several.
func testConfig() config.Config {
	c := config.Default()
	c.Batch.Records = 30
	c.Batch.Linger = time.Millisecond
	return c
}

var vocabulary = strings.Fields(`港口 大桥 今天 通车 居民 沿着 河岸 庆祝 工程 历时 三年 建成 市场 价格 上涨 蔬菜 水果 农民 丰收 天气
	预报 明天 暴雨 学校 学生 比赛 冠军 火车 车站 乘客 医院 医生 研究 发现 新药 海洋 鱼类 保护 公园 树木 种植 博物馆 展览 开幕 音乐 舞蹈 演出
	harbour bridge opens after three years work market prices rise farmers harvest storm warning school wins chess final
	railway station passengers doctors study medicine ocean fish protected park trees planted museum exhibition concert`)

// sentence is n words that seed chooses: two seeds make texts that have little in common.
func sentence(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	words := make([]string, n)
	for i := range words {
		words[i] = vocabulary[r.IntN(len(vocabulary))]
	}
	// A number of its own tells texts apart that share most words.
	return strings.Join(words, " ") + fmt.Sprintf(" %d号 n%d", seed, seed*7919)
}

func articleJSON(id, title, content string) []byte {
	return fmt.Appendf(nil, `{"id":%q,"title":%q,"content":%q}`, id, title, content)
}

// feed is n articles, of which about every second is one of a few stories again.
func feed(seed uint64, n int) [][]byte {
	r := rand.New(rand.NewPCG(seed, 2))
	values := make([][]byte, n)
	for i := range values {
		story := uint64(i)
		if i > 0 && r.IntN(2) == 0 {
			story = uint64(r.IntN(min(i, 20)))
		}
		values[i] = articleJSON(fmt.Sprintf("a%d-%d", seed, i), fmt.Sprintf("story %d", story), sentence(seed*100_000+story, 60))
	}
	return values
}

var discard = slog.New(slog.DiscardHandler)

// bench is a broker, and what the tests do with it.
type bench struct {
	*testing.T
	broker *kfake.Cluster
	client *kafka.Client
	config config.Config
}

// newBench starts a broker with the topics that c names.
func newBench(t *testing.T, c config.Config, partitions int32) *bench {
	t.Helper()
	b := newBareBench(t, c)
	for _, topic := range []struct {
		name    string
		configs map[string]string
	}{
		{c.Input.Topic, nil},
		{c.Output.Topic, nil},
		{c.Output.ClustersTopic, map[string]string{"cleanup.policy": "compact"}},
		{c.Output.DeadLetterTopic, map[string]string{"max.message.bytes": "2000000"}},
	} {
		if err := b.broker.CreateTopic(topic.name, partitions, topic.configs); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// newBareBench starts a broker without topics.
func newBareBench(t *testing.T, c config.Config) *bench {
	t.Helper()
	broker := kafkatest.Start(t, 1)
	c.Kafka.Brokers = broker.ListenAddrs()
	return &bench{T: t, broker: broker, client: kafkatest.Connect(t, c.Kafka), config: c}
}

// instance is a clusterd that runs.
type instance struct {
	t       *testing.T
	log     *wait.Buffer
	monitor *monitor.Monitor
	stop    context.CancelFunc
	done    chan struct{}
	err     error // after done
}

// start starts an instance with an empty disk.
func (b *bench) start() *instance {
	b.Helper()
	return b.startIn(b.TempDir())
}

// startIn starts an instance with its disk in dir.
func (b *bench) startIn(dir string) *instance {
	b.Helper()
	c := b.config
	c.State.Dir = dir
	fingerprinter := testFingerprinter(b, b.config)
	ctx, stop := context.WithCancel(b.Context())
	i := &instance{t: b.T, log: &wait.Buffer{}, monitor: monitor.New("test"), stop: stop, done: make(chan struct{})}
	go func() {
		defer close(i.done)
		i.err = run(ctx, c, b.client, slog.New(slog.NewTextHandler(i.log, nil)), i.monitor, fingerprinter)
	}()
	b.Cleanup(func() { i.stop(); <-i.done })
	return i
}

// wait is the error that the instance ends with.
func (i *instance) wait() error {
	i.t.Helper()
	select {
	case <-i.done:
		return i.err
	case <-time.After(wait.Patience):
		i.t.Fatalf("still running after %v; log:\n%s", wait.Patience, i.log)
		return nil
	}
}

// end stops the instance as Ctrl-C does.
func (i *instance) end() {
	i.t.Helper()
	i.stop()
	if err := i.wait(); err != nil {
		i.t.Errorf("after a stop: %v", err)
	}
}

// failure runs an instance that must end by itself.
func (b *bench) failure() error {
	b.Helper()
	err := b.start().wait()
	if err == nil {
		b.Fatal("no error")
	}
	return err
}

// produce writes messages to the input topic, spread by the partition that each has.
func (b *bench) produce(messages ...kafkago.Message) {
	b.Helper()
	w := &kafkago.Writer{
		Addr: kafkago.TCP(b.config.Kafka.Brokers...), Topic: b.config.Input.Topic, RequiredAcks: kafkago.RequireAll,
		BatchTimeout: time.Millisecond, BatchBytes: 1 << 20, MaxAttempts: 1,
		Balancer: kafkago.BalancerFunc(func(m kafkago.Message, partitions ...int) int { return m.WriterData.(int) % len(partitions) }),
	}
	defer w.Close()
	if err := w.WriteMessages(b.Context(), messages...); err != nil {
		b.Fatal(err)
	}
}

// spread are messages of the values, over all partitions in turn.
func spread(values [][]byte) []kafkago.Message {
	messages := make([]kafkago.Message, len(values))
	for i, v := range values {
		messages[i] = kafkago.Message{Value: v, WriterData: i}
	}
	return messages
}

// read is all that is committed in a topic now, as a read_committed reader sees it.
func (b *bench) read(topic string) []kafka.Record {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), wait.Patience)
	defer cancel()
	partitions, err := b.client.Partitions(ctx, topic)
	if err != nil {
		b.Fatal(err)
	}
	at, last := make(map[int]int64), make(map[int]int64)
	for _, p := range partitions {
		at[p], last[p] = 0, b.broker.PartitionInfo(topic, int32(p)).LastStableOffset
	}
	if maps.Equal(at, last) {
		return nil
	}
	var records []kafka.Record
	chunks, failed := make(chan consumer.Chunk), make(chan error, 1)
	go func() { failed <- consumer.NewLog(b.client, discard, topic, at, 1<<20).Read(ctx, chunks) }()
	for {
		select {
		case chunk := <-chunks:
			records = append(records, chunk.Records...)
			at[chunk.Partition] = chunk.Next
		case err := <-failed:
			b.Fatalf("reading %s: %v", topic, err)
		}
		if !slices.ContainsFunc(partitions, func(p int) bool { return at[p] < last[p] }) {
			return records
		}
	}
}

// committed waits until the group has committed the whole input.
func (b *bench) committed() {
	b.Helper()
	partitions, err := b.client.Partitions(b.Context(), b.config.Input.Topic)
	if err != nil {
		b.Fatal(err)
	}
	wait.Until(b, "the group's offsets to reach the end of the input", func() bool {
		offsets, err := consumer.Committed(b.Context(), b.client, b.config.Input.Group, b.config.Input.Topic, partitions)
		if err != nil {
			return false // the broker's faults are for everyone
		}
		for _, p := range partitions {
			if offsets[p] < b.broker.PartitionInfo(b.config.Input.Topic, int32(p)).HighWatermark {
				return false
			}
		}
		return true
	})
}

func header(r kafka.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// result is a result as it was read.
type result struct {
	kafka.Record
	article.Result
	position uint64
}

// results are the results in order of their positions, those without one last.
func (b *bench) results() []result {
	b.Helper()
	var results []result
	for _, r := range b.read(b.config.Output.Topic) {
		parsed, err := article.ParseResult(r.Value)
		if err != nil {
			b.Fatalf("%s/%d/%d: %v", r.Topic, r.Partition, r.Offset, err)
		}
		out := result{Record: r, Result: parsed, position: ^uint64(0)}
		if h := header(r, article.HeaderPosition); h != "" {
			if _, err := fmt.Sscan(h, &out.position); err != nil {
				b.Fatal(err)
			}
		}
		results = append(results, out)
	}
	slices.SortStableFunc(results, func(x, y result) int { return cmp.Compare(x.position, y.position) })
	return results
}

// inputs are the records of the input topic by address.
func (b *bench) inputs() map[string]kafka.Record {
	b.Helper()
	inputs := make(map[string]kafka.Record)
	for _, r := range b.read(b.config.Input.Topic) {
		inputs[fmt.Sprintf("%s/%d/%d", r.Topic, r.Partition, r.Offset)] = r
	}
	return inputs
}

// wantErrorHas holds err to parts of its text.
func wantErrorHas(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want %q in it", err, part)
		}
	}
}

// failingWriter refuses everything.
type failingWriter struct{}

var errDiskFull = errors.New("disk full")

func (failingWriter) Write([]byte) (int, error) { return 0, errDiskFull }
