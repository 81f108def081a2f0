package overlap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
)

const (
	// mapRecords is how many records of the map one transaction has.
	mapRecords = 2000
	// maxTargets is how many clusters a record of the map names; each of them has its own, with all.
	maxTargets = 1000
	// followPause is how often what has come is written to the map.
	followPause = time.Second
)

// A Mapping is the value of a record of the map: what became of a cluster, by the articles that are
// in clusters of both spaces. Its key is the side, a colon and the id.
type Mapping struct {
	ID       string `json:"id"`
	Side     string `json:"side"` // old or new: whose id it is
	Kind     Kind   `json:"kind"`
	Articles int    `json:"articles"`
	To       []Part `json:"to"`             // clusters of the other side, those with most articles first
	More     int    `json:"more,omitempty"` // of these that are left out
}

func sideName(s side) string {
	if s == old {
		return "old"
	}
	return "new"
}

// mapping returns what is to be said of a cluster.
func (j *joint) mapping(s side, cluster id, topic string) Mapping {
	m := Mapping{ID: cluster.in(topic), Side: sideName(s), Kind: j.kind(s, cluster)}
	for i, p := range j.parts(s, cluster) {
		m.Articles += p.articles
		if i < maxTargets {
			m.To = append(m.To, Part{ID: p.cluster.in(topic), Articles: p.articles})
		} else {
			m.More++
		}
	}
	return m
}

// A mapper writes the map. It knows by a hash what is there, and writes only what differs.
type mapper struct {
	reader
	topic      string
	partitions []int
	producer   *sink.Producer
	seed       maphash.Seed
	there      map[string]uint64 // by key, the hash of the value
	written    int
}

// Map writes to a topic what became of each cluster, for ids of both sides. What is there already
// stays where it is right, so that it can be run again at any time. With follow it goes on as
// results come, until ctx ends. It returns how many records it wrote. One run for a topic ends
// another one.
func Map(
	ctx context.Context, t beside.Two, topic string, follow bool, say func(string),
) (int, error) {
	m := &mapper{
		reader: reader{Two: t, joint: newJoint()}, topic: topic, seed: maphash.MakeSeed(),
		there: make(map[string]uint64),
	}
	if err := m.begin(ctx); err != nil {
		return 0, err
	}
	for {
		before := m.written
		if err := m.round(ctx); err != nil {
			return m.written, err
		}
		if !follow {
			return m.written, nil
		}
		if m.written > before {
			say(fmt.Sprintf("%d records written", m.written-before))
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
			return m.written, nil
		}
	}
}

// begin makes the topic, takes it over from whoever wrote to it before, and reads it.
func (m *mapper) begin(ctx context.Context) (err error) {
	s := &m.New
	if m.partitions, err = s.Partitions(ctx, m.topic); errors.Is(err, kafka.ErrNoTopic) {
		spec := kafka.TopicSpec{Name: m.topic, Configs: map[string]string{"cleanup.policy": "compact"}}
		if !s.Kafka.CreateTopics {
			return fmt.Errorf("topic %s: %w: create it (%s), or set kafka.create_topics: true", m.topic,
				err, spec.Command(s.Kafka.Brokers))
		}
		if err = kafka.Explain(s.Client.CreateTopic(ctx, spec)); err != nil {
			return err
		}
		err = kafka.Retry(ctx, s.Log, "looking at topic "+m.topic, func() error {
			m.partitions, err = s.Client.Partitions(ctx, m.topic)
			return kafka.MarkRetriable(err)
		})
	}
	if err != nil {
		return err
	}
	if m.producer, err = s.Producer(ctx, s.Input.Group+"-"+m.topic, m.topic); err != nil {
		return err
	}
	if err := m.producer.Fence(ctx); err != nil {
		return kafka.Explain(err)
	}
	first, end, err := s.Offsets(ctx, m.topic)
	if err != nil {
		return err
	}
	return s.Read(ctx, m.topic, first, end, func(r *kafka.Record) error {
		if _, _, ok := strings.Cut(string(r.Key), ":"); !ok {
			return fmt.Errorf("topic %s has a record with the key %.80q: it is no map", m.topic, r.Key)
		}
		m.there[string(r.Key)] = maphash.Bytes(m.seed, r.Value)
		return nil
	})
}

// round reads what has come, and writes what has changed.
func (m *mapper) round(ctx context.Context) error {
	if err := m.read(ctx, func(*kafka.Record, *result) {}); err != nil {
		return err
	}
	for s := range m.joint.changed {
		changed := slices.Sorted(maps.Keys(m.joint.changed[s]))
		for some := range slices.Chunk(changed, mapRecords) {
			if err := m.write(ctx, side(s), some); err != nil {
				return err
			}
		}
		clear(m.joint.changed[s])
	}
	return nil
}

// write writes what is to be said of some clusters in one transaction.
func (m *mapper) write(ctx context.Context, s side, clusters []id) error {
	var batch sink.Batch
	hashes := make([]uint64, 0, len(clusters))
	for _, cluster := range clusters {
		mapping := m.joint.mapping(s, cluster, m.New.Input.Topic)
		key := []byte(mapping.Side + ":" + mapping.ID)
		value, err := json.Marshal(mapping)
		if err != nil {
			return err
		}
		hash := maphash.Bytes(m.seed, value)
		if was, ok := m.there[string(key)]; ok && was == hash {
			continue
		}
		hashes = append(hashes, hash)
		batch.Records = append(batch.Records, kafka.Record{
			Topic: m.topic, Partition: sink.PartitionOf(key, m.partitions), Key: key, Value: value,
		})
	}
	if len(batch.Records) == 0 {
		return nil
	}
	_, err := m.producer.Commit(ctx, batch)
	switch {
	case errors.Is(err, sink.ErrFenced):
		return fmt.Errorf("another clusterd migrate map writes to topic %s now (%w)", m.topic, err)
	case err != nil:
		return fmt.Errorf("writing to topic %s; run the command again: %w", m.topic, kafka.Explain(err))
	}
	for i, r := range batch.Records {
		m.there[string(r.Key)] = hashes[i]
	}
	m.written += len(batch.Records)
	return nil
}
