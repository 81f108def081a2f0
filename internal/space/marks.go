package space

import (
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
)

// contactKey is a contact of a value of a divided space.
type contactKey struct{ value, name string }

// marked is a contact that a batch looks at.
type marked struct {
	cluster.Contact
	touched bool
	dropped bool // a mark of it is dead, and was left out
}

// contact returns a contact as of the last article, with the marks that live: those of which the
// cluster that was clicked or labelled last has not expired.
func (s *Space) contact(key contactKey) *marked {
	c := s.contacts.inHand()[key]
	if c == nil {
		c = &marked{Contact: cluster.Contact{Name: key.name, Value: key.value}}
		if before, ok := s.contacts.before(key); ok {
			c.Marks = before.Marks
		} else {
			stored, _, err := s.store.Contact(key.value, key.name)
			s.fail(err)
			c.Marks = stored.Marks
		}
		s.contacts.inHand()[key] = c
	}
	if slices.ContainsFunc(c.Marks, s.dead) {
		c.Marks, c.dropped = slices.DeleteFunc(slices.Clone(c.Marks), s.dead), true
	}
	return c
}

// fail keeps an error of the store for the end of the batch.
func (s *Space) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// dead reports whether the cluster that a mark has labelled last has expired.
func (s *Space) dead(m label.Mark) bool { return s.living(m.Last) == nil }

// living returns the cluster of a seq, nil where it is not there or has expired.
func (s *Space) living(seq uint64) *member {
	m := s.look(seq)
	if m == nil || m.expired || s.rule.Expired(m.Space, m.SeenAs()) {
		return nil
	}
	return m
}

// set changes the mark of a label on a contact.
func (s *Space) set(c *marked, m label.Mark) {
	c.Marks, c.Position, c.touched = c.Marks.With(m), s.rule.State().Next, true
}

// holders returns the live clusters that stand under a contact, by what stored and is say, oldest
// first, at most a number of them.
func (s *Space) holders(
	key contactKey, limit int,
	stored func(value, contact string, each func(uint64) bool) error, is func(*member) bool,
) []*member {
	found := make(map[uint64]*member)
	offer := func(seq uint64) {
		m := s.living(seq)
		if m != nil && m.Space == key.value && m.Contacts.Has(key.name) && is(m) {
			found[seq] = m
		}
	}
	changed := func(of map[uint64]*member) {
		for seq, m := range of {
			if m.touched && m.Space == key.value && m.Contacts.Has(key.name) {
				offer(seq)
			}
		}
	}
	for _, of := range s.members.batches {
		changed(of) // offer adds to the last one, but nothing that is touched
	}
	n := 0
	s.fail(stored(key.value, key.name, func(seq uint64) bool {
		if _, ok := found[seq]; !ok {
			offer(seq)
		}
		if _, ok := found[seq]; ok {
			n++
		}
		return n < limit
	}))
	seqs := slices.Sorted(maps.Keys(found))
	all := make([]*member, 0, min(limit, len(seqs)))
	for _, seq := range seqs[:cap(all)] {
		all = append(all, found[seq])
	}
	return all
}

// unlabelled returns the oldest live clusters that have a contact and no label.
func (s *Space) unlabelled(key contactKey, limit int) []*member {
	return s.holders(key, limit, s.store.Unlabelled, func(m *member) bool { return m.Labels == "" })
}

// labelledBy returns the oldest live clusters that have a label by a contact of which the mark no
// longer counts.
func (s *Space) labelledBy(c *marked, limit int) []*member {
	key := contactKey{c.Value, c.Name}
	return s.holders(key, limit, s.store.LabelledBy, func(m *member) bool {
		return slices.ContainsFunc(m.Labels.All(), func(l article.Label) bool { return c.freed(&l) })
	})
}

// freed reports whether a label of a cluster is by this contact and the mark no longer counts.
func (c *marked) freed(l *article.Label) bool {
	m := c.Marks.Of(l.Name, l.Trial)
	return l.Contact == c.Name && !m.Counts(c.Name)
}

// click has a label that somebody has put on a cluster mark the contacts of the founder. It returns
// the label with the contacts that it has marked. A common contact gets no vote. Of the marked
// contacts few clusters have the rare ones: these clusters are to get the label, too.
func (s *Space) click(m *member, l article.Label) (clicked article.Label, rare []string) {
	l.Marked = nil
	if !s.options.Marks || slices.Contains(s.options.Labels.Allow, l.Name) {
		return l, nil
	}
	share := label.Vote / max(1, m.Contacts.Len())
	for name := range m.Contacts.All() {
		if cluster.IsErased(name) {
			continue
		}
		key := contactKey{m.Space, name}
		c := s.contact(key)
		mark := c.Marks.Of(l.Name, l.Trial)
		if mark.Empty() && len(c.Marks) == label.MaxMarks {
			continue
		}
		enough := mark.Enough()
		unlabelled := len(s.unlabelled(key, enough))
		if unlabelled >= enough {
			mark.Pass(m.Seq)
			s.set(c, mark)
			continue
		}
		mark.Click(share, &l, m.Seq)
		mark.Clicked[len(mark.Clicked)-1].ClusterID = m.id
		s.set(c, mark)
		l.Marked = append(l.Marked, name)
		if unlabelled < label.Common {
			rare = append(rare, name)
		}
	}
	return l, rare
}

