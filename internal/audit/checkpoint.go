package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// checkpointPrefix begins the keys of checkpoints, as the README says. No cluster id begins so.
const checkpointPrefix = "checkpoint:"

// A checkpoint is the last that the clusters topic says of how far a space has read the input.
type checkpoint struct {
	at      place // in the clusters topic
	Group   string
	Space   string
	Offsets map[int32]int64 // by input partition
}

// takeCheckpoint holds a checkpoint to its form and to the one before it. A tombstone takes it away.
func (a *audit) takeCheckpoint(r *kgo.Record) {
	a.form.Checked++
	key, at := string(r.Key), placeOf(r).in(r.Topic)
	if r.Value == nil {
		delete(a.checkpoints, key)
		return
	}
	c := checkpoint{at: placeOf(r)}
	err := json.Unmarshal(r.Value, &c)
	if err == nil && (c.Offsets == nil || key != checkpointPrefix+c.Group+"/"+c.Space) {
		err = errors.New("no offsets, or another group or space than in its key")
	}
	if err != nil {
		a.form.violated(at, "the form of a checkpoint", err.Error())
		return
	}
	if c.Group != a.config.Input.Group {
		a.clusters.violated(at, "clusters of group "+a.config.Input.Group+" alone", "a checkpoint of group "+c.Group)
	}
	if before, ok := a.checkpoints[key]; ok {
		for p, offset := range before.Offsets {
			if c.Offsets[p] < offset {
				a.clusters.violated(at, fmt.Sprintf("partition %d of the input to be read up to %d or more", p, offset), fmt.Sprint(c.Offsets[p]))
			}
		}
	}
	a.checkpoints[key] = c
}

// compareCheckpoints holds the offsets of the group to what was written in the same transactions.
func (a *audit) compareCheckpoints() {
	for _, key := range slices.Sorted(maps.Keys(a.checkpoints)) {
		c := a.checkpoints[key]
		if c.Group != a.config.Input.Group {
			continue
		}
		for _, p := range slices.Sorted(maps.Keys(c.Offsets)) {
			a.clusters.Checked++
			switch reached := c.Offsets[p]; {
			case a.cut.committed[p] > reached:
				a.clusters.violated(c.at.in(a.cut.clusters.topic), fmt.Sprintf("the group to be at offset %d of %s/%d", reached, a.cut.input.topic, p),
					fmt.Sprintf("%d: what is between was skipped", a.cut.committed[p]))
			case a.cut.applied[p] < reached:
				a.clusters.violated(c.at.in(a.cut.clusters.topic), fmt.Sprintf("the group to be at offset %d of %s/%d", reached, a.cut.input.topic, p),
					fmt.Sprintf("%d: what is between would be counted twice", a.cut.applied[p]))
			}
		}
	}
}

func isCheckpoint(r *kgo.Record) bool { return strings.HasPrefix(string(r.Key), checkpointPrefix) }
