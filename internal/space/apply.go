package space

import (
	"context"
	"iter"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/state"
)

// A Change is what became of a cluster elsewhere.
type Change struct {
	cluster.Cluster
	Stored  bool // it is in the store
	Removed bool
	Erased  bool // text of it, or a contact, that is in the store is gone
	Joined  int  // how many articles have joined it since what is in the store
}

// Apply takes over what was committed elsewhere, in the store, and in the index if that is loaded.
// No batch may be in hand.
func (s *Space) Apply(
	changes iter.Seq[*Change], m state.Meta, others ...state.Change,
) error {
	var put, gone []cluster.Cluster
	var joined []int
	var erased []uint64
	for c := range changes {
		switch {
		case !c.Removed:
			put, joined = append(put, c.Cluster), append(joined, c.Joined)
			if c.Erased {
				erased = append(erased, c.Seq)
			}
		case c.Stored:
			gone = append(gone, c.Cluster)
		}
	}
	if err := s.store.Erasing(erased...); err != nil {
		return err
	}
	if err := s.store.Apply(put, gone, m, others...); err != nil || !s.loaded {
		return err
	}
	if err := s.stories.apply(state.StoriesOf(others), m.StreamTime); err != nil {
		return err
	}
	var founded, removed []singlepass.Centre
	reached := make(map[string]int64)
	for i := range put {
		reach(reached, &put[i])
		s.rule.Lower(put[i].Seq, put[i].SeenAs())
	}
	for c := range changes {
		switch {
		case c.Stored && c.Removed:
			removed = append(removed, c.Centre)
		case !c.Stored && !c.Removed:
			founded = append(founded, c.Centre)
		}
	}
	s.publish(singlepass.Commit{Founded: founded, Removed: removed, Reached: reached})
	s.members.resume()
	s.guards.resume()
	s.tell(Changes{put, joined, gone, m.StreamTime})
	s.scrub()
	return nil
}

// Rebuild takes over what was committed elsewhere, as Apply does, in a store that is being rebuilt
// and before the index is loaded: clusters that are not stored are written much faster.
func (s *Space) Rebuild(
	ctx context.Context, changes iter.Seq[*Change], m state.Meta, others ...state.Change,
) error {
	var added []*cluster.Cluster
	var put, gone []cluster.Cluster
	var erased []uint64
	for c := range changes {
		if c.Erased {
			erased = append(erased, c.Seq)
		}
		switch {
		case !c.Removed && !c.Stored:
			added = append(added, &c.Cluster)
		case !c.Removed:
			put = append(put, c.Cluster)
		case c.Stored:
			gone = append(gone, c.Cluster)
		}
	}
	if err := s.store.Erasing(erased...); err != nil {
		return err
	}
	if err := s.store.Add(ctx, added, &m); err != nil {
		return err
	}
	return s.store.Apply(put, gone, m, others...)
}