// unclick takes back what the click with a label of a cluster did.
func (s *Space) unclick(m *member, l *article.Label) {
	if l.Contact != "" {
		return // it was no click
	}
	share := label.Vote / max(1, m.Contacts.Len())
	for name := range m.Contacts.All() {
		c := s.contact(contactKey{m.Space, name})
		mark := c.Marks.Of(l.Name, l.Trial)
		if mark.Empty() {
			continue
		}
		votes := 0
		if slices.Contains(l.Marked, name) {
			votes = share
		}
		mark.Unclick(votes, l)
		s.set(c, mark)
	}
}

// inherit gives a cluster that is being founded the labels of its contacts.
func (s *Space) inherit(m *member) {
	if !s.options.Marks || !s.options.Labels.On || m.Contacts == "" {
		return
	}
	for name := range m.Contacts.All() {
		c := s.contact(contactKey{m.Space, name})
		for _, mark := range c.Marks {
			s.use(m, c, mark, mark.Reach, m.Seq)
		}
	}
}

// use gives a cluster the label of a mark, unless it has it, and reports whether it did. A reach of
// 0 has all of its articles carry it.
func (s *Space) use(m *member, c *marked, mark label.Mark, reach int, position uint64) bool {
	if _, has := m.Labels.Get(mark.Name, mark.Trial); has || !mark.MayLabel(c.Name) {
		return false
	}
	l := mark.Use(c.Name, m.Seq, position)
	l.Reach = reach
	set, err := m.Labels.With(l)
	if err != nil {
		return false // it has too many
	}
	s.set(c, mark)
	s.relabel(m, set)
	return true
}

// relabel sets the labels of a cluster.
func (s *Space) relabel(m *member, set label.Set) {
	m.Labels, m.carried, m.excepted, m.touched = set, nil, nil, true
	s.keep(m)
}

// step brings clusters in step with the marks of a contact: those that have a label by a mark that
// no longer counts lose it, and after a click those without a label get those of marks that count.
// It makes at most out.room changes and reports whether that was enough.
func (s *Space) step(due *checkpoint.Due, out *Batch) (done bool) {
	key := contactKey{due.Space, due.Contact}
	if due.Erase {
		return s.forgetContact(key, due, out)
	}
	c := s.contact(key)
	for _, m := range s.labelledBy(c, out.room+1) {
		if out.room <= 0 {
			return false
		}
		s.change(m, due, out, func() { s.free(m, c) })
	}
	mayLabel := func(m label.Mark) bool { return m.MayLabel(c.Name) }
	if !due.Click || !slices.ContainsFunc(c.Marks, mayLabel) {
		return true
	}
	for _, m := range s.unlabelled(key, out.room+1) {
		if out.room <= 0 {
			return !slices.ContainsFunc(c.Marks, mayLabel)
		}
		s.change(m, due, out, func() {
			for _, mark := range c.Marks {
				s.use(m, c, mark, 0, s.rule.State().Next)
			}
		})
	}
	return true
}

// free takes off a cluster the labels of the marks of a contact that no longer count. Another
// contact of its founder that has a mark for the label takes over.
func (s *Space) free(m *member, c *marked) {
	for _, l := range m.Labels.All() {
		if !c.freed(&l) {
			continue
		}
		s.relabel(m, m.Labels.Without(l.Name, l.Trial))
		for name := range m.Contacts.All() {
			other := s.contact(contactKey{m.Space, name})
			if s.use(m, other, other.Marks.Of(l.Name, l.Trial), l.Reach, s.rule.State().Next) {
				break
			}
		}
	}
}

// change does something to the labels of a cluster because of a contact, and notes of what results
// carry then.
func (s *Space) change(m *member, due *checkpoint.Due, out *Batch, do func()) {
	allow := s.options.Labels.Allow
	before, set := m.carries(allow), m.Labels
	do()
	out.room--
	if m.carriesAsWith(set, allow) {
		return
	}
	after, action := m.carries(allow), article.RemoveLabel
	if len(after.Labels) > len(before.Labels) {
		action = article.AddLabel
	}
	out.note(m, allow, article.LabelChange{
		ClusterID: m.id, Label: due.Label, Action: action, Labels: names(*after),
		By: due.By, At: due.At, Note: due.Note, Position: s.rule.State().Next, Record: due.Record,
		Contact: due.Contact,
	})
}

// forget drops the marks that a cluster which is removed has labelled last.
func (s *Space) forget(c *cluster.Cluster) {
	if !s.options.Marks || !s.options.Labels.On {
		return
	}
	for name := range c.Contacts.All() {
		if k := s.contact(contactKey{c.Space, name}); k.dropped {
			k.touched, k.Position = true, s.rule.State().Next
		}
	}
}
