//go:build integration

package integration

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/pipeline"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

// topicFor makes a topic for a benchmark.
func topicFor(b *testing.B, partitions int32) string {
	b.Helper()
	name := fmt.Sprintf("b%d", time.Now().UnixNano())
	if _, err := shared.admin.CreateTopic(b.Context(), partitions, 1, nil,
		name); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = shared.admin.DeleteTopics(context.Background(), name) })
	return name
}

func connect(b *testing.B) *kafka.Client {
	b.Helper()
	return kafkatest.Connect(b, kafka.Options{Brokers: shared.addresses[:1]})
}

// fill sends made-up articles and returns how many bytes they have.
func fill(b *testing.B, topic string, articles int) int64 {
	b.Helper()
	generator, bytes := sample.New(4, time.Now()), int64(0)
	records := make([]*kgo.Record, articles)
	for i := range records {
		records[i] = &kgo.Record{Topic: topic, Value: generator.Next().JSON()}
		bytes += int64(len(records[i].Value))
	}
	if err := shared.client.ProduceSync(b.Context(), records...).FirstErr(); err != nil {
		b.Fatal(err)
	}
	return bytes
}

// Whole transactions: records of 300 bytes over 4 partitions, and an offset.
func BenchmarkTransaction(b *testing.B) {
	for _, size := range []int{100, 1_000, 20_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			topic := topicFor(b, 4)
			producer, err := sink.NewProducer(connect(b), slog.New(slog.DiscardHandler), sink.Settings{
				TransactionalID: topic, Group: topic, Compression: "lz4",
				Limits: map[string]int{topic: 1 << 20},
			})
			if err != nil {
				b.Fatal(err)
			}
			if err := producer.Fence(b.Context()); err != nil {
				b.Fatal(err)
			}
			batch := sink.Batch{Offsets: []sink.Offset{{Topic: topic, Partition: 0, Offset: 1}}}
			for i := range size {
				batch.Records = append(batch.Records, kafka.Record{
					Topic: topic, Partition: i % 4, Value: fmt.Appendf(nil, "%0300d", i),
				})
			}
			for b.Loop() {
				if _, err := producer.Commit(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// Reading committed articles of about 1 KB from 4 partitions.
func BenchmarkRead(b *testing.B) {
	const articles = 50_000
	topic := topicFor(b, 4)
	b.SetBytes(fill(b, topic, articles))
	c := connect(b)
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		chunks, ended := make(chan consumer.Chunk), make(chan error, 1)
		go func() {
			ended <- consumer.NewLog(c, slog.New(slog.DiscardHandler), topic,
				map[int]int64{0: 0, 1: 0, 2: 0, 3: 0}, 8<<20).Read(ctx, chunks)
		}()
		for n := 0; n < articles; {
			n += len((<-chunks).Records)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(articles*b.N)/b.Elapsed().Seconds(), "records/s")
}

// The daemon in this process, from the first article to the last committed result. Loading the
// dictionary, joining the group and creating topics are in it, some three seconds.
func BenchmarkRun(b *testing.B) {
	const articles = 100_000
	for b.Loop() {
		topic := topicFor(b, 4)
		b.SetBytes(fill(b, topic, articles))
		c := config.Default()
		c.Kafka.Brokers, c.Kafka.CreateTopics = shared.addresses[:1], true
		c.Input.Topic, c.Input.Group = topic, topic
		c.Output.Topic, c.Output.ClustersTopic, c.Output.DeadLetterTopic = topic+"-results", topic+
			"-clusters", topic+"-dead"
		c.State.Dir = b.TempDir()
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		began := time.Now()
		go func() {
			ended <- pipeline.Run(ctx, pipeline.Options{
				Config: c, Client: connect(b), Log: slog.New(slog.DiscardHandler),
				Monitor: monitor.New("bench"),
			})
		}()
		first, last := committed(b, topic, articles)
		cancel()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(articles/last.Sub(first).Seconds(), "articles/s")
		b.ReportMetric(first.Sub(began).Seconds(), "s-to-first")
	}
}

// committed polls the group's offsets and returns when the first and the last article were
// committed.
func committed(b *testing.B, group string, articles int64) (first, last time.Time) {
	b.Helper()
	for {
		offsets, err := shared.admin.FetchOffsets(b.Context(), group)
		if err != nil {
			b.Fatal(err)
		}
		sum := int64(0)
		offsets.Each(func(o kadm.OffsetResponse) { sum += o.At })
		if sum > 0 && first.IsZero() {
			first = time.Now()
		}
		if sum >= articles {
			return first, time.Now()
		}
		time.Sleep(10 * time.Millisecond)
	}
}
