package space

import (
	"iter"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
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

// eraseContact takes a contact out of marks and clusters. Their labels stay.
func (s *Space) eraseContact(r *article.LabelRecord, out *Batch) (changed bool) {
	key := contactKey{r.Space, r.Targeted.Contact}
	if c := s.contact(key); len(c.Marks) > 0 || c.dropped {
		c.Marks, c.Position, c.touched = nil, s.rule.State().Next, true
		out.erased = append(out.erased, 0) // for the sake of the contact: any cluster will do
		changed = true
	}
	due := checkpoint.Due{
		Contact: key.name, Space: key.value, Erase: true, Before: s.rule.State().Next, By: r.By, At: r.At,
		Note: r.Note, Record: r.Record,
	}
	if len(s.naming(key, due.Before, 1)) == 0 {
		return changed
	}
	out.Due = append(out.Due, due)
	return true
}

// forgetContact has clusters forget a contact, at most out.room of them, and reports whether that
// was enough.
func (s *Space) forgetContact(key contactKey, due *checkpoint.Due, out *Batch) (done bool) {
	for _, m := range s.naming(key, due.Before, out.room+1) {
		if out.room <= 0 {
			return false
		}
		m.EraseContact(key.name, cluster.Erased(due.Record))
		s.relabel(m, m.Labels)
		out.erased = append(out.erased, m.Seq)
		out.room--
	}
	return true
}

// naming returns the clusters below a seq whose founder has a contact, oldest first, at most a
// number of them. Clusters that have expired, and are still there, are among them.
func (s *Space) naming(key contactKey, before uint64, limit int) (all []*member) {
	seqs := make(map[uint64]bool)
	for _, changed := range s.members.batches {
		maps.Insert(seqs, touched(changed))
	}
	s.fail(s.store.Unlabelled(key.value, key.name, func(seq uint64) (more bool) {
		seqs[seq] = true
		return true
	}))
	v, err := s.View()
	if err != nil {
		s.fail(err)
		return nil
	}
	defer v.Release()
	for _, c := range v.Labelled() {
		seqs[c.Seq] = true
	}
	for _, seq := range slices.Sorted(maps.Keys(seqs)) {
		if seq >= before || len(all) == limit {
			break
		}
		if s.names(seq, key) {
			all = append(all, s.member(seq))
		}
	}
	return all
}

// names reports whether the founder of a cluster has a contact, unless the cluster was removed.
func (s *Space) names(seq uint64, key contactKey) bool {
	m, ok := s.members.inHand()[seq]
	if !ok {
		m, ok = s.members.before(seq)
	}
	if ok {
		return !m.expired && m.Space == key.value && m.Contacts.Has(key.name)
	}
	c, ok, err := s.store.Get(seq)
	s.fail(err)
	return ok && c.Space == key.value && c.Contacts.Has(key.name)
}

// touched hands on the seqs of the clusters that are changed.
func touched(of map[uint64]*member) iter.Seq2[uint64, bool] {
	return func(yield func(uint64, bool) bool) {
		for seq, m := range of {
			if m.touched && !yield(seq, true) {
				return
			}
		}
	}
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
	if before, ok := s.members.before(c.Seq); ok && before.expired {
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
	for _, told := range t.told.batches {
		for _, s := range told {
			_ = look(s) // it has no error
		}
	}
	if m != nil && m.Story != "" {
		ids[m.Story] = true
	}
	delete(ids, "")
	return t.book.Erase(id, slices.Sorted(maps.Keys(ids)), position)
}
