package space

import (
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/cluster"
)

// erase removes the text that is kept of an article. Only the text of a founder is kept: in the
// record of the cluster, and in the headlines and terms of stories. A cluster that has expired is
// erased, too, as long as it is there. Stories may have its text for longer.
func (s *Space) erase(r *article.LabelRecord, out *Batch) (changed bool, why *article.Rejection) {
	m := s.kept(r.Cluster)
	if r.Source != r.Cluster {
		if m == nil {
			why = unknownCluster(r.Cluster)
		}
		return false, why
	}
	inStories := s.stories.erase(r.Cluster.String(), m, s.rule.State().Next)
	if m == nil {
		if inStories {
			out.erased = append(out.erased, 0) // for the sake of the stories: any cluster will do
			return true, nil
		}
		return false, unknownCluster(r.Cluster)
	}
	changed = m.EraseText()
	m.touched = m.touched || changed
	if changed = changed || inStories; changed {
		out.erased = append(out.erased, m.Seq)
	}
	return changed, nil
}

// kept returns the cluster of a founder, nil where it is not there. It may have expired.
func (s *Space) kept(founder article.Address) *member {
	c, ok, err := s.store.Find(founder)
	if err != nil && s.err == nil {
		s.err = err
	}
	if err != nil || !ok {
		return nil
	}
	if before := s.before(c.Seq); before != nil && before.expired {
		return nil
	}
	return s.member(c.Seq)
}

// erase removes the text of the founder of a cluster with this id from stories. It looks at all of
// them: a headline stays where its cluster has expired, or has left.
func (t *stories) erase(id string, m *member, position uint64) bool {
	if t == nil {
		return false
	}
	ids := make(map[string]bool)
	look := func(s *cluster.Story) error {
		if s.Headline.Cluster == id || s.OwnHeadline.Cluster == id {
			ids[s.Address] = true
		}
		return nil
	}
	if err := t.store.EachStory(look); err != nil && t.err == nil {
		t.err = err
	}
	for i := range t.ahead {
		for _, s := range t.ahead[i].stories {
			_ = look(s) // it has no error
		}
	}
	for _, s := range t.batch {
		_ = look(s)
	}
	if m != nil && m.Story != "" {
		ids[m.Story] = true
	}
	delete(ids, "")
	return t.book.Erase(id, slices.Sorted(maps.Keys(ids)), position)
}
