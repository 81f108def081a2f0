package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
)

func newAppender(t *testing.T, client *kafka.Client) *Appender {
	t.Helper()
	a, err := NewAppender(client, slog.New(slog.DiscardHandler), "lz4")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return a
}

// stored is the values of a topic, by partition/offset.
func stored(t *testing.T, client *kafka.Client, topic string, n int) map[string]string {
	t.Helper()
	reader, err := kgo.NewClient(kgo.SeedBrokers(client.Brokers...), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	found := make(map[string]string)
	for len(found) < n {
		fetched := reader.PollFetches(t.Context())
		if err := fetched.Err(); err != nil {
			t.Fatal(err)
		}
		fetched.EachRecord(func(r *kgo.Record) {
			found[fmt.Sprintf("%d/%d", r.Partition, r.Offset)] = string(r.Value)
		})
	}
	return found
}

// Callers side by side: each record is where its offset says, and no record is there twice,
// although replies are lost.
func TestAppend(t *testing.T) {
	t.Parallel()
	proxy := &lossy{key: kmsg.Produce, each: 5}
	_, client := startBrokers(t, 1, kfake.ListenFn(
		func(network, _ string) (net.Listener, error) {
			listener, err := net.Listen(network, "127.0.0.1:0")
			proxy.Listener = listener
			return proxy, err
		}))
	a := newAppender(t, client)
	const callers, each = 20, 10
	var mutex sync.Mutex
	want := make(map[string]string)
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for i := range each {
				records := []kafka.Record{
					{Topic: "results", Partition: (caller + i) % 4, Value: fmt.Appendf(nil, "%d-%d-a", caller, i)},
					{Topic: "results", Partition: caller % 4, Value: fmt.Appendf(nil, "%d-%d-b", caller, i)},
				}
				offsets, err := a.Append(t.Context(), records)
				if err != nil {
					t.Error(err)
					return
				}
				mutex.Lock()
				for j, r := range records {
					want[fmt.Sprintf("%d/%d", r.Partition, offsets[j])] = string(r.Value)
				}
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	if len(want) != 2*callers*each {
		t.Fatalf("%d addresses of %d records", len(want), 2*callers*each)
	}
	got := stored(t, client, "results", len(want))
	for at, value := range want {
		if got[at] != value {
			t.Errorf("%s has %q, want %q", at, got[at], value)
		}
	}
	if len(got) != len(want) || proxy.lost.Load() < 5 {
		t.Errorf("%d records, want %d, with replies lost of %d", len(got), len(want), proxy.lost.Load())
	}
}

// A broker that has forgotten the producer, as it does after a week, costs one call at most.
func TestAppendGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	cluster, client := startBrokers(t, 1)
	var failing atomic.Bool
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if !failing.CompareAndSwap(true, false) {
			return nil, nil, false
		}
		response := request.ResponseKind().(*kmsg.ProduceResponse)
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic = "results"
		p := kmsg.NewProduceResponseTopicPartition()
		p.ErrorCode = kerr.OutOfOrderSequenceNumber.Code
		topic.Partitions = append(topic.Partitions, p)
		response.Topics = append(response.Topics, topic)
		return response, nil, true
	})
	a := newAppender(t, client)
	one := []kafka.Record{{Topic: "results", Value: []byte("one")}}
	if offsets, err := a.Append(t.Context(), one); err != nil || offsets[0] != 0 {
		t.Fatalf("Append = %v, %v", offsets, err)
	}
	failing.Store(true)
	if _, err := a.Append(t.Context(), one); !errors.Is(err, ErrUnknown) {
		t.Errorf("Append = %v, want it to be unknown", err)
	}
	if offsets, err := a.Append(t.Context(), one); err != nil || offsets[0] != 1 {
		t.Errorf("Append = %v, %v, want it to go on", offsets, err)
	}
}

// Whoever gives up waiting is told why it takes so long.
func TestAppendThatIsLateSaysWhy(t *testing.T) {
	t.Parallel()
	cluster, client := startBrokers(t, 1)
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		response := request.ResponseKind().(*kmsg.ProduceResponse)
		for _, topic := range request.(*kmsg.ProduceRequest).Topics {
			p := kmsg.NewProduceResponseTopicPartition()
			p.ErrorCode = kerr.KafkaStorageError.Code
			response.Topics = append(response.Topics, kmsg.ProduceResponseTopic{
				Topic: topic.Topic, Partitions: []kmsg.ProduceResponseTopicPartition{p},
			})
		}
		return response, nil, true
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	record := kafka.Record{Topic: "results", Value: []byte("x")}
	_, err := newAppender(t, client).Append(ctx, []kafka.Record{record})
	if !errors.Is(err, ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "make space if the disk is full") {
		t.Errorf("error = %v", err)
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1)
	if err := client.CreateTopic(t.Context(), kafka.TopicSpec{
		Name: "small", Configs: map[string]string{"max.message.bytes": "5000"},
	}); err != nil {
		t.Fatal(err)
	}
	a := newAppender(t, client)
	large := []kafka.Record{{Topic: "small", Key: []byte("k"), Value: make([]byte, 10_000)}}
	var tooLarge *TooLargeError
	if _, err := a.Append(t.Context(), large); !errors.As(err, &tooLarge) ||
		!strings.Contains(err.Error(), "max.message.bytes") {
		t.Errorf("Append = %v, want it to be too large", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Append(ctx, large); !errors.Is(err, context.Canceled) {
		t.Errorf("Append = %v, want the end of its context", err)
	}
}
