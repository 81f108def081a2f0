package sink

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

func TestCutProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	for range 500 {
		records := make([]kafka.Record, 1+random.IntN(40))
		for i := range records {
			records[i] = kafkatest.RandomRecord(random, 400)
		}
		limit := random.IntN(2000) - 100
		var pointers, got []*kafka.Record
		for i := range records {
			pointers = append(pointers, &records[i])
		}
		parts := cut(pointers, limit)
		for i, part := range parts {
			size := 0
			for _, r := range part {
				size += recordbatch.RecordSize(r)
			}
			if len(part) == 0 || len(part) > 1 && size > limit {
				t.Fatalf("a part of %d records with %d bytes, at most %d are allowed", len(part), size, limit)
			}
			if i > 0 {
				before := 0
				for _, r := range parts[i-1] {
					before += recordbatch.RecordSize(r)
				}
				if before+recordbatch.RecordSize(part[0]) <= limit {
					t.Fatal("a record was cut off though it fitted")
				}
			}
			got = append(got, part...)
		}
		if !slices.Equal(got, pointers) {
			t.Fatal("records were lost, doubled or moved")
		}
	}
}

func newTestProducer(t testing.TB) *Producer {
	t.Helper()
	p, err := NewProducer(nil, nil, Settings{
		Compression: "lz4", Limits: map[string]int{"t": 100 << 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.producerID, p.epoch = 0x0102030405060708, 0x090a
	return p
}

// decode reads a batch: its head, and the keys of its records.
func decode(t *testing.T, data []byte) (head kmsg.RecordBatch, keys []string) {
	t.Helper()
	if err := head.ReadFrom(data); err != nil {
		t.Fatal(err)
	}
	batch, _, err := recordbatch.Next(data)
	if err != nil {
		t.Fatal(err)
	}
	reader := recordbatch.NewReader(1 << 20)
	defer reader.Close()
	err = reader.Each(batch, func(r kafka.Record) error {
		keys = append(keys, string(r.Key))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return head, keys
}

func TestBatchesHoldTheLimitOfTheirTopic(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 7))
	for _, limit := range []int{2048, 10_000, 100_000, 1_048_588, 10 << 20} {
		p := newTestProducer(t)
		p.SetLimit("t", limit)
		var records []kafka.Record
		for size := 0; size < 3*min(limit, batchBytes); {
			r := kafkatest.RandomRecord(random, min(limit, 50_000)/3)
			if Size(r) > limit {
				continue
			}
			size += len(r.Value)
			records = append(records, r)
		}
		rounds, err := p.encode(records)
		if err != nil {
			t.Fatal(err)
		}
		for _, round := range rounds {
			seen := make(map[Partition]bool)
			for _, b := range round {
				if seen[b.to] {
					t.Fatalf("two batches of %v in one round", b.to)
				}
				seen[b.to] = true
				if len(b.data) > min(limit, 1<<20) {
					t.Errorf("limit %d: a batch of %d bytes", limit, len(b.data))
				}
			}
		}
		if len(rounds) < 2 {
			t.Errorf("limit %d: one round, the test wants several", limit)
		}
	}
}

func TestSequenceGoesRoundAt31Bits(t *testing.T) {
	p, to := newTestProducer(t), Partition{"t", 0}
	records := []kafka.Record{{Topic: "t"}, {Topic: "t"}, {Topic: "t"}}
	for _, tt := range []struct{ from, then int32 }{
		{0, 3},
		{math.MaxInt32 - 3, math.MaxInt32},
		{math.MaxInt32 - 2, 0},
		{math.MaxInt32 - 1, 1},
		{math.MaxInt32, 2},
	} {
		p.sequence[to] = tt.from
		rounds, err := p.encode(records)
		if err != nil || len(rounds) != 1 || len(rounds[0]) != 1 {
			t.Fatalf("rounds %v, %v; want one of one batch", rounds, err)
		}
		p.stamp(rounds)
		head, _ := decode(t, rounds[0][0].data)
		if head.FirstSequence != tt.from || head.ProducerID != p.producerID ||
			head.ProducerEpoch != p.epoch || p.sequence[to] != tt.then {
			t.Errorf("sequence %d, then %d, of producer %d, epoch %d; want %d, then %d", head.FirstSequence,
				p.sequence[to],
				head.ProducerID, head.ProducerEpoch, tt.from, tt.then)
		}
	}
	if p.sequence[Partition{"t", 1}] != 0 {
		t.Error("the sequence of another partition moved")
	}
}

func TestEncodeKeepsTheOrderOfAPartition(t *testing.T) {
	p := newTestProducer(t)
	p.SetLimit("a", 4096)
	p.SetLimit("b", 1<<20)
	var records []kafka.Record
	for i := range 300 {
		records = append(records, kafka.Record{
			Topic: []string{"a", "b"}[i%2], Partition: i / 2 % 2, Key: fmt.Append(nil, i),
			Value: bytes.Repeat([]byte{byte(i)}, 100), Time: time.UnixMilli(1),
		})
	}
	rounds, err := p.encode(records)
	if err != nil {
		t.Fatal(err)
	}
	p.stamp(rounds)
	got := make(map[Partition][]string)
	next := make(map[Partition]int32)
	for _, round := range rounds {
		for _, b := range round {
			head, keys := decode(t, b.data)
			if head.FirstSequence != next[b.to] {
				t.Errorf("%v: sequence %d, want %d", b.to, head.FirstSequence, next[b.to])
			}
			next[b.to] += int32(len(keys))
			got[b.to] = append(got[b.to], keys...)
		}
	}
	want := make(map[Partition][]string)
	for _, r := range records {
		to := Partition{r.Topic, r.Partition}
		want[to] = append(want[to], string(r.Key))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if rounds, err := p.encode(nil); err != nil || len(rounds) != 0 {
		t.Errorf("of no records: %v, %v", rounds, err)
	}
}

func BenchmarkEncode(b *testing.B) {
	p := newTestProducer(b)
	p.SetLimit("results", 1_048_588)
	value := []byte(
		`{"article_id":"20240501-000123","cluster_id":"articles/0/7","status":"joined","distance":3,"size":2,"representative":{"id":"a0","title":"标题"},"fingerprint":"00abcdef01234567","source":{"topic":"articles","partition":3,"offset":17},"pipeline":"simhash64/sdbm/log/1"}`)
	records := make([]kafka.Record, 1000)
	for i := range records {
		records[i] = kafka.Record{
			Topic: "results", Partition: i % 4, Key: []byte("articles/0/7"), Value: value,
		}
	}
	b.SetBytes(int64(len(records) * len(value)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.encode(records); err != nil {
			b.Fatal(err)
		}
	}
}

// A topic that refuses a record batch of several records gets smaller ones. Others do not, nor does
// a topic whose limit is said anew.
func TestARefusedBatchMakesThoseOfItsTopicSmaller(t *testing.T) {
	cluster, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		return produced(request.(*kmsg.ProduceRequest), func(topic string, _ int32) int16 {
			if topic == "results" {
				return int16(kafkago.MessageSizeTooLarge)
			}
			return 0
		}), nil, true
	})
	_, err := p.Commit(t.Context(), batchOf("refused", 1))
	var one *TooLargeError
	if !errors.Is(err, kafkago.MessageSizeTooLarge) || errors.As(err, &one) || kafka.Retriable(err) {
		t.Fatalf("error = %v, want that the batch is too large, and of no one record", err)
	}
	if want := map[string]int{"results": 1_048_588 / 2, "clusters": 1_048_588}; !maps.Equal(p.limits,
		want) {
		t.Errorf("limits %v, want %v", p.limits, want)
	}
	for range 10 {
		p.shrink("results")
	}
	if p.limits["results"] != minLimit {
		t.Errorf("in the end a limit of %d, want %d", p.limits["results"], minLimit)
	}
	p.SetLimit("results", 1<<20)
	if p.limits["results"] != 1<<20 {
		t.Errorf("a limit of %d, want what was set", p.limits["results"])
	}
}
