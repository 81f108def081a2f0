package demo

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
)

// follow shows what clusterd writes, as any other reader of the topics sees it, and a line of
// totals each second.
func follow(
	ctx context.Context, client *kafka.Client, log *slog.Logger, c config.Config, view *view,
) error {
	group, ctx := errgroup.WithContext(ctx)
	results, dead := make(chan consumer.Chunk), make(chan consumer.Chunk)
	from := map[int]int64{0: 0}
	group.Go(func() error {
		return consumer.NewLog(client, log, c.Output.Topic, from, c.Batch.Bytes).Read(ctx, results)
	})
	group.Go(func() error {
		return consumer.NewLog(client, log, c.Output.DeadLetterTopic, from, c.Batch.Bytes).Read(ctx, dead)
	})
	group.Go(func() error {
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for {
			select {
			case chunk := <-results:
				for _, r := range chunk.Records {
					if err := view.result(r); err != nil {
						return err
					}
				}
			case chunk := <-dead:
				for _, r := range chunk.Records {
					view.deadLetter(r)
				}
			case <-second.C:
				view.totals()
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return group.Wait()
}
