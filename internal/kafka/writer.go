package kafka

import (
	"context"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// A Writer appends to one topic, a value at a time and outside of transactions. Package sink writes
// what must be written exactly once.
type Writer struct{ writer *kafkago.Writer }

// NewWriter returns a writer for a topic. Close it when done.
func (c *Client) NewWriter(topic string) *Writer {
	return &Writer{&kafkago.Writer{
		Addr: c.addr, Transport: watched{c}, Topic: topic, Balancer: &kafkago.Hash{},
		RequiredAcks: kafkago.RequireAll, BatchTimeout: time.Millisecond,
	}}
}

// Write appends a record without a key, and returns when all replicas in sync have it.
func (w *Writer) Write(ctx context.Context, value []byte) error {
	return w.writer.WriteMessages(ctx, kafkago.Message{Value: value})
}

// Close waits for what is being written.
func (w *Writer) Close() error { return w.writer.Close() }
