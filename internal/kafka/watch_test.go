package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

// requests are what came of the requests of a client.
type requests struct {
	mutex   sync.Mutex
	pending int
	ended   []error
}

func (r *requests) begin() func(error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.pending++
	return func(err error) {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.pending--
		r.ended = append(r.ended, err)
	}
}

func (r *requests) take() (ended []error, pending int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	ended, r.ended = r.ended, nil
	return ended, r.pending
}

// Whoever asks to be told is told of each request, and of each connection for the group, how it
// ended. An answer from memory is none of a broker.
func TestOnRequest(t *testing.T) {
	t.Parallel()
	broker := kafkatest.Start(t, 1)
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := refusing.Addr().String()
	if err := refusing.Close(); err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	isNil := func(err error) bool { return err == nil }
	is := func(want error) func(error) bool {
		return func(err error) bool {
			return errors.Is(err,
				want)
		}
	}
	for _, tt := range []struct {
		name, address string
		ask           func(ctx context.Context, c *kafka.Client)
		want          func(error) bool
	}{
		{"an answer", broker.ListenAddrs()[0], func(ctx context.Context,
			c *kafka.Client,
		) {
			_, _ = c.TopicConfig(ctx, "articles")
		}, isNil},
		{
			"the layout, from memory", broker.ListenAddrs()[0],
			func(ctx context.Context, c *kafka.Client) { _, _ = c.ClusterID(ctx) }, is(context.Canceled),
		},
		{"nobody listens, for the layout", nobody, func(ctx context.Context,
			c *kafka.Client,
		) {
			_, _ = c.ClusterID(ctx)
		}, is(syscall.ECONNREFUSED)},
		{"nobody listens", nobody, func(ctx context.Context,
			c *kafka.Client,
		) {
			_, _ = c.TopicConfig(ctx, "articles")
		}, is(kafkago.BrokerNotAvailable)},
		{"nobody answers", silent.Addr().String(), func(ctx context.Context,
			c *kafka.Client,
		) {
			_, _ = c.ClusterID(ctx)
		}, is(context.DeadlineExceeded)},
		{"the group connects", broker.ListenAddrs()[0], func(ctx context.Context, c *kafka.Client) {
			if conn, err := c.Dialer().DialContext(ctx, "tcp", c.Brokers[0]); err == nil {
				_ = conn.Close()
			}
		}, isNil},
		{"the group finds nobody", nobody, func(ctx context.Context,
			c *kafka.Client,
		) {
			_, _ = c.Dialer().DialContext(ctx, "tcp", c.Brokers[0])
		}, is(syscall.ECONNREFUSED)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client := kafkatest.Connect(t, kafka.Options{Brokers: []string{tt.address}})
			var r requests
			client.OnRequest = r.begin
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			tt.ask(ctx, client)
			ended, pending := r.take()
			if pending != 0 || len(ended) == 0 || slices.ContainsFunc(ended,
				func(err error) bool { return !tt.want(err) }) {
				t.Errorf("%d without an end, and %s", pending, fmt.Sprint(ended))
			}
		})
	}
}
