package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/clusterd/clusterd/internal/config"
)

// sameSettings looks whether the clusters were made by the settings of the configuration, as far as
// these are no matter of the method.
func (e *examination) sameSettings(label string, was *noted) bool {
	c := &e.config
	if was.Group != c.Input.Group {
		e.fail(label, "give this group an output.clusters_topic and an output.topic of its own, or set "+
			"input.group back", "its clusters are those of group %.80q, and this is group %s: clusterd "+
			"does not start", was.Group, c.Input.Group)
		return false
	}
	same := true
	for _, s := range []struct{ name, was, is string }{
		{"input.topic", was.Input, c.Input.Topic},
		{"cluster.scope", was.Scope, c.Cluster.Scope},
		{"cluster.scope_field", was.ScopeField, c.Cluster.ScopeField},
		{"cluster.window", was.Window, c.Cluster.Window.String()},
	} {
		if s.was != s.is {
			same = false
			e.fail(label, "set it back, or "+startAnew, "its clusters were made by other settings: %s was "+
				"%.80q and is %s: clusterd does not start", s.name, s.was, s.is)
		}
	}
	return same
}

// checkCommitted looks whether the offsets of the group are behind the clusters that were made:
// clusterd would count articles twice.
func (e *examination) checkCommitted(
	source config.Source, last *noted, committed kadm.OffsetResponses,
) {
	reached := last.Offsets
	if e.config.Role == config.AssignOnly {
		if last.Fingerprints == nil || last.Fingerprints.Topic != source.Topic {
			return
		}
		reached = last.Fingerprints.Offsets
	}
	for _, p := range slices.Sorted(maps.Keys(reached)) {
		where := "has no offset"
		if o, ok := committed.Lookup(source.Topic, p); ok && o.At >= reached[p] {
			continue
		} else if ok && o.At >= 0 {
			where = fmt.Sprintf("is at offset %d", o.At)
		}
		e.fail("group "+source.Group, fmt.Sprintf("if the topic was deleted and created again, %s; else "+
			"put it back while no instance runs: kafka-consumer-groups --bootstrap-server %s --group %s "+
			"--topic %s:%d --reset-offsets --to-offset %d --execute", startAnew,
			strings.Join(e.config.Kafka.Brokers, ","), source.Group, source.Topic, p, reached[p]),
			"it %s of %s/%d, of which it has made clusters up to offset %d: clusterd does not start",
			where, source.Topic, p, reached[p])
	}
}

// checkInput looks whether the next records that the group wants are there.
func (e *examination) checkInput(
	ctx context.Context, source config.Source, committed kadm.OffsetResponses,
) {
	begins, err := e.admin.ListStartOffsets(ctx, source.Topic)
	ends, endErr := e.admin.ListEndOffsets(ctx, source.Topic)
	if err != nil || endErr != nil {
		return // what rights are missing is said elsewhere
	}
	for _, o := range committed.Sorted() {
		begin, ok := begins.Lookup(o.Topic, o.Partition)
		end, alsoOK := ends.Lookup(o.Topic, o.Partition)
		if !ok || !alsoOK || o.At < 0 || begin.Err != nil || end.Err != nil ||
			o.At >= begin.Offset && o.At <= end.Offset {
			continue
		}
		e.fail("group "+source.Group, fmt.Sprintf("if the topic was deleted and created again, %s; else "+
			"go on with the first record that is there, while no instance runs: kafka-consumer-groups "+
			"--bootstrap-server %s --group %s --topic %s:%d --reset-offsets --to-earliest --execute",
			startAnew, e.servers(), source.Group, o.Topic, o.Partition), "%s/%d holds offsets %d to %d, "+
			"and the group wants %d: records were deleted before they were read, or the offset was set "+
			"beyond the end, or the topic was deleted and created again; clusterd does not read on",
			o.Topic, o.Partition, begin.Offset, end.Offset, o.At)
	}
}
