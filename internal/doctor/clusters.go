package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// tail is how many of the last records of a partition are searched for checkpoints: each
// transaction of clusterd writes one.
const tail = 2000

// startAnew is what to do where the clusters of a topic cannot be gone on with.
const startAnew = "start anew with another input.group and another output.clusters_topic"

// begun is what a checkpoint says of where the clusters topic began, by partition.
type begun struct {
	Begins map[int32]int64 `json:"begins"`
}

// checkClusters looks whether clusterd would start with the clusters topic: it must have a
// checkpoint of the group, and the records that it had when that was written. Of a topic that is
// much larger than what is read of it, only what the checkpoint says is looked at.
func (e *examination) checkClusters(ctx context.Context) {
	c := &e.config
	if !c.Assigns() || e.topics[c.Output.ClustersTopic].Err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	source := c.Source()
	committed, err := e.admin.FetchOffsetsForTopics(ctx, source.Group, source.Topic)
	if err != nil || committed.Error() != nil {
		return // what rights are missing is said elsewhere
	}
	read := ""
	committed.Each(func(o kadm.OffsetResponse) {
		if o.At > 0 {
			read = fmt.Sprintf("%s/%d up to offset %d", o.Topic, o.Partition, o.At)
		}
	})
	begins, err := e.admin.ListStartOffsets(ctx, c.Output.ClustersTopic)
	ends, endErr := e.admin.ListEndOffsets(ctx, c.Output.ClustersTopic)
	if read == "" || err != nil || endErr != nil || begins.Error() != nil || ends.Error() != nil {
		return
	}
	last, whole := e.checkpoints(ctx, begins, ends)
	label := "topic " + c.Output.ClustersTopic
	accept := "if that is meant: clusterd state accept -c FILE --topic " + c.Output.ClustersTopic
	if len(last) == 0 && whole {
		e.fail(label, "correct output.clusters_topic, or "+startAnew+"; "+accept,
			"group %s has read %s, and it has no checkpoint of the group: clusterd does not start",
			source.Group, read)
	}
	for _, one := range last {
		for p, was := range one.Begins {
			if now, ok := begins.Lookup(c.Output.ClustersTopic, p); ok && now.Offset > was {
				e.fail(label, "restore it, or "+startAnew+"; "+accept, "partition %d began at "+
					"offset %d and begins at %d: records of clusters were deleted, and clusterd does not start",
					p, was, now.Offset)
			}
		}
	}
}

// checkpoints returns the newest checkpoints of the group among the last records of the clusters
// topic, by their keys. It also reports whether all records were read.
func (e *examination) checkpoints(
	ctx context.Context, begins, ends kadm.ListedOffsets,
) (last map[string]begun, whole bool) {
	topic := e.config.Output.ClustersTopic
	from, left := make(map[int32]kgo.Offset), make(map[int32]int64)
	whole = true
	ends.Each(func(end kadm.ListedOffset) {
		first, _ := begins.Lookup(topic, end.Partition)
		at := max(first.Offset, end.Offset-tail)
		whole = whole && at == first.Offset
		if at < end.Offset {
			from[end.Partition], left[end.Partition] = kgo.NewOffset().At(at), end.Offset
		}
	})
	last = make(map[string]begun)
	if len(from) == 0 {
		return last, whole
	}
	e.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: from})
	defer e.client.PurgeTopicsFromConsuming(topic)
	prefix := "checkpoint:" + e.config.Input.Group + "/"
	for len(left) > 0 {
		fetches := e.client.PollFetches(ctx)
		if fetches.Err() != nil {
			return last, false
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() && strings.HasPrefix(string(r.Key), prefix) && r.Value != nil {
				var c begun
				if json.Unmarshal(r.Value, &c) == nil {
					last[string(r.Key)] = c
				}
			}
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return last, whole
}
