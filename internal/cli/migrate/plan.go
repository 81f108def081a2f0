package migrate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
)

// numbered is the name of a group that ends in the number of the migration that made it.
var numbered = regexp.MustCompile(`^(.*)-(\d+)$`)

// NextGroup returns a name for the group of the second space.
func NextGroup(group string) string {
	if parts := numbered.FindStringSubmatch(group); parts != nil {
		if n, err := strconv.Atoi(parts[2]); err == nil {
			return parts[1] + "-" + strconv.Itoa(n+1)
		}
	}
	return group + "-2"
}

// own returns a name like that of another space, for the space of a group.
func own(name string, old *config.Config, group string) string {
	return strings.TrimSuffix(name, "-"+old.Input.Group) + "-" + group
}

// apart are the settings with which a space works beside another one: all that an instance has, or
// writes, of its own.
func apart(c *config.Config, group string) []string {
	set := []string{
		"input.group=" + group,
		"output.topic=" + own(c.Output.Topic, c, group),
		"output.clusters_topic=" + own(c.Output.ClustersTopic, c, group),
		"output.dead_letter_topic=" + own(c.Output.DeadLetterTopic, c, group),
		"state.dir=" + own(c.State.Dir, c, group),
	}
	if c.Labels.Topic != "" {
		set = append(set, "labels.topic="+own(c.Labels.Topic, c, group))
	}
	if c.Labels.Corrections != "" {
		set = append(set, "labels.corrections="+own(c.Labels.Corrections, c, group))
	}
	if c.Stories.Topic != "" {
		set = append(set, "stories.topic="+own(c.Stories.Topic, c, group))
	}
	host, port, err := net.SplitHostPort(c.HTTP.Listen)
	if n, err2 := strconv.Atoi(port); err == nil && err2 == nil && n > 0 {
		set = append(set, "http.listen="+net.JoinHostPort(host, strconv.Itoa(n+1)))
	}
	return set
}

// Plan writes the configuration of the second space to a file, and returns it: that of the first
// with everything of its own another, and then with these settings, each KEY=VALUE.
func Plan(old beside.Space, group string, set []string, file string) (config.Config, error) {
	if group == "" {
		group = NextGroup(old.Input.Group)
	}
	text, c, err := edit(old.File, file, append(apart(&old.Config, group), set...))
	if err != nil {
		return c, err
	}
	next := beside.Two{Old: old, New: beside.Space{Config: c, File: file}}
	if err := next.Check(); err != nil {
		return c, err
	}
	return c, replace(file, text, old.File)
}

// StartAt lets the new space begin at the first articles that were written at a time or later,
// where it has no offsets yet. These must not be behind what the old one has read, or articles
// between the two would have no result after the switch.
func StartAt(ctx context.Context, t beside.Two, at time.Time) (map[int]int64, error) {
	topic := t.New.Input.Topic
	if n, err := t.New.Members(ctx); err != nil || n > 0 {
		return nil, errors.Join(err, started(n, t.New.Input.Group))
	}
	commits, err := t.New.Commits(ctx, topic)
	if err != nil {
		return nil, err
	}
	if len(commits) > 0 {
		return nil, fmt.Errorf("group %s has offsets already: --from is for a group that has not begun",
			t.New.Input.Group)
	}
	read, err := t.Old.Commits(ctx, topic)
	if err != nil {
		return nil, err
	}
	from, err := t.New.At(ctx, topic, at)
	if err != nil {
		return nil, err
	}
	ids, owned, err := t.New.Owned(ctx)
	if err != nil {
		return nil, err
	}
	first, _, err := t.New.Offsets(ctx, topic)
	if err != nil {
		return nil, err
	}
	for p, offset := range from {
		from[p] = min(offset, max(first[p], read[p].Offset))
	}
	for _, id := range ids {
		p, err := t.New.Producer(ctx, id)
		if err != nil {
			return nil, err
		}
		if err := p.Fence(ctx); err != nil {
			return nil, kafka.Explain(err)
		}
		var batch sink.Batch
		for _, partition := range owned[id] {
			batch.Offsets = append(batch.Offsets,
				sink.Offset{Topic: topic, Partition: partition, Offset: from[partition]})
		}
		if _, err := p.Commit(ctx, batch); err != nil {
			return nil, kafka.Explain(err)
		}
	}
	return from, nil
}

func started(n int, group string) error {
	if n == 0 {
		return nil
	}
	return fmt.Errorf("group %s has %d members: stop them first", group, n)
}

// Back writes the configuration with which a space that has handed its results over goes on beside
// the one that has them now, from where it ended, and lets it do so. Nothing is switched.
func Back(ctx context.Context, s beside.Space, file string) (config.Config, error) {
	group := s.Input.Group
	aside := func(name string) string { // a topic may have the group in its name
		if other := own(name, &s.Config, group); other != name {
			return other
		}
		return name + "-back"
	}
	text, c, err := edit(s.File, file, []string{
		"output.topic=" + aside(s.Output.Topic),
		"output.dead_letter_topic=" + aside(s.Output.DeadLetterTopic),
	})
	if err != nil {
		return c, err
	}
	from, _, err := s.HandedOver(ctx)
	if err != nil {
		return c, err
	}
	if len(from) == 0 {
		return c, fmt.Errorf("group %s has handed nothing over, so there is no way back to it", group)
	}
	if n, err := s.Members(ctx); err != nil || n > 0 {
		return c, errors.Join(err, started(n, group))
	}
	if err := replace(file, text, s.File); err != nil {
		return c, err
	}
	return c, mark(ctx, &s, "")
}
