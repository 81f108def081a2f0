package sink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

func TestCommit(t *testing.T) {
	for name, brokers := range map[string]int{"one broker": 1, "several leaders": 3} {
		t.Run(name, func(t *testing.T) {
			_, client := startBrokers(t, brokers)
			p := fencedProducer(t, client)
			first, second, third := batchOf("first", 10), batchOf("second", 20), batchOf("third", 30)
			for i, b := range []Batch{first, second, {Offsets: []Offset{{"articles", 0, 25}}}, third, {}} {
				if _, err := p.Commit(t.Context(), b); err != nil {
					t.Fatalf("transaction %d: %v", i, err)
				}
			}
			wantCommitted(t, client, first, second, third)
			wantOffsets(t, client, 30, 60)
			next := make(map[string]string)
			for _, r := range committed(t, client) {
				where := fmt.Sprint(r.Topic, r.Partition)
				value := string(r.Value)
				if order := map[byte]string{
					'f': "0", 's': "1",
					't': "2",
				}[value[0]] + value; order <= next[where] {
					t.Errorf("%s: %s out of order", where, value)
				} else {
					next[where] = order
				}
				if string(r.Key) != "k" || r.Topic == "results" &&
					(len(r.Headers) != 1 || r.Headers[0].Key != "h" || string(r.Headers[0].Value) != "v") {
					t.Errorf("record %+v", r)
				}
				if r.Timestamp.IsZero() || time.Since(r.Timestamp).Abs() > time.Hour {
					t.Errorf("a record without a time has %v, want now", r.Timestamp)
				}
			}
		})
	}
}

func TestCommitOfSeveralRecordBatches(t *testing.T) {
	_, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	random := rand.New(rand.NewPCG(1, 9))
	var b Batch
	for i := range 60 {
		value := kafkatest.RandomBytes(random, 100_000)
		b.Records = append(b.Records, kafka.Record{
			Topic: "results", Partition: i % 2, Key: fmt.Append(nil, i/2), Value: value,
		})
	}
	rounds, err := newProducer(t, client).encode(b.Records)
	if err != nil || len(rounds) < 3 {
		t.Fatalf("%d rounds, %v; the test wants several", len(rounds), err)
	}
	if _, err := p.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantCommitted(t, client, b)
	next := make(map[int32]int)
	for _, r := range committed(t, client) {
		if want := fmt.Sprint(next[r.Partition]); string(r.Key) != want {
			t.Fatalf("partition %d: key %s, want %s", r.Partition, r.Key, want)
		}
		next[r.Partition]++
	}
}

func TestRecordThatIsTooLarge(t *testing.T) {
	_, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	large := kafka.Record{
		Topic: "results", Key: []byte("articles/0/7"),
		Value: kafkatest.RandomBytes(rand.New(rand.NewPCG(1, 10)), 2<<20),
	}
	if Size(large) <= p.limits["results"] {
		t.Fatalf("Size = %d says that it fits", Size(large))
	}
	_, err := p.Commit(t.Context(),
		Batch{Records: []kafka.Record{{Topic: "results", Partition: 1, Value: []byte("fits")}, large}})
	var refused *TooLargeError
	if !errors.As(err, &refused) || !errors.Is(err, kafkago.MessageSizeTooLarge) ||
		errors.Is(err, ErrFenced) {
		t.Fatalf("error = %v, want a TooLargeError", err)
	}
	if refused.Partition != (Partition{"results", 0}) || refused.Size < 2<<20 ||
		refused.Size > Size(large) {
		t.Errorf("it is of %v and of %d bytes, want results/0 and 2 MiB", refused.Partition, refused.Size)
	}
	for _, want := range []string{
		`topic results refuses the record of key "articles/0/7" for partition 0, which takes ` +
			fmt.Sprint(refused.Size) + " bytes",
		"--entity-name results --add-config max.message.bytes=4194304",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %q, want %q in it", err, want)
		}
	}
	if err := p.Fence(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := batchOf("after", 1)
	if _, err := p.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantCommitted(t, client, b)
}

