package topics

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Read calls handle with every record of a span, in the order of each partition: data records of
// the level, which it counts, and the control records that end transactions.
//
// An aborted record at the very end is not returned by read_committed, but the control record that
// ended its transaction is: with it the reader knows that it is past the end.
func (c *Client) Read(
	ctx context.Context, s Span, level kgo.IsolationLevel, handle func(*kgo.Record) error,
) (n int64, err error) {
	from := make(map[int32]kgo.Offset)
	for p, end := range s.To {
		if s.From[p] < end {
			from[p] = kgo.NewOffset().At(s.From[p])
		}
	}
	if len(from) == 0 {
		return 0, nil
	}
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{s.Topic: from}),
		kgo.FetchIsolationLevel(level), kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxBytes(fetchBytes), kgo.FetchMaxPartitionBytes(fetchBytes / 8),
	}, c.options...)...)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	for len(from) > 0 {
		fetches, err := poll(ctx, client)
		if err != nil {
			return n, fmt.Errorf("reading %s: %w", s.Topic, err)
		}
		for iter := fetches.RecordIter(); !iter.Done(); {
			r := iter.Next()
			if _, open := from[r.Partition]; !open {
				continue
			}
			if r.Offset < s.To[r.Partition] {
				if !r.Attrs.IsControl() {
					n++
				}
				if err := handle(r); err != nil {
					return n, err
				}
			}
			if r.Offset >= s.To[r.Partition]-1 {
				delete(from, r.Partition)
				client.RemoveConsumePartitions(map[string][]int32{s.Topic: {r.Partition}})
			}
		}
		c.advance(int64(fetches.NumRecords()))
	}
	return n, nil
}

// ReadData reads as [Client.Read] does: committed records, without control records.
func (c *Client) ReadData(
	ctx context.Context, s Span, handle func(*kgo.Record) error,
) (n int64, err error) {
	return c.Read(ctx, s, kgo.ReadCommitted(), func(r *kgo.Record) error {
		if r.Attrs.IsControl() {
			return nil
		}
		return handle(r)
	})
}

// poll waits for the next records.
func poll(ctx context.Context, client *kgo.Client) (kgo.Fetches, error) {
	limited, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	fetches := client.PollFetches(limited)
	err := fetches.Err()
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, fmt.Errorf("no record came for %s, though there are some. "+
			"Nothing is wrong with them that is known; run the audit again", silence)
	}
	return fetches, err
}
