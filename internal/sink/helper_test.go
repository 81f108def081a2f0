package sink

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/protocol/offsetfetch"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

const group = "clusterd"

func startBrokers(t *testing.T, n int, options ...kfake.Opt) (*kfake.Cluster, *kafka.Client) {
	t.Helper()
	cluster := kafkatest.Start(t, n, append([]kfake.Opt{
		kfake.SeedTopics(4, "results"), kfake.SeedTopics(2, "clusters"), kfake.SeedTopics(2, "articles"),
	}, options...)...)
	return cluster, kafkatest.Connect(t, kafka.Options{Brokers: cluster.ListenAddrs()})
}

func newProducer(t *testing.T, client *kafka.Client) *Producer {
	t.Helper()
	p, err := NewProducer(client, slog.New(slog.DiscardHandler), Settings{
		TransactionalID: "clusterd-0", Group: group, Compression: "lz4",
		Limits: map[string]int{"results": 1_048_588, "clusters": 1_048_588},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func fencedProducer(t *testing.T, client *kafka.Client) *Producer {
	t.Helper()
	p := newProducer(t, client)
	if err := p.Fence(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// batchOf makes records for both topics and all partitions, told apart by name.
func batchOf(name string, offset int64) Batch {
	b := Batch{Offsets: []Offset{{"articles", 0, offset}, {"articles", 1, 2 * offset}}}
	for i := range 8 {
		b.Records = append(b.Records,
			kafka.Record{
				Topic: "results", Partition: i % 4, Key: []byte("k"),
				Value:   fmt.Appendf(nil, "%s-r%d", name, i),
				Headers: []kafka.Header{{Key: "h", Value: []byte("v")}},
			},
			kafka.Record{
				Topic: "clusters", Partition: i % 2, Key: []byte("k"),
				Value: fmt.Appendf(nil, "%s-c%d", name, i),
			})
	}
	return b
}

func valuesOf(batches ...Batch) []string {
	var values []string
	for _, b := range batches {
		for _, r := range b.Records {
			values = append(values, string(r.Value))
		}
	}
	return slices.Sorted(slices.Values(values))
}

// committed reads both topics with a foreign client, as far as there is anything committed.
func committed(t *testing.T, client *kafka.Client) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
	defer cancel()
	reader, err := kgo.NewClient(kgo.SeedBrokers(client.Brokers...),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeTopics("results", "clusters"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(50*time.Millisecond), kgo.KeepControlRecords())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	want := int64(0)
	for topic, partitions := range map[string][]int{"results": {0, 1, 2, 3}, "clusters": {0, 1}} {
		ends, err := client.Offsets(ctx, topic, partitions, kafka.Last)
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range ends {
			want += end
		}
	}
	// Every offset is a record, a control record, or of an aborted transaction, which only has its
	// control record come here: count up to the end of each partition.
	at := make(map[string]int64)
	var records []*kgo.Record
	for seen := int64(0); seen < want; {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d of %d offsets: %v", seen, want, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			where := fmt.Sprint(r.Topic, r.Partition)
			seen += r.Offset + 1 - at[where]
			at[where] = r.Offset + 1
			if !r.Attrs.IsControl() {
				records = append(records, r)
			}
		})
	}
	return records
}

func wantCommitted(t *testing.T, client *kafka.Client, batches ...Batch) {
	t.Helper()
	var got []string
	for _, r := range committed(t, client) {
		got = append(got, string(r.Value))
	}
	if slices.Sort(got); !slices.Equal(got, valuesOf(batches...)) {
		t.Errorf("committed: %v\nwant %v", got, valuesOf(batches...))
	}
}

func wantOffsets(t *testing.T, client *kafka.Client, want ...int64) {
	t.Helper()
	response, err := kafka.Do[*offsetfetch.Response](t.Context(), client, &offsetfetch.Request{
		GroupID: group,
		Topics:  []offsetfetch.RequestTopic{{Name: "articles", PartitionIndexes: []int32{0, 1}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, topic := range response.Topics {
		for _, p := range topic.Partitions {
			got = append(got, p.CommittedOffset)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("offsets of the group: %v, want %v", got, want)
	}
}

func newAdmin(t *testing.T, client *kafka.Client) *kgo.Client {
	t.Helper()
	admin, err := kgo.NewClient(kgo.SeedBrokers(client.Brokers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	return admin
}

// produced answers a produce request with a code for each partition.
func produced(
	request *kmsg.ProduceRequest, code func(topic string, partition int32) int16,
) *kmsg.ProduceResponse {
	response := request.ResponseKind().(*kmsg.ProduceResponse)
	for _, asked := range request.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic = asked.Topic
		for _, partition := range asked.Partitions {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition, p.ErrorCode = partition.Partition, code(asked.Topic, partition.Partition)
			topic.Partitions = append(topic.Partitions, p)
		}
		response.Topics = append(response.Topics, topic)
	}
	return response
}

// added answers a request to add partitions to a transaction with a code for each, by its place in
// the request.
func added(
	request *kmsg.AddPartitionsToTxnRequest, code func(topic string, i int) int16,
) *kmsg.AddPartitionsToTxnResponse {
	response := request.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
	for _, asked := range request.Topics {
		topic := kmsg.NewAddPartitionsToTxnResponseTopic()
		topic.Topic = asked.Topic
		for i, id := range asked.Partitions {
			p := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
			p.Partition, p.ErrorCode = id, code(asked.Topic, i)
			topic.Partitions = append(topic.Partitions, p)
		}
		response.Topics = append(response.Topics, topic)
	}
	return response
}
