package labels

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// Found gives a cluster that an article founds at a position the labels of its contacts. If an
// earlier version wrote its result, its contacts are vague: that version may have found other ones.
func (s *Space) Found(position int64, a *model.Article, earlier bool) error {
	if !s.rule.Marks || position >= s.position || len(s.reasons) > 0 {
		return nil
	}
	if !a.Fingerprint.Known {
		s.unsure = true
		return nil
	}
	contacts, err := s.contactsOf(a.Fingerprint)
	if err != nil {
		return err
	}
	off := s.off(position)
	for _, c := range contacts {
		h := s.ready(contactKey{a.Space, c}, position)
		h.holders = append(h.holders, a.Source)
		if earlier || position < s.exact {
			s.blur(h, math.MaxInt64)
		}
		if h.vague != certain {
			s.state(a.Source).loose = true
			h.vague = max(h.vague, s.through(position))
			continue
		}
		for i := range h.marks {
			if off != nil {
				break // of one that is not sure, marks are not certain
			}
			s.use(h, &h.marks[i], a.Source, use{seq: position, position: position, reach: h.marks[i].reach})
		}
		s.settle(h)
	}
	return nil
}

// contactsOf returns digests of the contacts of a fingerprint, in their order.
func (s *Space) contactsOf(f model.Fingerprint) ([]uint64, error) {
	if f.Contacts == (model.Blob{}) {
		return nil, nil
	}
	return s.rule.Contacts(f.Contacts)
}

// A use is a cluster that a mark labels.
type use struct{ seq, position, reach int64 }

// use gives a cluster the label of a mark, unless it has the label or the mark may not label it.
func (s *Space) use(h *contact, m *mark, founder wire.Address, u use) bool {
	if !m.mayLabel(h.contact) {
		return false
	}
	st := s.state(founder)
	if has(st.entries, m.name, m.trial) >= 0 || len(st.entries) >= wire.MaxLabels {
		return false
	}
	m.used++
	m.last = u.seq
	st.entries = append(slices.Clone(st.entries), m.entry(h.contact, u.position, u.reach))
	return true
}

// click has a label that somebody put on a cluster mark the contacts of the founder.
func (s *Space) click(it *item, number int, position int64) error {
	c := s.model.Cluster(number)
	contacts, err := s.contactsOf(c.Fingerprint)
	if err != nil || !s.rule.Marks || s.allow[it.Name] || position < s.upgraded || len(contacts) == 0 {
		return err
	}
	said, known := s.marked[it.at]
	founder, space, seq := c.Founder, c.Space, c.Seq
	var marked, rare []uint64
	for _, contact := range s.unerased(c, contacts) {
		h := s.ready(contactKey{space, contact}, position)
		s.touch(h, it, position)
		if s.isFull(h, it) {
			continue
		}
		m := s.mark(h, it.Name, it.Trial)
		n, sure := s.unlabelled(h)
		isCommon := n >= common && (int64(n) > m.clicks || m.hams > 0)
		if known && (h.vague != certain || !sure) {
			isCommon = !slices.Contains(said, contact)
		}
		if !sure { // nor is it, whether few have it
			s.blur(h, position)
		}
		if isCommon {
			m.clicks, m.last = m.clicks+1, seq
			s.settle(h)
			continue
		}
		m.click(it, wire.Vote/int64(len(contacts)), seq)
		marked = append(marked, contact)
		if n < common {
			rare = append(rare, contact)
		} else {
			s.settle(h)
		}
	}
	if known && !slices.Equal(said, marked) {
		s.applied.Violate(s.address(it),
			fmt.Sprintf("its label to mark %d contacts of the founder, of %d", len(marked), len(contacts)),
			fmt.Sprintf("it marks %d, or others", len(said)))
	}
	st := s.state(founder)
	st.entries = slices.Clone(st.entries)
	st.entries[has(st.entries, it.Name, it.Trial)].marked = marked
	for _, contact := range rare {
		if err := s.gain(it, contactKey{space, contact}, position); err != nil {
			return err
		}
	}
	return nil
}

