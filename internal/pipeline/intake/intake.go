// Package intake is the way of records from a log to batches. Chunks of records go in; they become
// items, each a fingerprinted article or a dead letter, on all cores and in their order; batches of
// items come out, each as large as one transaction may carry. What makes items of records is for
// the caller to say: [Records] fingerprints articles, [Fingerprinted] reads those that another
// instance has fingerprinted.
package intake

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/monitor"
)

// Items makes an item of each record, in their order. An error ends the reading.
type Items func(ctx context.Context, records []kafka.Record) ([]Item, error)

// A Reading makes batches of the records of a log.
type Reading struct {
	Space   string // what the monitor is told of
	Monitor *monitor.Monitor
	Batch   config.Batch
	Items   Items
}

// chunk is a chunk of records that are items now.
type chunk struct {
	items     []Item
	partition int
	next      int64 // the offset behind the chunk
	bytes     int64 // of the records' values, as they were fetched
}

// Run makes batches until ctx ends or Items fails.
func (r *Reading) Run(ctx context.Context, in <-chan consumer.Chunk, out chan<- Batch) error {
	group, ctx := errgroup.WithContext(ctx)
	chunks := make(chan chunk)
	group.Go(func() error { return r.makeItems(ctx, in, chunks) })
	group.Go(func() error { return r.collect(ctx, chunks, out) })
	return group.Wait()
}

// makeItems makes items of chunks that have records, and passes over those that have none.
func (r *Reading) makeItems(
	ctx context.Context, chunks <-chan consumer.Chunk, out chan<- chunk,
) error {
	for {
		var in consumer.Chunk
		select {
		case in = <-chunks:
		case <-ctx.Done():
			return ctx.Err()
		}
		if len(in.Records) == 0 {
			continue
		}
		began := time.Now()
		items, err := r.Items(ctx, in.Records)
		if err != nil {
			return err
		}
		r.Monitor.Spent(monitor.Fingerprinting, began)
		done := chunk{items: items, partition: in.Partition, next: in.Next}
		for i := range in.Records {
			done.bytes += int64(len(in.Records[i].Value))
		}
		in.Records = nil // the values have served
		select {
		case out <- done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
