// Package topics makes sure that the topics of a configuration are there and fit.
package topics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

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
	for _, spec := range specsOf(&c, input.MaxMessageBytes, partitions) {
		settings, n, err := ensure(ctx, c, client, log, spec)
		if err != nil {
			return err
		}
		if spec.Name == c.Output.Topic {
			if err := CheckPlacement(&c, partitions, n); err != nil {
				return err
			}
		}
		if spec.Name == c.Output.ClustersTopic {
			if err := checkClusters(&c, settings); err != nil {
				return err
			}
		}
		if spec.Name == c.Fingerprints.Topic && strings.Contains(settings.CleanupPolicy, "compact") {
			return fmt.Errorf("topic %s has cleanup.policy=%s, and its records have no keys: it must be "+
				"delete (%s)", spec.Name, settings.CleanupPolicy,
				alter(&c, spec.Name, "cleanup.policy=delete"))
		}
	}
	return nil
}

// checkClusters returns an error where the clusters topic does not keep all clusters.
func checkClusters(c *config.Config, settings kafka.TopicConfig) error {
	topic, policy := c.Output.ClustersTopic, settings.CleanupPolicy
	if policy == "" || policy == "compact" {
		return nil
	}
	return fmt.Errorf("topic %s has cleanup.policy=%s, so its clusters would be lost: it must be "+
		"compact. If output.clusters_topic is another topic than before, set it back; else run (%s)",
		topic, policy, alter(c, topic, "cleanup.policy=compact"))
}

// alter returns the command that changes a setting of a topic.
func alter(c *config.Config, topic, setting string) string {
	return fmt.Sprintf("kafka-configs --bootstrap-server %s --alter --topic %s --add-config %s",
		strings.Join(c.Kafka.Brokers, ","), topic, setting)
}

// CheckPlacement returns an error where results go to the partitions of their articles, and their
// topic has fewer partitions than the input.
func CheckPlacement(c *config.Config, inputs, results int) error {
	if c.Output.Partition != config.PartitionOfSource || results >= inputs {
		return nil
	}
	return fmt.Errorf("topic %s has %d partitions, and %s has %d: with output.partition: source each "+
		"of these needs one of its own. No article is passed over. Give it as many (kafka-topics "+
		"--alter --topic %s --partitions %d --bootstrap-server %s), or set output.partition: key",
		c.Output.Topic, results, c.Input.Topic, inputs, c.Output.Topic, inputs,
		strings.Join(c.Kafka.Brokers, ","))
}

// specsOf returns the topics that an instance writes to, or reads beside the input, which has so
// many partitions.
func specsOf(c *config.Config, maxInput, partitions int) (specs []kafka.TopicSpec) {
	add := func(wanted bool, spec kafka.TopicSpec) {
		if wanted && spec.Name != "" {
			specs = append(specs, spec)
		}
	}
	add(c.Divided(), kafka.TopicSpec{Name: c.Fingerprints.Topic, Partitions: partitions})
	add(c.Assigns(), kafka.TopicSpec{Name: c.Output.Topic, Partitions: partitions})
	add(c.Assigns(), kafka.TopicSpec{
		Name: c.Output.ClustersTopic, Partitions: partitions,
		Configs: map[string]string{"cleanup.policy": "compact"},
	})
	// A dead letter is its record with headers added, and a record can be as large as its topic
	// allows.
	add(true, kafka.TopicSpec{
		Name: c.Output.DeadLetterTopic, Partitions: partitions,
		Configs: map[string]string{"max.message.bytes": strconv.Itoa(maxInput + DeadLetterRoom)},
	})
	add(c.Assigns(), kafka.TopicSpec{Name: c.Labels.Corrections, Partitions: partitions})
	add(c.Assigns(), kafka.TopicSpec{
		Name: c.Stories.Topic, Partitions: partitions,
		Configs: map[string]string{"cleanup.policy": "compact"},
	})
	// One partition, so that there is one order of all labels. They are kept for ever: whoever starts
	// anew reads them again.
	add(c.Assigns(), kafka.TopicSpec{
		Name: c.Labels.Topic, Partitions: 1,
		Configs: map[string]string{"cleanup.policy": "delete", "retention.ms": "-1"},
	})
	return specs
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
					"grant Read on it, for brokers hide what a login may not see", err,
					spec.Command(c.Kafka.Brokers))
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
