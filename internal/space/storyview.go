package space

import (
	"context"
	"slices"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/story"
)

// Story returns the story with this id, and whether there is one that has not expired. That may be
// part of another.
func (v *View) Story(id string) (cluster.Story, bool, error) {
	s, ok, err := v.snapshot.Story(id)
	if err != nil || !ok || s.Seq >= v.state.Next ||
		v.stories > 0 && s.LastSeen < v.state.StreamTime-v.stories {
		return cluster.Story{}, false, err
	}
	return s, true, nil
}

// Living returns the story that the one with this id is part of by now, or that itself, and whether
// there is one.
func (v *View) Living(id string) (s cluster.Story, ok bool, err error) {
	all, err := v.Wholes(id)
	if len(all) == 0 {
		return cluster.Story{}, false, err
	}
	return all[len(all)-1], true, nil
}

// Wholes returns the story with this id, or the other story if the rule made it part of another,
// and then the stories that somebody made that part of, the living story last. It returns none if
// there is no such story.
func (v *View) Wholes(id string) (all []cluster.Story, err error) {
	for {
		s, ok, err := v.Story(id)
		if err != nil || !ok {
			return nil, err
		}
		if s.Into == "" || s.Apart {
			all = append(all, s)
		}
		if s.Into == "" {
			return all, nil
		}
		id = s.Into
	}
}

// Stories hands on each story, those that are part of others included, until ctx ends or each
// fails.
func (v *View) Stories(ctx context.Context, each func(*cluster.Story) error) error {
	return v.snapshot.Stories(ctx, func(s *cluster.Story) error {
		if s.Seq >= v.state.Next {
			return nil
		}
		return each(s)
	})
}

// ClustersOf returns the clusters of a story that have not expired, and those of all stories that
// are part of it, in founding order, from a seq on, at most so many.
func (v *View) ClustersOf(id string, from uint64, limit int) (found []cluster.Cluster, err error) {
	ids := []string{id}
	for i := 0; i < len(ids); i++ {
		part, err := v.snapshot.ClustersOf(ids[i], from, limit)
		if err != nil {
			return nil, err
		}
		merged, err := v.snapshot.MergedInto(ids[i])
		if err != nil {
			return nil, err
		}
		found, ids = append(found, part...), append(ids, merged...)
	}
	found = slices.DeleteFunc(found, func(c cluster.Cluster) bool {
		return c.Seq >= v.state.Next || v.window.Expired(c.SeenAs(), v.streamTime(&c))
	})
	slices.SortFunc(found, cluster.ByAge)
	return found[:min(limit, len(found))], nil
}

// CheckStory says which story a cluster would join that an article founded now, and false where it
// would found one, or stories are off. It sees batches that are not committed yet. It may be called
// by any goroutine.
func (s *Space) CheckStory(a *fingerprint.Article) (story.Decision, bool) {
	if s.stories == nil {
		return story.Decision{}, false
	}
	said := s.stories.wordsOf(a)
	return s.stories.rule.Find(story.Article{
		Words: said.Vector, Han: said.Han,
	})
}
