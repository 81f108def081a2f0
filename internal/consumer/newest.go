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
	from := make(map[int]int64)
	for p, end := range ends {
		if at := max(first[p], end-newest); at < end {
			from[p] = at
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
