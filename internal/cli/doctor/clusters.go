package doctor

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// startAnew is what to do where the clusters of a topic cannot be gone on with.
const startAnew = "start anew with another input.group and another output.clusters_topic"

// noted is the part of a checkpoint that is looked at.
type noted struct {
	Group      string          `json:"group"`
	Input      string          `json:"input"`
	Scope      string          `json:"scope"`
	ScopeField string          `json:"scope_field"`
	Window     string          `json:"window"`
	Begins     map[int32]int64 `json:"begins"` // where the clusters topic began, by partition
	Offsets    map[int32]int64 `json:"offsets"`
	// IDs are those that topics had, by name.
	IDs map[string]string `json:"ids"`
	// Fingerprints is how far another topic was read instead of the input.
	Fingerprints *struct {
		Topic   string          `json:"topic"`
		Offsets map[int32]int64 `json:"offsets"`
	} `json:"fingerprints"`
}

// checkClusters looks whether clusterd would start with the clusters topic: it must have a
// checkpoint of the group, and the records that it had when that was written. Of a topic that is
// much larger than what is read of it, only what the checkpoint says is looked at.
func (e *examination) checkClusters(ctx context.Context) {
	c := &e.config
	topic, source := c.Output.ClustersTopic, c.Source()
	if !c.Assigns() || e.topics[topic].Err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begins, err := e.admin.ListStartOffsets(ctx, topic)
	ends, endErr := e.admin.ListEndOffsets(ctx, topic)
	if err != nil || endErr != nil || begins.Error() != nil || ends.Error() != nil {
		return // what rights are missing is said elsewhere
	}
	last, whole := e.checkpoints(ctx, begins, ends)
	// An instance that runs commits them together with a checkpoint: these are not behind it.
	stable := kadm.RequireStable(ctx)
	committed, err := e.admin.FetchOffsetsForTopics(stable, source.Group, source.Topic)
	if err != nil || committed.Error() != nil {
		return
	}
	label := "topic " + topic
	accept := "if that is meant: clusterd state accept -c FILE --topic " + topic
	if read := farthest(committed); read != "" && len(last) == 0 && whole {
		e.fail(label, "correct output.clusters_topic, or "+startAnew+"; "+accept,
			"group %s has read %s, and it has no checkpoint of the group: clusterd does not start",
			source.Group, read)
	}
	for _, key := range slices.Sorted(maps.Keys(last)) {
		one := last[key]
		for p, was := range one.Begins {
			if now, ok := begins.Lookup(topic, p); ok && now.Offset > was {
				e.fail(label, "restore it, or "+startAnew+"; "+accept, "partition %d began at "+
					"offset %d and begins at %d: records of clusters were deleted, and clusterd does not start",
					p, was, now.Offset)
			}
		}
		e.checkIDs(&one)
		if e.sameSettings(label, &one) {
			e.checkCommitted(source, &one, committed)
		}
	}
	e.checkInput(ctx, source, committed)
}

// checkIDs looks whether topics are the same that they were at a checkpoint, and not others of the
// same name.
func (e *examination) checkIDs(last *noted) {
	for _, topic := range slices.Sorted(maps.Keys(last.IDs)) {
		id := e.topics[topic].ID
		is, was := base64.RawURLEncoding.EncodeToString(id[:]), last.IDs[topic]
		if id == (kadm.TopicID{}) || is == was {
			continue
		}
		anew := startAnew
		if topic == e.config.Labels.Topic {
			anew = "stop all instances and run clusterd state accept -c FILE --topic " + topic +
				" --from-beginning"
		}
		e.fail("topic "+topic, anew+"; if it has the same records at the same offsets: clusterd state "+
			"accept -c FILE --topic "+topic, "it was deleted and created again: its id was %s and is %s, "+
			"and clusterd does not start", was, is)
	}
}

// farthest names a partition of which something was read, empty if there is no such partition.
func farthest(committed kadm.OffsetResponses) (read string) {
	committed.Each(func(o kadm.OffsetResponse) {
		if o.At > 0 {
			read = fmt.Sprintf("%s/%d up to offset %d", o.Topic, o.Partition, o.At)
		}
	})
	return read
}

// checkpoints returns the newest checkpoints among the last records of the clusters topic, by their
// keys. It also reports whether all records were read.
func (e *examination) checkpoints(
	ctx context.Context, begins, ends kadm.ListedOffsets,
) (last map[string]noted, whole bool) {
	last = make(map[string]noted)
	whole = e.readTail(ctx, e.config.Output.ClustersTopic, begins, ends, func(r *kgo.Record) {
		var c noted
		if strings.HasPrefix(string(r.Key), "checkpoint:") && r.Value != nil &&
			json.Unmarshal(r.Value, &c) == nil {
			last[string(r.Key)] = c
		}
	})
	return last, whole
}
