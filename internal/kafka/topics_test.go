package kafka_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/login"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

func TestTopics(t *testing.T) {
	_, c := startBroker(t, kfake.SeedTopics(3, "articles"))
	client, ctx := kafkatest.Connect(t, c), t.Context()

	partitions, err := client.Partitions(ctx, "articles")
	if err != nil || !slices.Equal(partitions, []int{0, 1, 2}) {
		t.Fatalf("Partitions = %v, %v", partitions, err)
	}
	leaders, err := client.Leaders(ctx, "articles")
	if err != nil || !maps.Equal(leaders, map[int]int{0: 0, 1: 0, 2: 0}) {
		t.Errorf("Leaders = %v, %v", leaders, err)
	}
	for name, ask := range map[string]func() error{
		"Partitions": func() error { _, err := client.Partitions(ctx, "nothing"); return err },
		"Leaders":    func() error { _, err := client.Leaders(ctx, "nothing"); return err },
	} {
		if err := ask(); !errors.Is(err, kafka.ErrNoTopic) ||
			!strings.Contains(err.Error(), "topic nothing: it does not exist") {
			t.Errorf("%s of no topic: %v", name, err)
		}
	}

	writer := &kafkago.Writer{
		Addr: kafkago.TCP(c.Brokers...), Topic: "articles", RequiredAcks: kafkago.RequireAll,
		BatchSize: 1, Balancer: &kafkago.RoundRobin{},
	}
	defer writer.Close()
	if err := writer.WriteMessages(ctx, kafkago.Message{Value: []byte("0")},
		kafkago.Message{Value: []byte("1")}, kafkago.Message{Value: []byte("2")},
		kafkago.Message{Value: []byte("3")}); err != nil {
		t.Fatal(err)
	}
	last, err := client.Offsets(ctx, "articles", partitions, kafka.Last)
	if err != nil || len(last) != 3 || last[0]+last[1]+last[2] != 4 {
		t.Errorf("Offsets(Last) = %v, %v; want 4 records in 3 partitions", last, err)
	}
	first, err := client.Offsets(ctx, "articles", []int{2, 0}, kafka.First)
	if err != nil || !maps.Equal(first, map[int]int64{0: 0, 2: 0}) {
		t.Errorf("Offsets(First) = %v, %v", first, err)
	}
	if none, err := client.Offsets(ctx, "articles", nil, kafka.First); err != nil || len(none) != 0 {
		t.Errorf("Offsets of no partitions = %v, %v", none, err)
	}
	if _, err := client.Offsets(ctx, "nothing", []int{0}, kafka.First); !kafka.NoTopic(err) {
		t.Errorf("Offsets of no topic: %v", err)
	}
	if _, err := client.Offsets(ctx, "articles", []int{0, 9}, kafka.First); !kafka.NoTopic(err) {
		t.Errorf("Offsets of no partition: %v", err)
	}
}

