package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// startBrokers starts in-process brokers on free ports, and a client of them.
func startBrokers(t *testing.T, n int, options ...kfake.Opt) (*kfake.Cluster, *kafka.Client) {
	t.Helper()
	cluster := kafkatest.Start(t, n, options...)
	return cluster, kafkatest.Connect(t, kafka.Options{Brokers: cluster.ListenAddrs()})
}

// newWriter returns a foreign client that can do what this project's own cannot: abort.
func newWriter(t *testing.T, client *kafka.Client, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	options = append(options, kgo.SeedBrokers(client.Brokers...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	writer, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(writer.Close)
	return writer
}

func write(t *testing.T, writer *kgo.Client, partition int, values ...string) {
	t.Helper()
	var records []*kgo.Record
	for _, v := range values {
		key, _, _ := strings.Cut(v, "@")
		records = append(records, &kgo.Record{
			Topic: "articles", Partition: int32(partition), Key: []byte(key), Value: []byte(v),
		})
	}
	if err := writer.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func begin(t *testing.T, writer *kgo.Client) {
	t.Helper()
	if err := writer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
}

func end(t *testing.T, writer *kgo.Client, how kgo.TransactionEndTry) {
	t.Helper()
	if err := writer.EndTransaction(t.Context(), how); err != nil {
		t.Fatal(err)
	}
}

// readAllOf reads from the positions on up to the ends of the partitions, and returns the values
// by partition.
func readAllOf(
	t *testing.T, client *kafka.Client, next map[int]int64, maxBytes int,
) map[int][]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
	defer cancel()
	ends, err := client.Offsets(ctx, "articles", slices.Collect(maps.Keys(next)), kafka.Last)
	if err != nil {
		t.Fatal(err)
	}
	given := maps.Clone(next)
	chunks, finished := make(chan Chunk), make(chan error, 1)
	log := NewLog(client, slog.New(slog.DiscardHandler), "articles", given, maxBytes)
	clear(given) // the log keeps a copy
	go func() { finished <- log.Read(ctx, chunks) }()

	at, values := maps.Clone(next), make(map[int][]string)
	for !maps.Equal(at, ends) {
		select {
		case c := <-chunks:
			for _, r := range c.Records {
				if r.Topic != "articles" || r.Partition != c.Partition || r.Offset < at[c.Partition] ||
					r.Offset >= c.Next || r.Time.IsZero() {
					t.Errorf("record %+v in a chunk from %d to %d of partition %d", r, at[c.Partition], c.Next,
						c.Partition)
				}
				values[c.Partition] = append(values[c.Partition], string(r.Value))
			}
			if c.Next <= at[c.Partition] {
				t.Errorf("partition %d: from %d to %d", c.Partition, at[c.Partition], c.Next)
			}
			at[c.Partition] = c.Next
		case err := <-finished:
			t.Fatalf("at %v of %v: %v", at, ends, err)
		}
	}
	cancel()
	if err := <-finished; !errors.Is(err, context.Canceled) {
		t.Errorf("Read = %v, want the end of its context", err)
	}
	return values
}

func TestLogReadsWhatIsCommitted(t *testing.T) {
	for name, brokers := range map[string]int{"one broker": 1, "several leaders": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, client := startBrokers(t, brokers, kfake.SeedTopics(4, "articles"))
			plain, one, two := newWriter(t, client), newWriter(t, client, kgo.TransactionalID("one")),
				newWriter(t, client, kgo.TransactionalID("two"))

			write(t, plain, 0, "p0")
			begin(t, one)
			begin(t, two)
			write(t, one, 0, "a1", "a2")
			write(t, two, 0, "c1")
			write(t, one, 1, "a3")
			write(t, plain, 0, "p1", "p2")
			write(t, two, 1, "c2", "c3")
			write(t, one, 0, "a4")
			end(t, one, kgo.TryAbort)
			write(t, two, 0, "c4")
			end(t, two, kgo.TryCommit)
			begin(t, one)
			write(t, one, 0, "c5")
			write(t, one, 2, "c6")
			end(t, one, kgo.TryCommit)
			begin(t, two)
			write(t, two, 2, "a5")
			end(t, two, kgo.TryAbort)
			begin(t, two)
			write(t, two, 2, "c7")
			end(t, two, kgo.TryCommit)

			want := map[int][]string{
				0: {"p0", "c1", "p1", "p2", "c4", "c5"},
				1: {"c2", "c3"},
				2: {"c6", "c7"},
			}
			for _, maxBytes := range []int{1 << 20, 1} { // with 1, every batch is a fetch
				got := readAllOf(t, client, map[int]int64{0: 0, 1: 0, 2: 0, 3: 0}, maxBytes)
				if !maps.EqualFunc(got, want, slices.Equal) {
					t.Errorf("at most %d bytes: got %v, want %v", maxBytes, got, want)
				}
			}
			all := want[0]
			ends, err := client.Offsets(t.Context(), "articles", []int{0}, kafka.Last)
			if err != nil {
				t.Fatal(err)
			}
			for start := range ends[0] + 1 {
				got := readAllOf(t, client, map[int]int64{0: start}, 1)[0]
				if len(got) > len(all) || !slices.Equal(got, all[len(all)-len(got):]) || start < 2 &&
					len(got) < len(all)-int(start) {
					t.Errorf("from %d: got %v of %v", start, got, all)
				}
			}
		})
	}
}

