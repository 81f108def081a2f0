package replica

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/kafka"
)

const (
	// StartAnew is what to do where the clusters topic does not go with what there is, for errors.
	StartAnew = "start anew with another input.group and another output.clusters_topic"
	otherWay  = "Set it back, or " + StartAnew
)

func (r *Replica) decodeCheckpoint(record kafka.Record) (*article.Checkpoint, error) {
	c, err := article.ParseCheckpoint(record.Value)
	if err == nil {
		err = r.possible(&c, record)
	}
	if err != nil {
		return nil, notOurs("%w", err)
	}
	return &c, r.sameSettings(&c)
}

// possible returns an error for a checkpoint that no clusterd can have written here.
func (r *Replica) possible(c *article.Checkpoint, record kafka.Record) error {
	partition, err := 0, error(nil)
	if c.Space != "all" {
		partition, err = strconv.Atoi(c.Space)
	}
	switch {
	case err != nil || partition < 0 || (c.Space == "all") != (c.Scope == "topic"):
		return fmt.Errorf("space %.80q with scope %.80q", c.Space, c.Scope)
	case c.Key() != string(record.Key):
		return fmt.Errorf("its key is that of another group or space than %.80q", c.Key())
	case partition%r.modulus != record.Partition:
		return fmt.Errorf("that of space %s belongs into partition %d", c.Space, partition%r.modulus)
	case c.NextPosition > maxNextPosition:
		return fmt.Errorf("next_position %d", c.NextPosition)
	case c.StreamTime < 0:
		return fmt.Errorf("stream_time %d", c.StreamTime)
	}
	for p, offset := range c.Offsets {
		if p < 0 || offset < 0 || offset > 1<<62 || c.Space != "all" && p != partition {
			return fmt.Errorf("offset %d of partition %d", offset, p)
		}
	}
	return plausible(c.StreamTime, record)
}

// sameSettings returns an error for a checkpoint by other settings than these. It may be that of
// another space.
func (r *Replica) sameSettings(c *article.Checkpoint) error {
	now := &r.Options.Space
	var changed []string
	for _, s := range []struct{ name, was, is string }{
		{"input.topic", c.Input, now.Input},
		{"input.group", c.Group, now.Group},
		{"cluster.scope", c.Scope, now.Scope},
		{"cluster.window", c.Window, now.Window},
	} {
		if s.was != s.is {
			changed = append(changed, fmt.Sprintf("%s was %.80q and is %s", s.name, s.was, s.is))
		}
	}
	if c.Pipeline != now.Pipeline {
		changed = append(changed, difference(c.Pipeline, now.Pipeline))
	} else if c.Threshold != now.Threshold {
		changed = append(changed, "cluster."+strings.ReplaceAll(difference(c.Threshold, now.Threshold), ", ", ", cluster."))
	}
	switch {
	case changed == nil:
		return nil
	case c.Group != now.Group:
		return fmt.Errorf("its clusters are those of group %.80q, and this is group %s (%s). Two groups that write the same clusters would spoil them "+
			"for each other: nothing was read. Give this one an output.clusters_topic and an output.topic of its own, or set input.group back",
			c.Group, now.Group, strings.Join(changed, ", "))
	default:
		return fmt.Errorf("its clusters were made by other settings: %s. Clusters of both kinds would not fit together: nothing was read. %s",
			strings.Join(changed, ", "), otherWay)
	}
}

// difference says in which parts two identities differ.
func difference(was, is string) string {
	now := make(map[string]string)
	for _, part := range strings.Split(is, ",") {
		name, value, _ := strings.Cut(part, "=")
		now[name] = value
	}
	var parts []string
	before := strings.Split(was, ",")
	for _, part := range before {
		name, value, _ := strings.Cut(part, "=")
		if now[name] != value {
			parts = append(parts, fmt.Sprintf("%s was %s and is %s", name, value, now[name]))
		}
	}
	if parts == nil || len(before) != len(now) {
		return fmt.Sprintf("it was %q and is %q", was, is)
	}
	return strings.Join(parts, ", ")
}