// unlabelled returns how many live clusters that have a contact carry no label at all, and whether
// that is sure.
func (s *Space) unlabelled(h *contact) (n int, sure bool) {
	sure = true
	h.holders = slices.DeleteFunc(h.holders, func(f wire.Address) bool { return !s.mayLive(f) })
	for _, founder := range h.holders {
		st := s.states[founder]
		sure = sure && !s.isLoose(founder)
		if st == nil || len(st.entries) == 0 {
			n++
		}
	}
	return n, sure && !s.unsure
}

// gain labels the clusters of a contact that have no label by its marks, the oldest first.
func (s *Space) gain(it *item, key contactKey, position int64) error {
	h := s.contact(key)
	if h.vague != certain {
		s.blur(h, position)
		return nil
	}
	for _, founder := range h.holders {
		if st := s.states[founder]; st != nil && len(st.entries) > 0 || !s.live(founder) {
			continue
		}
		may := slices.ContainsFunc(h.marks, func(m mark) bool { return m.mayLabel(key.contact) })
		if !may {
			break
		}
		err := s.relabel(it, founder, position, func(seq int64) {
			for i := range h.marks {
				s.use(h, &h.marks[i], founder, use{seq: seq, position: position})
			}
		})
		if err != nil {
			return err
		}
	}
	s.settle(h)
	return nil
}

// lose takes off clusters the labels of marks of a contact that no longer count.
func (s *Space) lose(it *item, key contactKey, position int64) error {
	h := s.contact(key)
	h.drop()
	s.settle(h)
	if h.vague != certain {
		s.blur(h, position)
		return nil
	}
	for _, founder := range slices.Clone(h.holders) {
		st := s.states[founder]
		if st == nil || !s.live(founder) || !slices.ContainsFunc(st.entries, h.freed) {
			continue
		}
		var failed error
		err := s.relabel(it, founder, position, func(seq int64) {
			failed = s.free(h, founder, seq, position)
		})
		if err = cmp.Or(err, failed); err != nil {
			return err
		}
	}
	return nil
}

// freed reports whether a label is by the contact, and its mark counts no more.
func (h *contact) freed(e label) bool {
	if e.contact != h.contact {
		return false
	}
	i := h.find(e.name, e.trial)
	return i < 0 || !h.marks[i].counts(h.contact)
}

// free takes such labels off a cluster. Another contact of its founder that may label takes over.
func (s *Space) free(h *contact, founder wire.Address, seq, position int64) error {
	number, _ := s.model.Number(founder)
	c := s.model.Cluster(number)
	contacts, err := s.contactsOf(c.Fingerprint)
	if err != nil {
		return err
	}
	contacts = s.unerased(c, contacts)
	st := s.state(founder)
	for _, e := range slices.Clone(st.entries) {
		if !h.freed(e) {
			continue
		}
		st.entries = slices.DeleteFunc(slices.Clone(st.entries),
			func(other label) bool { return other.name == e.name && other.trial == e.trial })
		for _, contact := range contacts {
			other := s.ready(contactKey{h.space, contact}, position)
			if other.vague != certain {
				st.loose = true
				break
			}
			i := other.find(e.name, e.trial)
			if i < 0 {
				continue
			}
			other.marks = slices.Clone(other.marks)
			if s.use(other, &other.marks[i], founder, use{seq, position, e.reach}) {
				s.settle(other)
				break
			}
		}
	}
	return nil
}

// relabel does something to the labels of a cluster because of a contact, and holds the corrections
// of that to the members.
func (s *Space) relabel(it *item, founder wire.Address, position int64, do func(seq int64)) error {
	number, _ := s.model.Number(founder)
	c, st := s.model.Cluster(number), s.state(founder)
	if s.isLoose(founder) {
		contacts, err := s.contactsOf(c.Fingerprint)
		for _, contact := range contacts {
			s.blur(s.contact(contactKey{c.Space, contact}), position)
		}
		return err
	}
	was := st.entries
	do(c.Seq)
	s.keep(c, st)
	s.changed(st)
	return s.checkTold(it, c, was, position, st)
}

