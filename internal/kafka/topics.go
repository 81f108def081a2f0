package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/listoffsets"
	"github.com/segmentio/kafka-go/protocol/metadata"
)

// ErrNoTopic is the error of a topic that does not exist.
var ErrNoTopic = errors.New("it does not exist")

// Partitions returns the ids of a topic's partitions, ascending, as the cached layout has them. The
// error is [ErrNoTopic] where there is no such topic.
func (c *Client) Partitions(ctx context.Context, topic string) ([]int, error) {
	leaders, err := c.Leaders(ctx, topic)
	if err != nil {
		return nil, err
	}
	partitions := make([]int, 0, len(leaders))
	for p := range leaders {
		partitions = append(partitions, p)
	}
	slices.Sort(partitions)
	return partitions, nil
}

// Leaders returns the ids of the brokers that lead the topic's partitions; -1 where there is no
// leader now.
func (c *Client) Leaders(ctx context.Context, topic string) (map[int]int, error) {
	response, err := Do[*metadata.Response](ctx, c, &metadata.Request{TopicNames: []string{topic}})
	if err != nil {
		return nil, err
	}
	for _, t := range response.Topics {
		if t.Name != topic {
			continue
		}
		if err := Code(t.ErrorCode); NoTopic(err) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("topic %s: %w", topic, err)
		}
		leaders := make(map[int]int, len(t.Partitions))
		for _, p := range t.Partitions {
			leaders[int(p.PartitionIndex)] = int(p.LeaderID)
		}
		return leaders, nil
	}
	return nil, fmt.Errorf("topic %s: %w", topic, ErrNoTopic)
}

// Which end of a partition [Client.Offsets] is asked for.
const (
	First = kafkago.FirstOffset // of the first record that is kept
	Last  = kafkago.LastOffset  // one past the last record, committed or not
)

// Offsets returns the first or the last offsets of some partitions of a topic.
func (c *Client) Offsets(
	ctx context.Context, topic string, partitions []int, which int64,
) (map[int]int64, error) {
	return c.offsets(ctx, topic, partitions, which, 0)
}

// StableOffsets returns the offsets of some partitions of a topic up to which a reader of committed
// records can read now: behind all that is committed, but for what an open transaction holds back.
func (c *Client) StableOffsets(
	ctx context.Context, topic string, partitions []int,
) (map[int]int64, error) {
	const readCommitted = 1
	return c.offsets(ctx, topic, partitions, Last, readCommitted)
}

func (c *Client) offsets(
	ctx context.Context, topic string, partitions []int, which int64, isolation int8,
) (map[int]int64, error) {
	offsets := make(map[int]int64, len(partitions))
	if len(partitions) == 0 {
		return offsets, nil
	}
	request := listoffsets.RequestTopic{Topic: topic}
	for _, p := range partitions {
		request.Partitions = append(request.Partitions, listoffsets.RequestPartition{
			Partition: int32(p), CurrentLeaderEpoch: -1, Timestamp: which,
		})
	}
	response, err := Do[*listoffsets.Response](ctx, c,
		&listoffsets.Request{
			ReplicaID: -1, IsolationLevel: isolation, Topics: []listoffsets.RequestTopic{request},
		})
	if err != nil {
		return nil, err
	}
	for _, t := range response.Topics {
		for _, p := range t.Partitions {
			if err := Code(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("listing the offsets of %s/%d: %w", topic, p.Partition, err)
			}
			offsets[int(p.Partition)] = p.Offset
		}
	}
	if len(offsets) != len(partitions) {
		return nil, fmt.Errorf("listing the offsets of %s: %w", topic, kafkago.LeaderNotAvailable)
	}
	return offsets, nil
}

// A TopicSpec is a topic to be created.
type TopicSpec struct {
	Name       string
	Partitions int // 0: the broker's default
	Configs    map[string]string
}

