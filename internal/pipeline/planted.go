package pipeline

import (
	"slices"

	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/state"
)

// The bugs that the fault tests plant, to see that the audit finds them. In a build without the tag
// failpoints nothing of this is left.

// plantInResults spoils what a batch says of its articles.
func plantInResults(c *changes) {
	if !failpoint.Planted(failpoint.Swap) {
		return
	}
	for i := range c.outcomes {
		for j := range i {
			x, y := &c.outcomes[i].result, &c.outcomes[j].result
			if x.ClusterID != nil && y.ClusterID != nil && *x.ClusterID != *y.ClusterID {
				x.ClusterID, y.ClusterID = y.ClusterID, x.ClusterID
				return
			}
		}
	}
}

// plantInTopics spoils a transaction.
func plantInTopics(results string, b *sink.Batch) {
	if failpoint.Planted(failpoint.EarlyOffset) {
		for i := range b.Offsets {
			b.Offsets[i].Offset++
		}
	}
	at := slices.IndexFunc(b.Records, func(r kafka.Record) bool { return r.Topic == results })
	switch {
	case at < 0:
	case failpoint.Planted(failpoint.Drop):
		b.Records = slices.Delete(b.Records, at, at+1)
	case failpoint.Planted(failpoint.Duplicate):
		b.Records = append(b.Records, b.Records[at])
	}
}

// plantOnDisk spoils what goes on disk of the clusters that were there before.
func plantOnDisk(c changes) changes {
	old := func(t state.Cluster) bool { return t.Seq < c.before.Next }
	switch {
	case failpoint.Planted(failpoint.SkipDisk):
		c.touched = slices.DeleteFunc(slices.Clone(c.touched), old)
	case failpoint.Planted(failpoint.StaleDisk):
		c.touched = slices.Clone(c.touched)
		for i := range c.touched {
			if old(c.touched[i]) {
				c.touched[i].Size--
			}
		}
	}
	return c
}
