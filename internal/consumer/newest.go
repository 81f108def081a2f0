package consumer

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/kafka"
)

const (
	// newest is how many of the last records of each partition are looked at, and newestBytes how much
	// of them is fetched at once.
	newest      = 200
	newestBytes = 256 << 10
)

// Newest calls see with the newest committed records of a topic before these ends, by partition,
// until see is done.
func Newest(
	ctx context.Context, client *kafka.Client, topic string, ends map[int]int64,
	see func(*kafka.Record) (done bool),
) error {
	first, err := client.Offsets(ctx, topic, slices.Collect(maps.Keys(ends)), kafka.First)
	if err != nil {
		return err
	}
	for p, end := range ends {
		first[p] = max(first[p], end-newest)
	}
	return between(ctx, client, topic, first, ends, see)
}

// Any reports whether a topic has a committed record. Records of transactions that were aborted,
// such as those of clusterd doctor, are none.
func Any(ctx context.Context, client *kafka.Client, topic string) (found bool, err error) {
	partitions, err := client.Partitions(ctx, topic)
	if err != nil {
		return false, err
	}
	first, err := client.Offsets(ctx, topic, partitions, kafka.First)
	if err != nil {
		return false, err
	}
	ends, err := client.StableOffsets(ctx, topic, partitions)
	if err != nil {
		return false, err
	}
	err = between(ctx, client, topic, first, ends, func(*kafka.Record) bool {
		found = true
		return true
	})
	return found, err
}

// between calls see with the committed records of partitions between offsets, until see is done.
func between(
	ctx context.Context, client *kafka.Client, topic string, first, ends map[int]int64,
	see func(*kafka.Record) (done bool),
) error {
	from := make(map[int]int64)
	for p, end := range ends {
		if first[p] < end {
			from[p] = first[p]
		}
	}
	if len(from) == 0 {
		return nil
	}
	log := NewLog(client, slog.New(slog.DiscardHandler), topic, from, newestBytes)
	log.MaxValue = newestBytes
	reading := log.Start(ctx)
	defer reading.Stop()
	for len(from) > 0 {
		select {
		case chunk := <-reading.Chunks:
			end := ends[chunk.Partition]
			for i := range chunk.Records {
				if r := &chunk.Records[i]; r.Offset < end && see(r) {
					return nil
				}
			}
			if chunk.Next >= end {
				delete(from, chunk.Partition)
			}
		case err := <-reading.Failed:
			return err
		}
	}
	return nil
}