// Command returns how to create the topic with Kafka's own tools, on these brokers.
func (s TopicSpec) Command(brokers []string) string {
	command := "kafka-topics --create --topic " + s.Name
	if s.Partitions > 0 {
		command += " --partitions " + strconv.Itoa(s.Partitions)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Configs)) {
		command += " --config " + name + "=" + s.Configs[name]
	}
	return command + " --bootstrap-server " + strings.Join(brokers, ",")
}

// CreateTopic creates a topic with the broker's default replication. One that exists already,
// or that another instance creates at the same time, is left as it is.
func (c *Client) CreateTopic(ctx context.Context, spec TopicSpec) error {
	request := kafkago.TopicConfig{Topic: spec.Name, NumPartitions: -1, ReplicationFactor: -1}
	if spec.Partitions > 0 {
		request.NumPartitions = spec.Partitions
	}
	for name, value := range spec.Configs {
		request.ConfigEntries = append(request.ConfigEntries,
			kafkago.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	response, err := c.admin().CreateTopics(ctx,
		&kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{request}})
	if err != nil {
		return fmt.Errorf("creating topic %s: %w", spec.Name, err)
	}
	if err := response.Errors[spec.Name]; err != nil && !errors.Is(err, kafkago.TopicAlreadyExists) {
		return fmt.Errorf("creating topic %s: %w", spec.Name, err)
	}
	return nil
}

// TopicConfig is what clusterd needs to know of a topic's settings.
type TopicConfig struct {
	CleanupPolicy   string // "" where the broker does not say
	MaxMessageBytes int    // how large a record batch may be
	LimitKnown      bool   // the broker has said how large
	// DeleteRetention is how long a tombstone stays after compaction could take it away.
	DeleteRetention time.Duration
}

// Kafka's own defaults, taken where the broker does not say.
const (
	defaultMaxMessageBytes = 1_048_588
	defaultDeleteRetention = 24 * time.Hour
)

// TopicConfig reads the settings of a topic. Without the right to read them (DescribeConfigs) it
// answers with Kafka's defaults.
func (c *Client) TopicConfig(ctx context.Context, topic string) (TopicConfig, error) {
	config := TopicConfig{
		MaxMessageBytes: defaultMaxMessageBytes, DeleteRetention: defaultDeleteRetention,
	}
	response, err := c.admin().DescribeConfigs(ctx, &kafkago.DescribeConfigsRequest{
		Resources: []kafkago.DescribeConfigRequestResource{{
			ResourceType: kafkago.ResourceTypeTopic,
			ResourceName: topic,
			ConfigNames:  []string{"cleanup.policy", "max.message.bytes", "delete.retention.ms"},
		}},
	})
	if err != nil {
		return config, fmt.Errorf("reading the settings of topic %s: %w", topic, err)
	}
	for _, r := range response.Resources {
		if errors.Is(r.Error, kafkago.TopicAuthorizationFailed) ||
			errors.Is(r.Error, kafkago.ClusterAuthorizationFailed) {
			return config, nil
		}
		if r.Error != nil {
			return config, fmt.Errorf("reading the settings of topic %s: %w", topic, r.Error)
		}
		for _, entry := range r.ConfigEntries {
			switch entry.ConfigName {
			case "cleanup.policy":
				config.CleanupPolicy = entry.ConfigValue
			case "delete.retention.ms":
				if n, err := strconv.ParseInt(entry.ConfigValue, 10, 64); err == nil && n >= 0 {
					// "For ever" is the highest int64, which is more than a Duration holds.
					config.DeleteRetention = time.Duration(min(
						n, math.MaxInt64/int64(time.Millisecond),
					)) * time.Millisecond
				}
			case "max.message.bytes":
				if n, err := strconv.Atoi(entry.ConfigValue); err == nil && n > 0 {
					config.MaxMessageBytes, config.LimitKnown = n, true
				}
			}
		}
	}
	return config, nil
}