// drop forgets marks without votes and hams.
func (h *contact) drop() {
	h.marks = slices.DeleteFunc(slices.Clone(h.marks),
		func(m mark) bool { return m.votes <= 0 && m.hams == 0 && m.clicks <= 0 })
}

// unclick takes back what a label that was taken off a cluster has marked.
func (s *Space) unclick(it *item, number int, e label, position int64) error {
	c := s.model.Cluster(number)
	contacts, err := s.contactsOf(c.Fingerprint)
	if err != nil {
		return err
	}
	space, marked := c.Space, s.unerased(c, e.marked)
	for _, contact := range s.unerased(c, contacts) {
		key := contactKey{space, contact}
		h := s.ready(key, position)
		s.touch(h, it, position)
		if i := h.find(e.name, e.trial); i >= 0 {
			votes := map[bool]int64{true: wire.Vote / int64(len(contacts))}
			h.marks = slices.Clone(h.marks)
			h.marks[i].unclick(e.at, votes[slices.Contains(e.marked, contact)])
			h.drop()
			s.settle(h)
		}
	}
	for _, contact := range marked {
		if err := s.lose(it, contactKey{space, contact}, position); err != nil {
			return err
		}
	}
	return nil
}

// onContact applies a label record that is about a contact.
func (s *Space) onContact(it *item, position int64) error {
	key := contactKey{it.Value, it.Contact}
	h := s.ready(key, position)
	s.touch(h, it, position)
	if it.Kind == erasing {
		s.eraseContact(it, h, position)
		return nil
	}
	isAllowed := s.allow[it.Name]
	want := notDead
	unlabelled, sure := s.unlabelled(h)
	if !sure && !isAllowed && it.Kind == add {
		s.blur(h, position)
	}
	if len(h.marks) == 0 && (isAllowed || it.Kind == remove || unlabelled == 0) {
		want = unknownContact
	}
	if it.Dead != want && h.vague == certain {
		s.violateClass(it, deadClasses()[want])
	}
	if it.Dead != notDead || want != notDead && h.vague == certain {
		return nil
	}
	h.marks = slices.Clone(h.marks)
	switch {
	case isAllowed:
		for i := range h.marks {
			if m := &h.marks[i]; !s.allow[m.name] && it.Kind == add {
				m.hams++
			} else if !s.allow[m.name] {
				m.hams = max(0, m.hams-1)
			}
		}
		return s.lose(it, key, position)
	case it.Kind == remove:
		h.marks = slices.DeleteFunc(h.marks,
			func(m mark) bool { return m.name == it.Name && m.trial == it.Trial })
		return s.lose(it, key, position)
	case !s.isFull(h, it):
		last := s.lastOf(h)
		m := s.mark(h, it.Name, it.Trial)
		m.click(it, wire.Vote, last)
		m.reach = max(m.reach, m.used+int64(unlabelled)+firstReach)
		return s.gain(it, key, position)
	}
	return nil
}

// isFull reports whether a contact has as many marks as it may have, and not the one of a label
// record.
func (s *Space) isFull(h *contact, it *item) bool {
	return h.vague == certain && len(h.marks) >= wire.MaxMarks && h.find(it.Name, it.Trial) < 0
}

// lastOf returns the seq of the youngest cluster that has a contact: of the live ones without
// labels, and of those for which its marks live.
func (s *Space) lastOf(h *contact) (last int64) {
	for _, founder := range h.holders {
		st := s.states[founder]
		if s.live(founder) && (st == nil || len(st.entries) == 0) {
			number, _ := s.model.Number(founder)
			last = max(last, s.model.Cluster(number).Seq)
		}
	}
	for _, m := range h.marks {
		last = max(last, m.last)
	}
	return last
}

// live reports whether a cluster lives.
func (s *Space) live(founder wire.Address) bool {
	number, ok := s.model.Number(founder)
	return ok && !s.model.Expired(number)
}

// mayLive does so, and counts one that the model does not have yet.
func (s *Space) mayLive(founder wire.Address) bool {
	number, ok := s.model.Number(founder)
	return !ok || !s.model.Expired(number)
}
