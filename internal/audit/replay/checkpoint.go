package replay

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A Last is the last checkpoint of a space, and where it is.
type Last struct {
	wire.Checkpoint
	At string
}

// checkOffsets holds the offsets of the group to what was written in the same transactions.
func (r *replay) checkOffsets() {
	c := r.space.Last
	if c == nil {
		return
	}
	topic, read, before, after := r.Cut.Input.Topic, c.Offsets, r.Cut.Committed, r.Cut.Applied
	if f := c.Fingerprints; f != nil && r.Config.Divided() {
		topic, read, before, after = f.Topic, f.Offsets, r.Cut.Read, r.Cut.ReadApplied
	} else if f != nil {
		r.Clusters.Violate(c.At, "an audit by the configuration of role assign",
			"one by that of role "+r.Config.Role+", while articles come from "+f.Topic)
		return
	} else if r.Config.Divided() {
		return // nothing was assigned since one instance did all
	}
	for _, p := range slices.Sorted(maps.Keys(read)) {
		r.Clusters.Checked++
		reached := read[p]
		want := fmt.Sprintf("the group to be at offset %d of %s/%d", reached, topic, p)
		switch committed, applied := before[p], after[p]; {
		case committed > reached:
			r.Clusters.Violate(c.At, want, fmt.Sprintf("%d: what is between was skipped", committed))
		case applied < reached:
			r.Clusters.Violate(
				c.At, want, fmt.Sprintf("%d: what is between would be counted twice", applied),
			)
		}
	}
}

// checkSettings holds the last checkpoint to the settings, by which clusterd would go on from it,
// and to the end of the topic of labels.
func (r *replay) checkSettings() {
	c := r.space.Last
	if c == nil {
		return
	}
	for _, s := range []struct{ name, is, want string }{
		{"input", c.Input, r.Config.Input.Topic},
		{"scope", c.Scope, r.Config.Cluster.Scope},
		{"output", c.Output, r.Config.Output.Topic},
		{"window", c.Window, r.Config.Cluster.Window.String()},
		{"pipeline", c.Pipeline, r.Expected.Pipeline()},
	} {
		if s.is != "" && s.is != s.want && !wire.SamePipeline(s.is, s.want) {
			r.Clusters.Violate(c.At, s.name+" "+s.want+", as it is set", s.is)
		}
	}
	if c.Labels == nil || c.Labels.Topic != r.Config.Labels.Topic {
		return
	}
	for p, read := range c.Labels.Offsets {
		if end := r.Cut.Labels.To[p]; read > end {
			r.Clusters.Violate(c.At, fmt.Sprintf("%s/%d to be read up to %d at most, its end",
				c.Labels.Topic, p, end), fmt.Sprint(read))
		}
	}
}

// checkPosition holds the next position of the last checkpoint to its offsets: articles below these
// have the positions below it.
func (r *replay) checkPosition(position int64, row *ResultRow) {
	c, source := r.space.Last, row.Article.Source
	if c == nil {
		return
	}
	isBelow := source.Offset < c.Offsets[source.Partition]
	if isBelow {
		r.highest = max(r.highest, row.Article.EventTime)
	}
	if isBelow != (position < c.NextPosition) && !r.strayed {
		r.strayed = true
		r.Clusters.Violate(c.At, fmt.Sprintf("next_position to say whether %s, at position %d, was read",
			source.In(r.Cut.Input.Topic), position), fmt.Sprint(c.NextPosition))
	}
}

// checkStreamTime holds that of the last checkpoint to the articles that were read by then.
func (r *replay) checkStreamTime() {
	if c := r.space.Last; c != nil && c.StreamTime != r.highest {
		r.Clusters.Violate(c.At, "stream time "+report.Clock(r.highest), report.Clock(c.StreamTime))
	}
}
