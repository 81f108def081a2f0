package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
)

// ErrNothingMissing is the error of topics that are all as the last checkpoint says.
var ErrNothingMissing = errors.New(
	"the checkpoint says the same of it: there is nothing to accept")

// An Acceptance says which topics a space goes on with, though they are not as its checkpoint says.
type Acceptance struct {
	Topics []string
	// FromBeginning is whether all records of the topic of labels are new.
	FromBeginning bool
	checkpoint.Accepted
}

// Accept returns the checkpoint, as a record of the clusters topic, with which a space goes on. It
// takes up to where the group has read, and completes it: Kafka deletes the offsets of a topic
// together with the topic. The replica must be caught up. The error is [ErrNothingMissing] where
// nothing is to be accepted.
func (r *Replica) Accept(
	ctx context.Context, read map[int]int64, a Acceptance,
) (kafka.Record, error) {
	var why []string
	if missing := r.missing(read); missing != "" && slices.Contains(a.Topics, r.Topic) {
		why = append(why, missing)
	}
	c := r.checkpoint(read)
	for _, topic := range a.Topics {
		was, is, changed := r.changedID(&c, topic)
		if changed {
			why = append(why, fmt.Sprintf("topic %s had the id %s and has %s", topic, was, is))
		}
	}
	if a.FromBeginning && c.Labels != nil {
		lacks, err := r.lacks(ctx, r.Labels, c.Labels.Offsets)
		if err != nil {
			return kafka.Record{}, err
		}
		if lacks != "" {
			why = append(why, lacks)
		}
	}
	if why == nil {
		return kafka.Record{}, ErrNothingMissing
	}
	c.IDs = maps.Clone(c.IDs)
	for _, topic := range a.Topics {
		if err := r.acceptTopic(ctx, &c, topic, read, a.FromBeginning); err != nil {
			return kafka.Record{}, err
		}
	}
	a.Why = strings.Join(why, "; ")
	c.Accepted = append(slices.Clone(c.Accepted), a.Accepted)
	c.Accepted = c.Accepted[max(0, len(c.Accepted)-checkpoint.MaxAccepted):]
	partition, err := c.Partition()
	if err != nil {
		return kafka.Record{}, err
	}
	return kafka.Record{
		Topic: r.Topic, Partition: partition % r.modulus, Key: []byte(c.Key()), Value: c.JSON(),
		Headers: []kafka.Header{{Key: article.HeaderOwn, Value: []byte(article.OwnCheckpoint)}},
	}, nil
}

// checkpoint returns the last checkpoint of the space; if there is none, one that says how far the
// group has read.
func (r *Replica) checkpoint(read map[int]int64) checkpoint.Record {
	if last := r.space.Meta().Checkpoint; last != nil {
		return *last
	}
	c := r.Options.Space
	c.Offsets, c.IDs = read, r.ids
	if r.Source.Topic != c.Input {
		c.Offsets = map[int]int64{} // it assigns what others have fingerprinted
		c.Fingerprints = &checkpoint.Fingerprints{Topic: r.Source.Topic, Offsets: read}
	}
	return c
}

// acceptTopic has a checkpoint go on with a topic.
func (r *Replica) acceptTopic(
	ctx context.Context, c *checkpoint.Record, topic string, read map[int]int64, fromBeginning bool,
) error {
	if id, ok := r.ids[topic]; ok && c.IDs != nil {
		c.IDs[topic] = id
	}
	var offsets map[int]int64
	remedy := StartAnew
	switch {
	case topic == r.Topic:
		c.Begins = r.begins
	case topic == r.Source.Topic:
		reached := c.Offsets
		if topic != c.Input && c.Fingerprints != nil {
			reached = c.Fingerprints.Offsets
		}
		for p, next := range reached {
			if _, ok := read[p]; !ok {
				read[p] = next
			}
		}
		offsets = read
	case c.Labels == nil:
	case fromBeginning:
		labels := *c.Labels
		labels.Offsets = make(map[int]int64)
		c.Labels = &labels
	default:
		offsets, remedy = c.Labels.Offsets, LabelsAnew(topic)
	}
	why, err := r.lacks(ctx, topic, offsets)
	if why != "" {
		err = fmt.Errorf("%s. Nothing was written. To go on, %s", why, remedy)
	}
	return err
}

// lacks says that a topic does not have the records that come next, by these offsets; an empty text
// where it may have them.
func (r *Replica) lacks(
	ctx context.Context, topic string, offsets map[int]int64,
) (why string, err error) {
	partitions := slices.Sorted(maps.Keys(offsets))
	all, err := r.Client.Partitions(ctx, topic)
	if err != nil {
		return "", err
	}
	for _, p := range partitions {
		if !slices.Contains(all, p) {
			return fmt.Sprintf("topic %s has no partition %d, of which %d comes next", topic, p,
				offsets[p]), nil
		}
	}
	first, err := r.Client.Offsets(ctx, topic, partitions, kafka.First)
	if err != nil {
		return "", err
	}
	end, err := r.Client.Offsets(ctx, topic, partitions, kafka.Last)
	if err != nil {
		return "", err
	}
	for _, p := range partitions {
		if offsets[p] < first[p] || offsets[p] > end[p] {
			return fmt.Sprintf("topic %s/%d holds offsets %d to %d, and %d comes next", topic, p, first[p],
				end[p], offsets[p]), nil
		}
	}
	return "", nil
}