func TestLogDoesNotReadAnOpenTransaction(t *testing.T) {
	_, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
	plain, open := newWriter(t, client), newWriter(t, client, kgo.TransactionalID("open"))
	write(t, plain, 0, "before")
	begin(t, open)
	write(t, open, 0, "open")
	write(t, plain, 0, "after")

	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
	defer cancel()
	chunks, finished := make(chan Chunk), make(chan error, 1)
	go func() {
		finished <- NewLog(client, slog.New(slog.DiscardHandler), "articles", map[int]int64{0: 0},
			1<<20).Read(ctx, chunks)
	}()
	first := <-chunks
	if len(first.Records) != 1 || string(first.Records[0].Value) != "before" || first.Next != 1 {
		t.Errorf("got %+v, want what stands before the open transaction", first)
	}
	end(t, open, kgo.TryCommit)
	var values []string
	for len(values) < 2 {
		select {
		case c := <-chunks:
			for _, r := range c.Records {
				values = append(values, string(r.Value))
			}
		case err := <-finished:
			t.Fatal(err)
		}
	}
	if !slices.Equal(values, []string{"open", "after"}) {
		t.Errorf("got %v after the commit", values)
	}
}

func TestLogOffsetOutOfRange(t *testing.T) {
	_, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
	writer := newWriter(t, client)
	write(t, writer, 0, "0", "1", "2", "3", "4")
	request := kmsg.NewDeleteRecordsRequest()
	topic := kmsg.NewDeleteRecordsRequestTopic()
	partition := kmsg.NewDeleteRecordsRequestTopicPartition()
	topic.Topic, partition.Offset = "articles", 2
	topic.Partitions = append(topic.Partitions, partition)
	request.Topics = append(request.Topics, topic)
	if _, err := request.RequestWith(t.Context(), writer); err != nil {
		t.Fatal(err)
	}
	for _, next := range []int64{0, 9} {
		ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
		log := NewLog(client, slog.New(slog.DiscardHandler), "articles", map[int]int64{0: next}, 1<<20)
		log.Anew = "start anew with another input.group"
		log.Reset = func(partition int) string { return fmt.Sprint("reset ", partition) }
		err := log.Read(ctx, make(chan Chunk))
		cancel()
		if !errors.Is(err, ErrOffsetOutOfRange) {
			t.Errorf("from %d: error = %v", next, err)
			continue
		}
		for _, want := range []string{
			fmt.Sprintf("articles/0 holds offsets 2 to 5, and %d is wanted", next), "Nothing was skipped",
			"created again, start anew with another input.group. Else", "and run (reset 0)",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("from %d: error = %q, want %q in it", next, err, want)
			}
		}
	}
	if got := readAllOf(t, client, map[int]int64{0: 2}, 1<<20)[0]; !slices.Equal(got,
		[]string{"2", "3", "4"}) {
		t.Errorf("from the first that is left: %v", got)
	}
}

func TestLogOfACompactedTopic(t *testing.T) {
	cluster, client := startBrokers(t, 1)
	if err := client.CreateTopic(t.Context(), kafka.TopicSpec{
		Name: "articles", Partitions: 1,
		Configs: map[string]string{
			"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0", "min.compaction.lag.ms": "0",
		},
	}); err != nil {
		t.Fatal(err)
	}
	writer := newWriter(t, client)
	write(t, writer, 0, "z@0", "b@1")
	write(t, writer, 0, "c@2", "a@3", "b@4") // only c will be left, with a tail that is gone
	write(t, writer, 0, "a@5", "b@6")
	write(t, writer, 0, "d@7")
	cluster.Compact()
	for start, want := range [][]string{
		{"z@0", "c@2", "a@5", "b@6", "d@7"},
		{"c@2", "a@5", "b@6", "d@7"},
		{"c@2", "a@5", "b@6", "d@7"},
		{"a@5", "b@6", "d@7"},
		{"a@5", "b@6", "d@7"},
		{"a@5", "b@6", "d@7"},
		{"b@6", "d@7"},
		{"d@7"},
		nil,
	} {
		for _, maxBytes := range []int{1 << 20, 1} {
			if got := readAllOf(t, client, map[int]int64{0: int64(start)}, maxBytes)[0]; !slices.Equal(got,
				want) {
				t.Errorf("from %d, at most %d bytes: got %v, want %v", start, maxBytes, got, want)
			}
		}
	}
}
