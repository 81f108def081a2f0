package tail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

func TestMain(m *testing.M) { wait.Main(m) }

// A stage is topics, who writes to them, and a tail of them.
type stage struct {
	*testing.T
	*Tail
	writer   *kgo.Client
	requests *atomic.Int64 // of the tail
}

func newStage(t *testing.T, o Options) *stage {
	t.Helper()
	cluster := kafkatest.Start(t, 1, kfake.SeedTopics(3, "results"), kfake.SeedTopics(1, "labels"))
	client := kafkatest.Connect(t, kafka.Options{Brokers: cluster.ListenAddrs()})
	s := &stage{T: t, requests: new(atomic.Int64)}
	client.OnRequest = func() func(error) {
		s.requests.Add(1)
		return func(error) {}
	}
	writer, err := kgo.NewClient(kgo.SeedBrokers(client.Brokers...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionalID("w"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(writer.Close)
	s.writer = writer
	o.Client, o.Log = client, slog.New(slog.DiscardHandler)
	o.Topics = map[Kind]string{Result: "results", Label: "labels"}
	s.Tail = New(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Tail.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

// result is the record of the result of the n-th article.
func result(n int) *kgo.Record {
	return &kgo.Record{
		Topic: "results", Partition: int32(n % 3), Value: fmt.Append(nil, n),
		Headers: []kgo.RecordHeader{
			{Key: article.HeaderSource, Value: []byte(source(n).String())},
			{Key: article.HeaderPosition, Value: fmt.Append(nil, n)},
		},
	}
}

func source(n int) article.Address { return article.Address{Topic: "articles", Offset: int64(n)} }

func (s *stage) write(commit bool, records ...*kgo.Record) {
	s.Helper()
	end := kgo.TryAbort
	if commit {
		end = kgo.TryCommit
	}
	err := s.writer.BeginTransaction()
	if err == nil {
		err = s.writer.ProduceSync(s.Context(), records...).FirstErr()
	}
	if err := errors.Join(err, s.writer.EndTransaction(s.Context(), end)); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) subscribe() *Subscription {
	s.Helper()
	subscription, err := s.Subscribe(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(subscription.Close)
	return subscription
}

// take returns the values of the next n events.
func (s *stage) take(from *Subscription, n int) (values []string, dropped uint64) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), wait.Timeout)
	defer cancel()
	for len(values) < n {
		events, lost, err := from.Next(ctx)
		if err != nil {
			s.Fatalf("after %v: %v", values, err)
		}
		for _, e := range events {
			values = append(values, string(e.Kind)+" "+string(e.Value))
		}
		dropped += lost
	}
	slices.Sort(values)
	return values, dropped
}

// A subscriber gets what is committed from then on: nothing older, and nothing that was aborted.
func TestSubscribersGetWhatIsCommitted(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	s.write(true, result(1), result(2), result(3))
	first := s.subscribe()
	s.write(false, result(4))
	s.write(true, result(5), &kgo.Record{Topic: "labels", Value: []byte("six")})
	if got, _ := s.take(first, 2); !slices.Equal(got, []string{"label six", "result 5"}) {
		t.Errorf("got %v", got)
	}
	second := s.subscribe()
	s.write(true, result(7))
	for _, each := range []*Subscription{first, second} {
		if got, dropped := s.take(each, 1); !slices.Equal(got, []string{"result 7"}) || dropped != 0 {
			t.Errorf("got %v, %d dropped", got, dropped)
		}
	}
}

func TestEventSaysWhatItIs(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	subscription := s.subscribe()
	s.write(true, result(7))
	events, _, err := subscription.Next(t.Context())
	if err != nil || len(events) != 1 {
		t.Fatal(events, err)
	}
	e := events[0]
	if want := (article.Address{Topic: "results", Partition: 1}); e.Address != want ||
		e.Source != "articles/0/7" || e.Position != 7 || e.Time.IsZero() {
		t.Errorf("%+v", e)
	}
}

// Who is too slow loses the oldest, and is told how many.
func TestSlowSubscriberIsToldWhatItLost(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{"records": {Records: 10}, "bytes": {Bytes: 150}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, o)
			slow, quick := s.subscribe(), s.subscribe()
			const n = 100
			for i := range n {
				s.write(true, result(i))
				if _, dropped := s.take(quick, 1); dropped != 0 {
					t.Fatalf("the quick one has lost %d", dropped)
				}
			}
			events, dropped, err := slow.Next(t.Context())
			if err != nil || len(events) > 10 || int(dropped)+len(events) != n {
				t.Fatalf("%d events, %d dropped, %v, want %d in all", len(events), dropped, err, n)
			}
			for i, e := range events {
				if want := fmt.Sprint(int(dropped) + i); string(e.Value) != want {
					t.Errorf("event %d is %s, want %s", i, e.Value, want)
				}
			}
		})
	}
}

// The result of an article is found, whether it comes before it is asked for or after.
func TestAwait(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	early, late := s.subscribe(), s.subscribe()
	var waiting sync.WaitGroup
	for range 3 { // three who want the same
		waiting.Go(func() {
			e, err := early.Await(t.Context(), source(5))
			if err != nil || string(e.Value) != "5" {
				t.Errorf("Await = %s, %v", e.Value, err)
			}
		})
	}
	s.write(true, result(4), result(5), result(6))
	waiting.Wait()
	if e, err := late.Await(t.Context(), source(5)); err != nil || string(e.Value) != "5" {
		t.Errorf("Await = %s, %v", e.Value, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := early.Await(ctx, source(9)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Await = %v, want the end of its time", err)
	}
	if len(s.waiting) > 0 {
		t.Errorf("%v waits", s.waiting)
	}
}

// While nobody wants anything, nothing is asked of the broker.
func TestUnusedTailCostsNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{Linger: 20 * time.Millisecond})
	for range 3 {
		before := s.requests.Load()
		subscription := s.subscribe()
		s.write(true, result(1))
		s.take(subscription, 1)
		if s.requests.Load() == before {
			t.Error("a tail that is used asks nothing")
		}
		subscription.Close()
		wait.Until(t, "the tail to end", func() bool {
			s.mutex.Lock()
			defer s.mutex.Unlock()
			select {
			case <-s.ready:
				return false
			default:
				return true
			}
		})
	}
	var last int64
	wait.Until(t, "requests to end", func() bool {
		now := s.requests.Load()
		ended := now == last
		last = now
		return ended
	})
}

// A subscriber that gives up while the tail begins leaves nothing behind.
func TestSubscribeGivesUp(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Subscribe(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Subscribe = %v", err)
	}
	if s.subscribers != 0 {
		t.Errorf("%d subscribers", s.subscribers)
	}
}

// From the commit to the subscriber it takes a moment, and no polling interval.
func TestEventsComeAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{})
	subscription := s.subscribe()
	var took []time.Duration
	for i := range 100 {
		s.write(true, result(i))
		committed := time.Now()
		if _, err := subscription.Await(t.Context(), source(i)); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(committed))
	}
	slices.Sort(took)
	t.Logf("median %v, p99 %v", took[50], took[98])
	if limit := 250 * time.Millisecond; took[50] > limit {
		t.Errorf("the median is %v, at most %v", took[50], limit)
	}
}
