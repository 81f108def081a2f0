// Package beside is two spaces that cluster the same articles, and what the brokers say of each.
// Configurations and a client go in; offsets, commits, members and records come out.
package beside

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/sink"
)

// FetchBytes is how much of a topic is fetched at once.
const FetchBytes = 8 << 20

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
	for _, s := range []*Space{&t.Old, &t.New} {
		if s.Divided() {
			return fmt.Errorf("role is %s in %s: a space whose work is divided cannot be migrated so, "+
				"since its offsets are of two topics. Run another space with groups and topics of its own, "+
				"and have its readers change over", s.Role, s.File)
		}
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

// Partitions returns those of a topic.
func (s *Space) Partitions(ctx context.Context, topic string) (partitions []int, err error) {
	err = kafka.Retry(ctx, s.Log, "looking at topic "+topic, func() error {
		partitions, err = s.Client.Partitions(ctx, topic)
		return err
	})
	return partitions, kafka.Explain(err)
}

// Offsets returns the first offsets of a topic, and those behind the last record that is committed.
func (s *Space) Offsets(ctx context.Context, topic string) (first, end map[int]int64, err error) {
	partitions, err := s.Partitions(ctx, topic)
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

// Commits returns what the group has committed for a topic.
func (s *Space) Commits(ctx context.Context, topic string) (c map[int]consumer.Commit, err error) {
	partitions, err := s.Partitions(ctx, topic)
	if err != nil {
		return nil, err
	}
	err = kafka.Retry(ctx, s.Log, "fetching committed offsets", func() error {
		c, err = consumer.Commits(ctx, s.Client, s.Input.Group, topic, partitions)
		return err
	})
	return c, kafka.Explain(err)
}

// Members returns how many members the group has.
func (s *Space) Members(ctx context.Context) (n int, err error) {
	err = kafka.Retry(ctx, s.Log, "looking at group "+s.Input.Group, func() error {
		n, err = s.Client.Members(ctx, s.Input.Group)
		return err
	})
	return n, kafka.Explain(err)
}

// Producer returns a producer of a transactional id, which it has not fenced yet, for some topics.
func (s *Space) Producer(
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

// Owned returns the transactional ids of the space with the partitions of each, in order.
func (s *Space) Owned(ctx context.Context) (ids []string, owned map[string][]int, err error) {
	partitions, err := s.Partitions(ctx, s.Input.Topic)
	owned = s.Config.Owners(partitions)
	return slices.Sorted(maps.Keys(owned)), owned, err
}

// HandedOver returns the offsets from which on another group writes the results of this space, and
// the group; no offsets where it has not handed them over.
func (s *Space) HandedOver(ctx context.Context) (from map[int]int64, to string, err error) {
	commits, err := s.Commits(ctx, s.Input.Topic)
	from = make(map[int]int64)
	for p, c := range commits {
		if group, ok := strings.CutPrefix(c.Metadata, consumer.HandedOver); ok {
			from[p], to = c.Offset, group
		}
	}
	return from, to, err
}

// At returns the first offsets of a topic from a time on; of a partition without records of then,
// its end.
func (s *Space) At(ctx context.Context, topic string, at time.Time) (map[int]int64, error) {
	_, end, err := s.Offsets(ctx, topic)
	if err != nil {
		return nil, err
	}
	var found map[int]int64
	err = kafka.Retry(ctx, s.Log, "listing the offsets of topic "+topic, func() (err error) {
		found, err = s.Client.Offsets(ctx, topic, slices.Sorted(maps.Keys(end)), at.UnixMilli())
		return err
	})
	for p, offset := range found {
		if offset < 0 {
			found[p] = end[p]
		}
	}
	return found, kafka.Explain(err)
}

// CopiedTo begins the metadata of the offsets up to which a topic of the new space was appended to
// one of the old space; the name of that follows.
const CopiedTo = "clusterd: copied to "

// Copied returns up to where a topic of the new space was appended to one of the old space, by the
// offsets of this group, the old one.
func (s *Space) Copied(
	ctx context.Context, from, to string,
) (map[int]consumer.Commit, error) {
	commits, err := s.Commits(ctx, from)
	for p, c := range commits {
		if c.Metadata != CopiedTo+to {
			return nil, fmt.Errorf("group %s has an offset of %s/%d that no switch to %s wrote",
				s.Input.Group, from, p, to)
		}
	}
	return commits, err
}

// Limit returns up to which articles the results of the old space's topic are its own; nil is all.
// Ask for the end of what is read before: a result of the new space there is of after the mark.
func (t Two) Limit(ctx context.Context) (map[int]int64, error) {
	from, _, err := t.Old.HandedOver(ctx)
	if err != nil || len(from) > 0 {
		return from, err
	}
	commits, err := t.Old.Copied(ctx, t.New.Output.Topic, t.Old.Output.Topic)
	if len(commits) > 0 {
		return nil, fmt.Errorf("%s has results of both spaces, and group %s has gone on since: "+
			"name the files of now", t.Old.Output.Topic, t.Old.Input.Group)
	}
	return nil, err
}

// Read calls take with the committed records of a topic from some offsets to others.
func (s *Space) Read(
	ctx context.Context, topic string, from, to map[int]int64, take func(*kafka.Record) error,
) error {
	next := maps.Clone(from)
	maps.DeleteFunc(next, func(p int, at int64) bool { return at >= to[p] })
	if len(next) == 0 {
		return nil
	}
	log := consumer.NewLog(s.Client, s.Log, topic, next, FetchBytes)
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

// SourceOf returns which record of the input a result or a dead letter is of, by its header.
func SourceOf(r *kafka.Record, input string) (article.Address, bool) {
	for i := len(r.Headers) - 1; i >= 0; i-- { // a dead letter has the input's before clusterd's
		if h := &r.Headers[i]; h.Key == article.HeaderSource {
			at, err := article.ParseAddress(string(h.Value))
			return at, err == nil && at.Topic == input
		}
	}
	return article.Address{}, false
}
