package audit

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/replay"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A checkpoint is the last one of a space.
type checkpoint struct {
	wire.Checkpoint
	at    string
	place wire.Address
}

// addCheckpoint holds a checkpoint to its form and to the one before it. A tombstone deletes it.
func (a *audit) addCheckpoint(r *kgo.Record) {
	a.form.Checked++
	key, at := string(r.Key), wire.AddressOf(r).In(r.Topic)
	if err := wire.CheckOwn(r, wire.OwnCheckpoint); err != nil {
		a.form.Violate(at, "the form of a checkpoint", err.Error())
	}
	if r.Value == nil {
		delete(a.checkpoints, key)
		return
	}
	c, err := wire.ParseCheckpoint(r)
	if err != nil {
		a.form.Violate(at, "the form of a checkpoint", err.Error())
		return
	}
	a.form.Unknown(at, "a checkpoint", c.Unknown)
	a.checkSpacePartition(r, c.Partition())
	if c.Group != a.config.Input.Group {
		a.clusters.Violate(at,
			"clusters of group "+a.config.Input.Group+" alone", "a checkpoint of group "+c.Group)
	}
	for p, offset := range a.checkpoints[key].Offsets {
		if c.Offsets[p] < offset {
			a.clusters.Violate(at,
				fmt.Sprintf("partition %d of the input to be read up to %d or more", p, offset),
				fmt.Sprint(c.Offsets[p]))
		}
	}
	place := wire.AddressOf(r)
	if a.labels != nil {
		last, ok := a.checkpoints[key]
		if !ok {
			last.place = wire.Address{Partition: r.Partition, Offset: -1}
		}
		a.labelSpace(c.Partition()).Checkpoint(&c, a.isWhole(last.place, place), at)
	}
	a.checkpoints[key] = checkpoint{c, at, place}
	a.placements.Checkpoint(&c)
	if a.stories != nil {
		a.stories.Checkpoint(&c)
	}
}

// isWhole reports whether no record of the clusters topic has been compacted away between two
// places of it.
func (a *audit) isWhole(after, before wire.Address) bool {
	return after.Partition == before.Partition &&
		a.there[before.Partition].HasAll(after.Offset+1, before.Offset)
}

// noteThere notes which offsets of the clusters topic have a record, aborted ones included.
func (a *audit) noteThere(ctx context.Context) error {
	_, err := a.topics.Read(ctx, a.cut.Clusters, kgo.ReadUncommitted(), func(r *kgo.Record) error {
		if a.there[r.Partition] == nil {
			a.there[r.Partition] = make(spill.Bitmap)
		}
		a.there[r.Partition].Add(r.Offset)
		return nil
	})
	return err
}

// placeCheckpoints gives each space its last checkpoint.
func (a *audit) placeCheckpoints() error {
	for _, c := range a.checkpoints {
		if c.Group != a.config.Input.Group {
			continue
		}
		s, err := a.space(c.Partition())
		if err != nil {
			return err
		}
		s.Last = &replay.Last{Checkpoint: c.Checkpoint, At: c.at}
		s.Required = max(s.Required, min(c.NextPosition, a.positions))
	}
	return nil
}
