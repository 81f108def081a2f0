package topics

import (
	"context"
	"log/slog"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
)

// Watch looks at the settings of the clusters topic from time to time until ctx ends, and says if
// it does not keep all clusters any more. Stopping would not keep them.
func Watch(
	ctx context.Context, c *config.Config, client *kafka.Client, log *slog.Logger,
	every time.Duration,
) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		settings, err := client.TopicConfig(ctx, c.Output.ClustersTopic)
		if err != nil {
			continue // transactions say what is wrong with the brokers
		}
		if err := checkClusters(c, settings); err != nil {
			log.Error("clusters will be deleted: run the command that the error has, now. Until then "+
				"clusterd goes on, and would not start again", "error", err)
		}
	}
}

// WarnIfEmpty logs a warning if a topic never had a record; an empty name is no topic.
func WarnIfEmpty(
	ctx context.Context, client *kafka.Client, log *slog.Logger, topic, warning string,
) error {
	if topic == "" {
		return nil
	}
	never, err := neverWritten(ctx, client, log, topic)
	if never && err == nil {
		log.Warn(warning, "topic", topic)
	}
	return err
}

// neverWritten reports whether a topic never had a record.
func neverWritten(
	ctx context.Context, client *kafka.Client, log *slog.Logger, topic string,
) (never bool, err error) {
	err = kafka.Retry(ctx, log, "looking at topic "+topic, func() error {
		partitions, err := client.Partitions(ctx, topic)
		if err != nil {
			return kafka.MarkRetriable(err)
		}
		ends, err := client.Offsets(ctx, topic, partitions, kafka.Last)
		never = true
		for _, end := range ends {
			never = never && end == 0
		}
		return err
	})
	return never, err
}
