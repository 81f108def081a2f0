package replica

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
)

// ReadByGroup returns up to where the group has read the partitions of the space, nil where nobody
// is to assign.
func (r *Replica) ReadByGroup(ctx context.Context) (map[int]int64, error) {
	if r.Source.Topic == "" {
		return nil, nil
	}
	read := make(map[int]int64)
	err := kafka.Retry(ctx, r.Log, "fetching committed offsets", func() error {
		partitions, err := r.Inputs, error(nil)
		if partitions == nil {
			if partitions, err = r.Client.Partitions(ctx, r.Source.Topic); err != nil {
				return err
			}
		}
		commits, err := consumer.Commits(ctx, r.Client, r.Source.Group, r.Source.Topic, partitions)
		for p, c := range commits {
			read[p] = c.Offset
		}
		return err
	})
	return read, err
}

// checkTopics returns an error if the clusters topic cannot have all clusters of the space, given
// up to where the group has read, or if another topic was deleted and created again.
func (r *Replica) checkTopics(read map[int]int64) error {
	if r.Source.Topic == "" || r.DiskOnly {
		return nil
	}
	last := r.space.Meta().Checkpoint
	if why := r.missing(read); why != "" {
		accept := "To go on with the clusters that it still has"
		if last == nil {
			accept = "If there are no results yet"
		}
		return fmt.Errorf("%s. Articles would found clusters that were there before. Nothing was read "+
			"or written. If output.clusters_topic has changed, set it back. If the clusters are lost, %s. "+
			"%s, stop all instances and run: clusterd state accept -c FILE --topic %s", why, StartAnew,
			accept, r.Topic)
	}
	return r.checkIDs(last)
}

// missing says what the clusters topic lacks; an empty text for nothing.
func (r *Replica) missing(read map[int]int64) string {
	last := r.space.Meta().Checkpoint
	if last == nil {
		var all []string
		for _, p := range slices.Sorted(maps.Keys(read)) {
			if read[p] > 0 {
				all = append(all, fmt.Sprintf("%s/%d up to offset %d", r.Source.Topic, p, read[p]))
			}
		}
		if all == nil {
			return ""
		}
		return fmt.Sprintf("group %s has read %s, and topic %s has no checkpoint of it: it is another "+
			"topic, or was deleted and created again, or somebody has set the offsets before the first "+
			"start", r.Source.Group, strings.Join(all, ", "), r.Topic)
	}
	for _, p := range slices.Sorted(maps.Keys(r.begins)) {
		was, known := last.Begins[p]
		if known && r.begins[p] > was {
			return fmt.Sprintf("topic %s/%d began at offset %d and begins at %d: records of clusters were "+
				"deleted, by somebody or by cleanup.policy=delete", r.Topic, p, was, r.begins[p])
		}
		if !known && r.begins[p] > 0 {
			r.Log.Warn("records were deleted from the beginning of the clusters topic, at some time "+
				"before: clusters may be missing", "topic", r.Topic, "partition", p, "begins", r.begins[p])
		}
	}
	return ""
}
