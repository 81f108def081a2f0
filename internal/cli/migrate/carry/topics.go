package carry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/cli/migrate/overlap"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/sink"
)

// Run writes the labels of the old space to the topic of labels of the new one. Records that are
// there already are not written again, so that it can be run at any time. It returns what it would
// have to be there, and how many records it wrote.
func Run(ctx context.Context, t beside.Two) (p Plan, written int, err error) {
	for _, s := range []*beside.Space{&t.Old, &t.New} {
		if s.Labels.Topic == "" {
			return p, 0, fmt.Errorf("%s names no labels.topic: there are labels in both spaces, or none to "+
				"carry", s.File)
		}
	}
	o, err := readOld(ctx, &t.Old)
	if err != nil {
		return p, 0, err
	}
	n, err := readNew(ctx, t, o)
	if err != nil {
		return p, 0, err
	}
	p = Carry(o, n)
	written, err = write(ctx, &t.New, p.Records)
	return p, written, err
}

// readOld reads the clusters topic of the old space.
func readOld(ctx context.Context, s *beside.Space) (*Old, error) {
	first, end, err := s.Offsets(ctx, s.Output.ClustersTopic)
	if err != nil {
		return nil, err
	}
	o, contacts := &Old{Clusters: make(map[string]cluster.Cluster)}, make(map[string]Contact)
	err = s.Read(ctx, s.Output.ClustersTopic, first, end, func(r *kafka.Record) (err error) {
		switch {
		case cluster.IsContact(r.Key):
			err = takeContact(contacts, r)
		case !checkpoint.Is(r.Key) && !cluster.IsStory(r.Key):
			err = o.take(r)
		}
		if err != nil {
			return fmt.Errorf("%s/%d/%d: %w", r.Topic, r.Partition, r.Offset, err)
		}
		return nil
	})
	for _, key := range slices.Sorted(maps.Keys(contacts)) {
		o.Contacts = append(o.Contacts, contacts[key])
	}
	return o, err
}

// take takes a record of a cluster, of which the last one counts.
func (o *Old) take(r *kafka.Record) error {
	delete(o.Clusters, string(r.Key))
	if r.Value == nil {
		return nil
	}
	c, _, err := cluster.Parse(r.Key, r.Value, 0)
	if err != nil {
		return err
	}
	if c.Labelled() || c.Contacts != "" {
		c.Fingerprint.Sketch = "" // it may be long
		o.Clusters[c.ID()] = c
	}
	return nil
}

func takeContact(all map[string]Contact, r *kafka.Record) error {
	key := string(r.Key)
	delete(all, key)
	if r.Value == nil {
		return nil
	}
	space, _, _ := strings.Cut(strings.TrimPrefix(key, cluster.ContactPrefix), "/")
	c, _, err := cluster.ParseContact(r.Key, r.Value, 0, space)
	if err != nil {
		return err
	}
	found := Contact{Contact: c}
	if space != checkpoint.WholeTopic {
		partition, err := strconv.Atoi(space)
		if err != nil {
			return fmt.Errorf("a contact of space %.80q", space)
		}
		found.Partition = &partition
	}
	all[key] = found
	return nil
}

// readNew reads what the results of both spaces say of the same articles.
func readNew(ctx context.Context, t beside.Two, o *Old) (n *New, err error) {
	was, is := &t.Old.Config, &t.New.Config
	n = &New{
		Members: make(map[string]Member),
		Contacts: is.Contacts.Join && was.Cluster.Scope == is.Cluster.Scope &&
			was.Cluster.ScopeField == is.Cluster.ScopeField,
	}
	wanted := make(map[article.Address]bool)
	for _, c := range o.Clusters {
		for _, e := range c.Exceptions.All() {
			if source, err := article.ParseAddress(e.Source); err == nil {
				wanted[source] = true
			}
		}
	}
	n.Clusters, err = overlap.Clusters(ctx, t, func(source article.Address, r *kafka.Record) {
		if m, ok := memberOf(r); ok && wanted[source] {
			n.Members[source.String()] = m
		}
	})
	return n, err
}

// memberOf returns what a result says of its article; not ok without a cluster or a fingerprint.
func memberOf(r *kafka.Record) (m Member, ok bool) {
	if json.Unmarshal(r.Value, &m) != nil || m.ClusterID == "" || m.Fingerprint == nil {
		return m, false
	}
	for _, h := range r.Headers {
		if h.Key == article.HeaderPosition {
			position, err := strconv.ParseUint(string(h.Value), 10, 64)
			m.Position = position
			return m, err == nil
		}
	}
	return m, false
}

// writtenAtOnce is how many label records a transaction writes.
const writtenAtOnce = 1000

// write writes the records that are not there yet, all into one partition: they are to be applied
// in this order.
func write(ctx context.Context, s *beside.Space, records []Record) (written int, err error) {
	topic := s.Labels.Topic
	first, end, err := s.Offsets(ctx, topic)
	if err != nil {
		return 0, err
	}
	producer, err := s.Producer(ctx, s.Input.Group+"-"+topic+"-carried", topic)
	if err == nil {
		err = producer.Fence(ctx) // another run has written what it will, or nothing
	}
	if err != nil {
		return 0, kafka.Explain(err)
	}
	there := make(map[string]bool)
	if err := s.Read(ctx, topic, first, end, func(r *kafka.Record) error {
		there[string(r.Value)] = true
		return nil
	}); err != nil {
		return 0, err
	}
	records = slices.DeleteFunc(slices.Clone(records),
		func(r Record) bool { return there[string(r.JSON())] })
	for some := range slices.Chunk(records, writtenAtOnce) {
		var batch sink.Batch
		for i := range some {
			batch.Records = append(batch.Records, kafka.Record{
				Topic: topic, Key: some[i].Key(), Value: some[i].JSON(),
			})
		}
		switch _, err := producer.Commit(ctx, batch); {
		case errors.Is(err, sink.ErrFenced):
			return written, fmt.Errorf("another clusterd migrate labels writes to topic %s now (%w)", topic,
				err)
		case err != nil:
			return written, fmt.Errorf("writing to topic %s; run the command again: %w", topic,
				kafka.Explain(err))
		}
		written += len(some)
	}
	return written, nil
}
