// Package migrate changes how articles are clustered without an outage: a second space, which is an
// ordinary clusterd with another configuration file, clusters the same input beside the first. Two
// configuration files go in; out come the second one, how far both are, how their clusters differ,
// a topic that maps old ids to new ones, and the switch after which the second space writes what
// readers read.
package migrate

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
)

// fetchBytes is how much of a topic is fetched at once.
const fetchBytes = 8 << 20

// A Space is one of the two: a configuration, and the brokers that it names.
type Space struct {
	config.Config
	File   string
	Client *kafka.Client
	Log    *slog.Logger
}

// Two are the spaces of a migration.
type Two struct{ Old, New Space }

// Check returns an error unless the two can be one migration: they read the same articles, and
// share nothing that they write.
func (t Two) Check() error {
	o, n := &t.Old.Config, &t.New.Config
	if o.Input.Topic != n.Input.Topic {
		return fmt.Errorf("input.topic is %s in %s and %s in %s: both must read the same articles",
			o.Input.Topic, t.Old.File, n.Input.Topic, t.New.File)
	}
	for _, key := range []struct{ name, old, new string }{
		{"input.group", o.Input.Group, n.Input.Group},
		{"output.topic", o.Output.Topic, n.Output.Topic},
		{"output.clusters_topic", o.Output.ClustersTopic, n.Output.ClustersTopic},
		{"output.dead_letter_topic", o.Output.DeadLetterTopic, n.Output.DeadLetterTopic},
	} {
		if key.old == key.new {
			return fmt.Errorf("%s is %s in both %s and %s: each space needs its own; "+
				"name the files as they were before the switch", key.name, key.old, t.Old.File, t.New.File)
		}
	}
	return nil
}

// partitions returns those of a topic.
func (s *Space) partitions(ctx context.Context, topic string) (partitions []int, err error) {
	err = kafka.Retry(ctx, s.Log, "looking at topic "+topic, func() error {
		partitions, err = s.Client.Partitions(ctx, topic)
		return err
	})
	return partitions, kafka.Explain(err)
}

// offsets returns the first offsets of a topic, and those behind the last record that is committed.
func (s *Space) offsets(ctx context.Context, topic string) (first, end map[int]int64, err error) {
	partitions, err := s.partitions(ctx, topic)
	if err != nil {
		return nil, nil, err
	}
	err = kafka.Retry(ctx, s.Log, "listing the offsets of topic "+topic, func() error {
		if first, err = s.Client.Offsets(ctx, topic, partitions, kafka.First); err != nil {
			return err
		}
		end, err = s.Client.StableOffsets(ctx, topic, partitions)
		return err
	})
	return first, end, kafka.Explain(err)
}

// commits returns what the group has committed for a topic.
func (s *Space) commits(ctx context.Context, topic string) (c map[int]consumer.Commit, err error) {
	partitions, err := s.partitions(ctx, topic)
	if err != nil {
		return nil, err
	}
	err = kafka.Retry(ctx, s.Log, "fetching committed offsets", func() error {
		c, err = consumer.Commits(ctx, s.Client, s.Input.Group, topic, partitions)
		return err
	})
	return c, kafka.Explain(err)
}

// members returns how many members the group has.
func (s *Space) members(ctx context.Context) (n int, err error) {
	err = kafka.Retry(ctx, s.Log, "looking at group "+s.Input.Group, func() error {
		n, err = s.Client.Members(ctx, s.Input.Group)
		return err
	})
	return n, kafka.Explain(err)
}

// producer returns a producer of a transactional id, which it has not fenced yet, for some topics.
func (s *Space) producer(
	ctx context.Context, id string, topics ...string,
) (*sink.Producer, error) {
	limits := make(map[string]int)
	for _, topic := range topics {
		err := kafka.Retry(ctx, s.Log, "reading the settings of topic "+topic, func() error {
			settings, err := s.Client.TopicConfig(ctx, topic)
			limits[topic] = settings.MaxMessageBytes
			return err
		})
		if err != nil {
			return nil, kafka.Explain(err)
		}
	}
	return sink.NewProducer(s.Client, s.Log, sink.Settings{
		TransactionalID: id, Group: s.Input.Group, Compression: s.Output.Compression, Limits: limits,
	})
}

// owners returns the transactional ids of the space with the partitions of each, in order.
func (s *Space) owners(ctx context.Context) (ids []string, owned map[string][]int, err error) {
	partitions, err := s.partitions(ctx, s.Input.Topic)
	owned = s.Owners(partitions)
	return slices.Sorted(maps.Keys(owned)), owned, err
}

// handedOver returns the offsets from which on another group writes the results of this space, and
// the group; no offsets where it has not handed them over.
func (s *Space) handedOver(ctx context.Context) (from map[int]int64, to string, err error) {
	commits, err := s.commits(ctx, s.Input.Topic)
	from = make(map[int]int64)
	for p, c := range commits {
		if group, ok := strings.CutPrefix(c.Metadata, consumer.HandedOver); ok {
			from[p], to = c.Offset, group
		}
	}
	return from, to, err
}

// read calls take with the committed records of a topic from some offsets to others.
func (s *Space) read(
	ctx context.Context, topic string, from, to map[int]int64, take func(*kafka.Record) error,
) error {
	next := maps.Clone(from)
	maps.DeleteFunc(next, func(p int, at int64) bool { return at >= to[p] })
	if len(next) == 0 {
		return nil
	}
	log := consumer.NewLog(s.Client, s.Log, topic, next, fetchBytes)
	log.Remedy = "make it again, and begin the migration anew"
	reading := log.Start(ctx)
	defer reading.Stop()
	for len(next) > 0 {
		select {
		case chunk := <-reading.Chunks:
			for i := range chunk.Records {
				if r := &chunk.Records[i]; r.Offset < to[chunk.Partition] && r.Unreadable == nil {
					if err := take(r); err != nil {
						return err
					}
				}
			}
			if chunk.Next >= to[chunk.Partition] {
				delete(next, chunk.Partition)
			}
		case err := <-reading.Failed:
			return fmt.Errorf("reading topic %s: %w", topic, err)
		}
	}
	return nil
}