func TestCreateTopic(t *testing.T) {
	cluster, c := startBroker(t, kfake.DefaultNumPartitions(2))
	client, ctx := kafkatest.Connect(t, c), t.Context()
	spec := kafka.TopicSpec{
		Name: "clusters", Partitions: 5, Configs: map[string]string{
			"cleanup.policy": "compact", "max.message.bytes": "2000000",
		},
	}
	for range 2 { // the second time it is there already
		if err := client.CreateTopic(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	spec.Partitions = 7 // and is left as it is
	if err := client.CreateTopic(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Partitions(ctx, "clusters"); err != nil || len(got) != 5 {
		t.Errorf("Partitions = %v, %v; want 5", got, err)
	}
	if got, err := client.TopicConfig(ctx, "clusters"); err != nil ||
		got != (kafka.TopicConfig{
			CleanupPolicy: "compact", MaxMessageBytes: 2_000_000, LimitKnown: true,
			DeleteRetention: 24 * time.Hour,
		}) {
		t.Errorf("TopicConfig = %+v, %v", got, err)
	}
	if err := client.CreateTopic(ctx, kafka.TopicSpec{Name: "results"}); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Partitions(ctx, "results"); err != nil || len(got) != 2 {
		t.Errorf("Partitions = %v, %v; want the broker's default, 2", got, err)
	}
	if got, err := client.TopicConfig(ctx, "results"); err != nil ||
		got != (kafka.TopicConfig{
			CleanupPolicy: "delete", MaxMessageBytes: 1_048_588, LimitKnown: true,
			DeleteRetention: 24 * time.Hour,
		}) {
		t.Errorf("TopicConfig = %+v, %v; want Kafka's defaults", got, err)
	}
	// kfake takes any name
	cluster.ControlKey(int16(kmsg.CreateTopics),
		func(request kmsg.Request) (kmsg.Response, error, bool) {
			response := request.ResponseKind().(*kmsg.CreateTopicsResponse)
			topic := kmsg.NewCreateTopicsResponseTopic()
			topic.Topic, topic.ErrorCode = "no/such name", int16(kafkago.InvalidTopic)
			response.Topics = append(response.Topics, topic)
			return response, nil, true
		})
	err := client.CreateTopic(ctx, kafka.TopicSpec{Name: "no/such name"})
	if !errors.Is(err, kafkago.InvalidTopic) || !kafka.Fatal(err) ||
		!strings.Contains(err.Error(), "creating topic no/such name") {
		t.Errorf("error = %v, want that the name is not allowed", err)
	}
	if _, err := client.TopicConfig(ctx, "nothing"); !kafka.NoTopic(err) {
		t.Errorf("TopicConfig of no topic: %v", err)
	}
}

func TestTopicConfigWithoutTheRightToReadIt(t *testing.T) {
	_, c := startBroker(t, kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.Superuser("PLAIN", "admin", "admin"),
		kfake.User("PLAIN", "clusterd", "pw"), kfake.SeedTopics(1, "articles"))
	c.SASL = login.SASL{Mechanism: "plain", Username: "clusterd", Password: "pw"}
	got, err := kafkatest.Connect(t, c).TopicConfig(t.Context(), "articles")
	if err != nil ||
		got != (kafka.TopicConfig{MaxMessageBytes: 1_048_588, DeleteRetention: 24 * time.Hour}) {
		t.Errorf("TopicConfig = %+v, %v; want Kafka's default size and no policy", got, err)
	}
}

func TestTopicSpecCommand(t *testing.T) {
	for want, spec := range map[string]kafka.TopicSpec{
		"kafka-topics --create --topic results":                {Name: "results"},
		"kafka-topics --create --topic results --partitions 4": {Name: "results", Partitions: 4},
		"kafka-topics --create --topic clusters --partitions 1 --config cleanup.policy=compact " +
			"--config max.message.bytes=9": {
			Name: "clusters", Partitions: 1, Configs: map[string]string{
				"max.message.bytes": "9", "cleanup.policy": "compact",
			},
		},
	} {
		want += " --bootstrap-server a:9092,b:9092"
		if got := spec.Command([]string{"a:9092", "b:9092"}); got != want {
			t.Errorf("Command() = %q, want %q", got, want)
		}
	}
}

func TestTopicConfigOfTombstones(t *testing.T) {
	_, c := startBroker(t)
	client := kafkatest.Connect(t, c)
	for value, want := range map[string]time.Duration{
		"0": 0, "3600000": time.Hour,
		"9223372036854775807": math.MaxInt64 / time.Millisecond * time.Millisecond,
	} {
		topic := "kept-" + value
		if err := client.CreateTopic(t.Context(), kafka.TopicSpec{
			Name: topic, Partitions: 1,
			Configs: map[string]string{"delete.retention.ms": value},
		}); err != nil {
			t.Fatal(err)
		}
		if got, err := client.TopicConfig(t.Context(), topic); err != nil || got.DeleteRetention != want {
			t.Errorf("delete.retention.ms %s: %v, %v; want %v", value, got.DeleteRetention, err, want)
		}
	}
}
