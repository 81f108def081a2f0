package replica

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/space/state"
)

// decodeStory returns the story of a record, and nil for a tombstone of something else.
func (r *Replica) decodeStory(record kafka.Record, latest int64) (*cluster.Story, error) {
	position, noPosition := recordPosition(record)
	s, err := cluster.ParseStory(record.Key, record.Value, position)
	if record.Value == nil {
		if err != nil || s.Founder().Topic != r.Options.Space.Input {
			return nil, nil
		}
		return &s, nil
	}
	if err == nil {
		err = noPosition
	}
	if err == nil {
		err = s.Validate()
	}
	if err == nil && s.LastSeen > latest {
		err = inTheFuture(s.LastSeen)
	}
	founder := s.Founder()
	switch {
	case err != nil:
		return nil, fmt.Errorf(notOurs, err)
	case founder.Topic != r.Options.Space.Input:
		return nil, otherInput("story", founder.Topic, r.Options.Space.Input)
	case founder.Partition%r.modulus != record.Partition:
		return nil, misfit{fmt.Errorf("it is in another partition than its first cluster's, %d: the "+
			"number of partitions of output.clusters_topic was changed, which moves its keys. To go on, %s",
			founder.Partition, StartAnew)}
	}
	return &s, nil
}

// applyStory takes over a story as it is now, or that it is gone. Compaction may have left a
// tombstone alone, without its story.
func (c *changes) applyStory(now cluster.Story, gone bool) error {
	before, err := c.storyBefore(&now)
	if err != nil {
		return err
	}
	switch {
	case !gone:
		if before != nil {
			err = now.Follows(before)
		}
		if err != nil {
			return contradict("%s", err)
		}
		c.stories[now.Address] = &state.StoryChange{Story: now}
	case before != nil:
		c.stories[now.Address] = &state.StoryChange{Story: *before, Gone: true}
	}
	return nil
}

// storyBefore returns what is known of a story so far, nil for nothing.
func (c *changes) storyBefore(now *cluster.Story) (*cluster.Story, error) {
	if known := c.stories[now.Address]; known != nil {
		if known.Gone {
			return nil, nil
		}
		return &known.Story, nil
	}
	if r := c.rebuild; r != nil {
		if !r.stories.has(now.Founder()) {
			return nil, nil
		}
		if err := r.wait(); err != nil {
			return nil, err
		}
	}
	stored, ok, err := c.space.Story(now.Address)
	if err != nil || !ok {
		return nil, err
	}
	return &stored, nil
}

// changedStories returns what becomes of stories.
func (c *changes) changedStories() []state.StoryChange {
	all := make([]state.StoryChange, 0, len(c.stories))
	for _, id := range slices.Sorted(maps.Keys(c.stories)) {
		all = append(all, *c.stories[id])
	}
	return all
}
