package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/pipeline/tracing"
	"github.com/clusterd/clusterd/internal/serve/lookup"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/texts"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// loadFingerprinter loads the dictionary once for all tests that have the default fingerprints.
var loadFingerprinter = sync.OnceValues(func() (*fingerprint.Fingerprinter,
	error,
) {
	return fingerprint.New(config.Default())
})

func testFingerprinter(t testing.TB, c config.Config) *fingerprint.Fingerprinter {
	t.Helper()
	f, err := loadFingerprinter()
	if d := config.Default(); err == nil && (c.Fingerprint != d.Fingerprint ||
		!reflect.DeepEqual(c.Text, d.Text)) {
		f, err = fingerprint.New(c)
	} else if err == nil {
		f, err = fingerprint.With(configured{f.Method, c.Cluster}, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// configured is simhash with another distance and index, without loading the dictionary again.
type configured struct {
	method.Method
	cluster config.Cluster
}

func (m configured) Threshold() float64 { return float64(m.cluster.Distance) }

func (m configured) ThresholdSettings() string {
	return fmt.Sprintf("distance=%d",
		m.cluster.Distance)
}

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

// wallClock is the wall clock of these tests.
var wallClock = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

var discard = slog.New(slog.DiscardHandler)

// bench is a broker, and what the tests do with it.
type bench struct {
	*testing.T
	broker *kfake.Cluster
	client *kafka.Client
	config config.Config
	pauses pauses
	// members are asked for corrections; nil where there are none.
	members Members
	tracer  *tracing.Tracer // nil: nobody traces
	// left are the records that an earlier version left.
	left map[article.Address]bool
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

// alone has instances not wait for a group in which there is nobody else.
func (b *bench) alone() *bench {
	b.pauses = pauses{
		rebalance: 50 * time.Millisecond, rejoin: 10 * time.Millisecond, look: 50 * time.Millisecond,
	}
	return b
}

// newBareBench starts a broker without topics.
func newBareBench(t *testing.T, c config.Config) *bench {
	t.Helper()
	broker := kafkatest.Start(t, 1)
	c.Kafka.Brokers = broker.ListenAddrs()
	return &bench{T: t, broker: broker, client: kafkatest.Connect(t,
		kafka.Options{Brokers: c.Kafka.Brokers}), config: c, pauses: defaultPauses}
}

// instance is a clusterd that runs.
type instance struct {
	t       *testing.T
	log     *wait.Buffer
	monitor *monitor.Monitor
	lookup  *lookup.Service
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
	return b.startAs(b.config.Role, dir)
}

// startAs starts an instance of a role with its disk in dir.
func (b *bench) startAs(role, dir string) *instance {
	b.Helper()
	c := b.config
	c.State.Dir, c.Role = dir, role
	fingerprinter := testFingerprinter(b, b.config)
	ctx, stop := context.WithCancel(b.Context())
	i := &instance{
		t: b.T, log: &wait.Buffer{}, monitor: monitor.New("test"), stop: stop, done: make(chan struct{}),
	}
	i.lookup = lookup.New(lookup.Options{
		Config: c, State: i.monitor.SpaceState,
		End: func(context.Context, int) (int64, error) { return 0, nil }, // no answer waits
	})
	go func() {
		defer close(i.done)
		i.err = run(ctx, Options{
			Config: c, Client: b.client, Log: slog.New(slog.NewTextHandler(i.log, nil)),
			Monitor: i.monitor, Readers: i.lookup, Members: b.members, Tracer: b.tracer,
		}, fingerprinter, b.pauses)
	}()
	b.Cleanup(func() {
		i.stop()
		<-i.done
		if b.Failed() {
			b.Log(i.log.String())
		}
	})
	return i
}

// wait is the error that the instance ends with.
func (i *instance) wait() error {
	i.t.Helper()
	select {
	case <-i.done:
		return i.err
	case <-time.After(wait.Timeout):
		i.t.Fatalf("still running after %v; log:\n%s", wait.Timeout, i.log)
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
		Addr: kafkago.TCP(b.config.Kafka.Brokers...), Topic: b.config.Input.Topic,
		RequiredAcks: kafkago.RequireAll,
		BatchTimeout: time.Millisecond, BatchBytes: 1 << 20, MaxAttempts: 1,
		Balancer: kafkago.BalancerFunc(func(m kafkago.Message,
			partitions ...int,
		) int {
			return m.WriterData.(int) % len(partitions)
		}),
	}
	defer w.Close()
	if err := w.WriteMessages(b.Context(), messages...); err != nil {
		b.Fatal(err)
	}
}

// feed returns n articles of [texts.Feed], and under the race detector a third, which is enough for
// several batches: goroutines do the same for each.
func feed(seed uint64, n int) [][]byte {
	if check.Race {
		n /= 3
	}
	return texts.Feed(seed, n)
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
	ctx, cancel := context.WithTimeout(b.Context(), wait.Timeout)
	defer cancel()
	partitions, err := b.client.Partitions(ctx, topic)
	if err != nil {
		b.Fatal(err)
	}
	at, last := make(map[int]int64), make(map[int]int64)
	for _, p := range partitions {
		info := b.broker.PartitionInfo(topic, int32(p))
		at[p], last[p] = info.LogStartOffset, info.LastStableOffset
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
			b.holdToSchema(records)
			return records
		}
	}
}

// committed waits until the group has committed the whole input, and holds what was written to its
// schemas.
func (b *bench) committed() {
	b.Helper()
	partitions, err := b.client.Partitions(b.Context(), b.config.Input.Topic)
	if err != nil {
		b.Fatal(err)
	}
	wait.Until(b, "the group's offsets to reach the end of the input", func() bool {
		offsets, err := consumer.Committed(b.Context(), b.client, b.config.Input.Group,
			b.config.Input.Topic, partitions)
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
	for _, topic := range []string{
		b.config.Output.Topic, b.config.Output.ClustersTopic, b.config.Output.DeadLetterTopic,
	} {
		b.read(topic)
	}
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

// results are the results in order of their positions, an unclustered one before the article that
// has the position.
func (b *bench) results() []result {
	b.Helper()
	var results []result
	for _, r := range b.read(b.config.Output.Topic) {
		parsed, err := article.ParseResult(r.Value)
		if err != nil {
			b.Fatalf("%s/%d/%d: %v", r.Topic, r.Partition, r.Offset, err)
		}
		out := result{Record: r, Result: parsed}
		if _, err := fmt.Sscan(header(r, article.HeaderPosition), &out.position); err != nil {
			b.Fatalf("%s/%d/%d: header %s: %v", r.Topic, r.Partition, r.Offset,
				article.HeaderPosition, err)
		}
		results = append(results, out)
	}
	slices.SortStableFunc(results,
		func(x, y result) int {
			return cmp.Or(cmp.Compare(x.position, y.position), cmp.Compare(y.Status, x.Status))
		})
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