func TestCommitEndsWithTheContext(t *testing.T) {
	cluster, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	ctx, cancel := context.WithCancel(t.Context())
	cluster.ControlKey(int16(kmsg.EndTxn), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		cancel()
		response := request.ResponseKind().(*kmsg.EndTxnResponse)
		response.ErrorCode = int16(kafkago.ConcurrentTransactions)
		return response, nil, true
	})
	if _, err := p.Commit(ctx, batchOf("x", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want the end of the context", err)
	}
}

// Written is where the next record will go, as a foreign reader sees it.
func TestCommitSaysWhereRecordsWent(t *testing.T) {
	_, client := startBrokers(t, 2)
	p := fencedProducer(t, client)
	random := rand.New(rand.NewPCG(1, 10))
	large := Batch{Offsets: []Offset{{"articles", 0, 3}}}
	for range 40 { // several rounds
		large.Records = append(large.Records, kafka.Record{
			Topic: "results", Partition: 1, Value: kafkatest.RandomBytes(random, 100_000),
		})
	}
	large.Records = append(large.Records, kafka.Record{Topic: "results", Partition: 2})
	for _, b := range []Batch{batchOf("first", 1), batchOf("second", 2), large, {}} {
		written, err := p.Commit(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		want := make(Written)
		for _, r := range committed(t, client) {
			want[Partition{r.Topic, int(r.Partition)}] = r.Offset + 1
		}
		maps.DeleteFunc(want, func(to Partition, _ int64) bool {
			return !slices.ContainsFunc(b.Records,
				func(r kafka.Record) bool { return to == Partition{r.Topic, r.Partition} })
		})
		if !maps.Equal(written, want) {
			t.Errorf("written %v, want %v", written, want)
		}
	}
}

// A right that was withdrawn does not come back by waiting.
func TestCommitWithoutTheRightToWrite(t *testing.T) {
	cluster, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	for key, answer := range map[kmsg.Key]func(kmsg.Request) kmsg.Response{
		kmsg.AddPartitionsToTxn: func(request kmsg.Request) kmsg.Response {
			return added(request.(*kmsg.AddPartitionsToTxnRequest), func(topic string, _ int) int16 {
				if topic == "results" {
					return int16(kafkago.TopicAuthorizationFailed)
				}
				return int16(operationNotAttempted)
			})
		},
		kmsg.Produce: func(request kmsg.Request) kmsg.Response {
			return produced(request.(*kmsg.ProduceRequest), func(topic string, _ int32) int16 {
				if topic == "results" {
					return int16(kafkago.TopicAuthorizationFailed)
				}
				return 0
			})
		},
	} {
		t.Run(key.Name(), func(t *testing.T) {
			cluster.ControlKey(int16(key), func(request kmsg.Request) (kmsg.Response, error, bool) {
				return answer(request), nil, true
			})
			_, err := p.Commit(t.Context(), batchOf("denied", 1))
			if !kafka.Fatal(err) {
				t.Errorf("error = %v, want one that waiting does not mend", err)
			}
			for _, want := range []string{
				"results/",
				"grant read and describe on the input topic, read and write on the output topics",
			} {
				if !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
			if err := p.Fence(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantCommitted(t, client)
		})
	}
}

// Batches are prepared ahead, also while one is committed. Records get their numbers when their
// batch is committed, so that one which is never committed leaves no gap.
func TestPrepareAhead(t *testing.T) {
	_, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	prepare := func(value string, from int64) *Prepared {
		b, err := p.Prepare(batchOf(value, from))
		if err != nil {
			t.Error(err)
		}
		return b
	}
	first, second := prepare("first", 1), prepare("second", 3)
	_ = prepare("never", 2)
	third := make(chan *Prepared, 1)
	go func() { third <- prepare("third", 5) }()
	for _, next := range []func() *Prepared{
		func() *Prepared { return first },
		func() *Prepared { return second },
		func() *Prepared { return <-third },
	} {
		if _, err := p.CommitPrepared(t.Context(), next()); err != nil {
			t.Fatal(err)
		}
	}
	wantCommitted(t, client, batchOf("first", 1), batchOf("second", 3), batchOf("third", 5))
}
