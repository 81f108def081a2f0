package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/embedded"
	"github.com/clusterd/clusterd/internal/kafka/topics"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/sink"
)

const (
	// moveRecords and moveBytes are how much is appended at once, about.
	moveRecords = 1000
	moveBytes   = 1 << 20
)

// A move copies all that a space has on one broker to others, under the same names: records with
// their keys, headers and times, and the group's offsets. Addresses of articles and labels are in
// the ids of clusters, in results and in checkpoints. So these keep their offsets.
type move struct {
	from, to beside.Space
	appender *sink.Appender
	say      func(string)
}

// moveEmbedded starts the broker of a folder, and moves what it has.
func moveEmbedded(ctx context.Context, dir string, to beside.Space, out io.Writer) error {
	if there, err := os.Stat(filepath.Join(dir, "meta.json")); err != nil || there.IsDir() {
		return fmt.Errorf("%s is not the folder of an embedded broker", dir)
	}
	broker, err := embedded.Start("127.0.0.1:0", dir, to.Log)
	if err != nil {
		return err
	}
	defer broker.Close()
	from := to
	from.Kafka = config.Kafka{Brokers: []string{broker.Address()}}
	if from.Client, err = kafka.NewClient(kafka.Options{
		Brokers: from.Kafka.Brokers, Log: to.Log,
	}); err != nil {
		return err
	}
	defer from.Client.Close()
	if err := Move(ctx, from, to, func(said string) { fmt.Fprintln(out, said) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Delete %s, which belongs to the old broker, and start clusterd "+
		"without --embedded.\n", to.State.Dir)
	return err
}

// Move copies the topics and offsets of a space. Nobody works on it meanwhile.
func Move(ctx context.Context, from, to beside.Space, say func(string)) error {
	if from.Divided() {
		return fmt.Errorf("role is %s in %s: name the configuration of an instance that does all",
			from.Role, from.File)
	}
	appender, err := sink.NewAppender(to.Client, to.Log, to.Output.Compression)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go appender.Run(ctx)
	m := move{from, to, appender, say}
	names, err := m.topics(ctx)
	if err != nil {
		return err
	}
	if err := m.create(ctx, names); err != nil {
		return err
	}
	for _, topic := range names {
		n, err := m.copy(ctx, topic)
		if err != nil {
			return fmt.Errorf("copying topic %s; delete the topics on the new brokers before you try "+
				"again, the old ones are as they were: %w", topic, err)
		}
		say(fmt.Sprintf("%s: %d records", topic, n))
	}
	return m.commit(ctx)
}

// topics returns those that are there, the input first. None of them may be on the new brokers.
func (m *move) topics(ctx context.Context) (names []string, err error) {
	c := &m.from.Config
	for _, topic := range []string{
		c.Input.Topic, c.Output.Topic, c.Output.ClustersTopic, c.Output.DeadLetterTopic, c.Labels.Topic,
		c.Labels.Corrections, c.Stories.Topic,
	} {
		if topic == "" {
			continue
		}
		if _, err := m.from.Partitions(ctx, topic); errors.Is(err, kafka.ErrNoTopic) {
			continue
		} else if err != nil {
			return nil, err
		}
		switch _, err := m.to.Partitions(ctx, topic); {
		case err == nil:
			return nil, fmt.Errorf("topic %s is on the new brokers already, and nothing was copied: "+
				"delete it if a copy was interrupted", topic)
		case !errors.Is(err, kafka.ErrNoTopic):
			return nil, err
		}
		names = append(names, topic)
	}
	if len(names) == 0 || names[0] != c.Input.Topic {
		return nil, fmt.Errorf("there is no topic %s: is this the folder of another configuration?",
			c.Input.Topic)
	}
	return names, nil
}

// create makes the topics on the new brokers.
func (m *move) create(ctx context.Context, names []string) error {
	partitions := make(map[string]int)
	for _, topic := range names {
		ids, err := m.from.Partitions(ctx, topic)
		if err != nil {
			return err
		}
		partitions[topic] = len(ids)
	}
	input := m.from.Input.Topic
	if err := m.to.Client.CreateTopic(ctx,
		kafka.TopicSpec{Name: input, Partitions: partitions[input]}); err != nil {
		return kafka.Explain(err)
	}
	c := m.to.Config
	c.Kafka.CreateTopics = true
	if err := topics.Ensure(ctx, c, m.to.Client, m.to.Log); err != nil {
		return err
	}
	for _, topic := range names {
		ids, err := m.to.Partitions(ctx, topic)
		if err == nil && len(ids) != partitions[topic] {
			err = fmt.Errorf("topic %s has %d partitions on the new brokers, and %d on the old one",
				topic, len(ids), partitions[topic])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copy copies the committed records of a topic.
func (m *move) copy(ctx context.Context, topic string) (n int, err error) {
	first, end, err := m.from.Offsets(ctx, topic)
	if err != nil {
		return 0, err
	}
	var waiting []kafka.Record
	size := 0
	flush := func() error {
		err := m.append(ctx, waiting)
		n, waiting, size = n+len(waiting), nil, 0
		return err
	}
	err = m.from.Read(ctx, topic, first, end, func(r *kafka.Record) error {
		if topic == m.from.Output.ClustersTopic && checkpoint.Is(r.Key) {
			forgetIDs(r)
		}
		waiting, size = append(waiting, *r), size+sink.Size(*r)
		if len(waiting) < moveRecords && size < moveBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return n, err
}

// forgetIDs takes the ids of topics out of a checkpoint: on the new brokers they have others.
func forgetIDs(r *kafka.Record) {
	if c, err := checkpoint.Parse(r.Key, r.Value); err == nil && c.IDs != nil {
		c.IDs = nil
		r.Value = c.JSON()
	}
}

// append writes records to where they were, and articles and labels to their offsets too.
func (m *move) append(ctx context.Context, records []kafka.Record) error {
	if len(records) == 0 {
		return nil
	}
	offsets, err := m.appender.Append(ctx, records)
	if err != nil {
		return err
	}
	for i, r := range records {
		addressed := r.Topic == m.from.Input.Topic || r.Topic == m.from.Labels.Topic
		if addressed && offsets[i] != r.Offset {
			return fmt.Errorf("the record at offset %d of partition %d would be at offset %d, and its "+
				"address is a part of clusters and results. Records before it were deleted, or it was "+
				"written in a transaction: start anew on the new brokers instead", r.Offset, r.Partition,
				offsets[i])
		}
	}
	return nil
}

// commit gives the group on the new brokers the offsets that it has on the old one.
func (m *move) commit(ctx context.Context) error {
	input := m.from.Input.Topic
	commits, err := m.from.Commits(ctx, input)
	if err != nil || len(commits) == 0 {
		return err
	}
	var batch sink.Batch
	for _, p := range slices.Sorted(maps.Keys(commits)) {
		c := commits[p]
		if c.Metadata != "" {
			return fmt.Errorf("group %s has an offset for %s/%d with the metadata %q: a migration to "+
				"another configuration is under way. End it first", m.from.Input.Group, input, p, c.Metadata)
		}
		batch.Offsets = append(batch.Offsets, sink.Offset{Topic: input, Partition: p, Offset: c.Offset})
	}
	ids, _, err := m.to.Owned(ctx)
	if err != nil {
		return err
	}
	producer, err := m.to.Producer(ctx, ids[0])
	if err != nil {
		return err
	}
	if err := producer.Fence(ctx); err != nil {
		return kafka.Explain(err)
	}
	_, err = producer.Commit(ctx, batch)
	return kafka.Explain(err)
}
