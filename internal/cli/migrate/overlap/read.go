package overlap

import (
	"context"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
)

// A reader reads the results of both spaces.
type reader struct {
	beside.Two
	joint *joint
	next  [2]map[int]int64 // of each results topic: read up to there
}

// read adds the results that have come since it was called last, and calls look with each of the
// new space.
func (r *reader) read(ctx context.Context, look func(*kafka.Record, *result)) error {
	for s, space := range []*beside.Space{&r.Old, &r.New} {
		first, end, err := space.Offsets(ctx, space.Output.Topic)
		if err != nil {
			return err
		}
		limit, err := r.Limit(ctx) // after the end was listed
		if err != nil {
			return err
		}
		if r.next[s] == nil {
			r.next[s] = first
		}
		err = space.Read(ctx, space.Output.Topic, r.next[s], end, func(record *kafka.Record) error {
			found, ok := parse(record, space.Input.Topic)
			if !ok || side(s) == old && beyond(limit, found.source.partition(), found.source.offset()) {
				return nil
			}
			r.joint.add(side(s), &found)
			if side(s) == fresh {
				look(record, &found)
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.next[s] = end
	}
	return nil
}

// A Cluster is one of the new space that has articles in common with clusters of the old one.
type Cluster struct {
	ID    string
	Parts []Part // clusters of the old space, those with most articles first
}

// Clusters reads the results of both spaces, and returns the clusters of the new space in the order
// of their founders. look is called with each result of the new space and its article's address.
func Clusters(
	ctx context.Context, t beside.Two, look func(source article.Address, result *kafka.Record),
) (all []Cluster, err error) {
	r, topic := reader{Two: t, joint: newJoint()}, t.New.Input.Topic
	err = r.read(ctx, func(record *kafka.Record, found *result) {
		look(article.Address{
			Topic: topic, Partition: found.source.partition(), Offset: found.source.offset(),
		}, record)
	})
	for _, c := range slices.Sorted(maps.Keys(r.joint.of[fresh])) {
		next := Cluster{ID: c.in(topic)}
		for _, p := range r.joint.parts(fresh, c) {
			next.Parts = append(next.Parts, Part{ID: p.cluster.in(topic), Articles: p.articles})
		}
		all = append(all, next)
	}
	return all, err
}
