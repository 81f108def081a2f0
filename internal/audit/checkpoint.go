package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

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

// checkCheckpoints holds the offsets of the group to what was written in the same transactions.
func (a *audit) checkCheckpoints() {
	for _, key := range slices.Sorted(maps.Keys(a.checkpoints)) {
		c := a.checkpoints[key]
		if c.Group != a.config.Input.Group {
			continue
		}
		topic, read, before, after := a.cut.Input.Topic, c.Offsets, a.cut.Committed, a.cut.Applied
		if f := c.Fingerprints; f != nil && a.divided != nil {
			topic, read, before, after = f.Topic, f.Offsets, a.cut.Read, a.cut.ReadApplied
		} else if f != nil {
			a.clusters.Violate(c.at, "an audit by the configuration of role assign",
				"one by that of role "+a.config.Role+", while articles come from "+f.Topic)
			continue
		} else if a.divided != nil {
			continue // nothing was assigned since one instance did all
		}
		for _, p := range slices.Sorted(maps.Keys(read)) {
			a.clusters.Checked++
			reached := read[p]
			want := fmt.Sprintf("the group to be at offset %d of %s/%d", reached, topic, p)
			switch committed, applied := before[p], after[p]; {
			case committed > reached:
				a.clusters.Violate(c.at, want, fmt.Sprintf("%d: what is between was skipped", committed))
			case applied < reached:
				a.clusters.Violate(
					c.at, want, fmt.Sprintf("%d: what is between would be counted twice", applied),
				)
			}
		}
	}
}
