// Package topics makes sure that the topics of a configuration are there and fit.
package topics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
)

// Ensure makes sure that the topics are there and fit, or says what to do.
func Ensure(
	ctx context.Context, c config.Config, client *kafka.Client, log *slog.Logger,
) error {
	input, partitions, err := ensure(ctx, c, client, log, kafka.TopicSpec{Name: c.Input.Topic})
	if err != nil {
		return err
	}
	specs := []kafka.TopicSpec{
		{Name: c.Output.Topic},
		{Name: c.Output.ClustersTopic, Configs: map[string]string{"cleanup.policy": "compact"}},
		// A dead letter is its record with headers added, and a record can be as large as its topic
		// allows.
		{
			Name: c.Output.DeadLetterTopic,
			Configs: map[string]string{"max.message.bytes": strconv.Itoa(
				input.MaxMessageBytes + DeadLetterRoom)},
		},
	}
	if topic := c.Labels.Corrections; topic != "" {
		specs = append(specs, kafka.TopicSpec{Name: topic})
	}
	for i := range specs {
		specs[i].Partitions = partitions
	}
	if topic := c.Labels.Topic; topic != "" {
		// One partition, so that there is one order of all labels. They are kept for ever: whoever starts
		// anew reads them again.
		specs = append(specs, kafka.TopicSpec{
			Name: topic, Partitions: 1,
			Configs: map[string]string{"cleanup.policy": "delete", "retention.ms": "-1"},
		})
	}
	for _, spec := range specs {
		settings, _, err := ensure(ctx, c, client, log, spec)
		if err != nil {
			return err
		}
		if spec.Name == c.Output.ClustersTopic && settings.CleanupPolicy != "" &&
			settings.CleanupPolicy != "compact" {
			return fmt.Errorf("topic %s has cleanup.policy=%s, so its clusters would be lost: it must be "+
				"compact (kafka-configs --alter --topic %s --add-config cleanup.policy=compact)",
				spec.Name, settings.CleanupPolicy, spec.Name)
		}
	}
	return nil
}

// DeadLetterRoom is how much larger than its record a dead letter may be.
const DeadLetterRoom = 64 << 10

func ensure(
	ctx context.Context, c config.Config, client *kafka.Client, log *slog.Logger, spec kafka.TopicSpec,
) (settings kafka.TopicConfig, partitions int, err error) {
	err = kafka.Retry(ctx, log, "looking at topic "+spec.Name, func() error {
		ids, err := client.Partitions(ctx, spec.Name)
		if errors.Is(err, kafka.ErrNoTopic) {
			if !c.Kafka.CreateTopics {
				return fmt.Errorf("%w: create it (%s), or set kafka.create_topics: true; if it is there, "+
					"grant Read on it, for brokers hide what a login may not see", err, spec.Command())
			}
			if err := client.CreateTopic(ctx, spec); err != nil {
				return err
			}
			log.Info("created topic", "topic", spec.Name)
			ids, err = client.Partitions(ctx, spec.Name)
			err = kafka.MarkRetriable(err)
		}
		if err != nil {
			return err
		}
		partitions = len(ids)
		settings, err = client.TopicConfig(ctx, spec.Name)
		return err
	})
	return settings, partitions, err
}
