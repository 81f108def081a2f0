package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
)

// OptionsOf returns what a configuration says of the replica of a space: of what its clusters are
// made, and how. The rest is the caller's.
func OptionsOf(
	c *config.Config, f *fingerprint.Fingerprinter, name string, inputs []int,
) Options {
	rule := space.OptionsOf(*c, f.Threshold())
	rule.Distance = f.Distance
	rule.Stories.Ranks, rule.Stories.NewCounter = f.Ranks(), f.NewCounter
	return Options{
		Topic: c.Output.ClustersTopic, Labels: c.Labels.Topic,
		Brokers: c.Kafka.Brokers, FetchBytes: c.Batch.Bytes,
		Space: checkpoint.Record{
			Input: c.Input.Topic, Group: c.Input.Group, Scope: c.Cluster.Scope, Space: name,
			ScopeField: c.Cluster.ScopeField, Output: c.Output.Topic,
			Pipeline: f.Identity(), Threshold: f.ThresholdSettings(), Window: c.Cluster.Window.String(),
		},
		Inputs: inputs, Rule: rule, NewIndex: f.NewIndex, Check: f.Check,
	}
}

// CopyTo brings the disk to where the clusters topic ends now, and makes dir, which must not be
// there, a copy of it.
func (r *Replica) CopyTo(ctx context.Context, dir string) (state.Copy, error) {
	if err := r.CatchUp(ctx); err != nil {
		return state.Copy{}, err
	}
	return r.space.CopyTo(dir)
}

// ErrStale is the error of a copy that a recovery would throw away, since it may have missed that
// clusters were removed.
var ErrStale = errors.New("the clusters topic has gone on for too long without it")

// Fits looks whether a recovery would take a copy and read on from there. An error says why it
// would not; it is [ErrStale] where only time has passed.
func (r *Replica) Fits(ctx context.Context, c *state.Copy) error {
	broker, err := r.broker(ctx)
	if err != nil {
		return err
	}
	if now := r.identity(broker); c.Identity != now {
		return fmt.Errorf("it is of another space than that of the configuration: %s",
			different(c.Identity, now))
	}
	if c.Meta.Checkpoint != nil {
		if err := r.sameSettings(c.Meta.Checkpoint); err != nil {
			return err
		}
	}
	if err := r.identify(ctx); err != nil {
		return err
	}
	if was, is, changed := r.changedID(c.Meta.Checkpoint, r.Topic); changed {
		return fmt.Errorf("topic %s was made anew: its id was %s and is %s", r.Topic, was, is)
	}
	e, err := r.ends(ctx)
	if err != nil {
		return err
	}
	tail := int64(0)
	for _, p := range slices.Sorted(maps.Keys(e.last)) {
		next, ok := c.Meta.Offsets[p]
		switch {
		case !ok:
			next = e.first[p]
		case next > e.last[p]:
			return fmt.Errorf("%s/%d ends at offset %d, and it has clusters up to offset %d: the topic was "+
				"made anew, or has lost records", r.Topic, p, e.last[p], next)
		case next < e.first[p]:
			return fmt.Errorf("%w: it ends at offset %d of %s/%d, which begins at %d", ErrStale, next,
				r.Topic, p, e.first[p])
		}
		tail += e.last[p] - next
	}
	if age := time.Since(c.Meta.Written); age > e.retention && tail > 0 {
		return fmt.Errorf("%w: it is %s old, and tombstones stay in %s for %s (delete.retention.ms)",
			ErrStale, age.Round(time.Second), r.Topic, e.retention)
	}
	return nil
}

// different says in what two identities differ.
func different(was, is state.Identity) string {
	for _, d := range []struct {
		what    string
		was, is any
	}{
		{"the Kafka cluster", was.Kafka, is.Kafka},
		{"output.clusters_topic", was.Clusters, is.Clusters},
		{"the number of its partitions", was.Partitions, is.Partitions},
		{"input.topic", was.Input, is.Input},
		{"input.group", was.Group, is.Group},
		{"the space", was.Space, is.Space},
	} {
		if d.was != d.is {
			return fmt.Sprintf("%s was %v and is %v", d.what, d.was, d.is)
		}
	}
	return checkpoint.Difference(was.Pipeline, is.Pipeline)
}
