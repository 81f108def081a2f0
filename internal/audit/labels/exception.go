package labels

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/model"
)

// except applies a label record that is about an article of a live cluster. It holds for all of the
// cluster's articles that have the fingerprint, and one correction tells of it.
func (s *Space) except(it *item, number int, position int64) error {
	st, size := s.state(it.Cluster), s.model.Cluster(number).Size
	before := s.carried(st.of(it.Print), size)
	against, by := st.against(it), int64(-1)
	if it.Kind == add {
		against, by = s.doubts(it, number, st), 1
	}
	was := st.exceptions[it.Print]
	st.exceptions = maps.Clone(st.exceptions)
	if st.exceptions == nil {
		st.exceptions = make(map[uint64][]label)
	}
	now := it.change(was, position, false)
	if i := has(now, it.Name, it.Trial); i >= 0 && has(was, it.Name, it.Trial) < 0 {
		now[i].marked = against
	} else if len(now) == len(was) {
		against = nil // it is there already, or is not there
	}
	st.exceptions[it.Print] = now
	if len(st.exceptions[it.Print]) == 0 {
		delete(st.exceptions, it.Print)
	}
	s.keep(s.model.Cluster(number), st)
	s.changed(st)
	after := s.carried(st.of(it.Print), size)
	c := s.model.Cluster(number)
	for _, contact := range s.unerased(c, against) {
		if err := s.doubt(it, contactKey{c.Space, contact}, by, position); err != nil {
			return err
		}
	}
	if s.rule.Corrections == "" || s.isLoose(it.Cluster) {
		return nil
	}
	t, _, err := s.traces.Get(it.at.Partition, it.at.Offset)
	if err != nil {
		return err
	}
	pending := s.pending[pendingKey{it.at, it.Cluster}] != nil
	wanted := int64(0)
	if before.labels != after.labels {
		wanted = 1
	}
	switch {
	case t.Count > wanted, t.Count < wanted && !pending,
		t.Count == 1 && t.Members != model.Member(it.Member):
		s.told.Violate(s.address(it),
			fmt.Sprintf("%d corrections, of the article at position %d", wanted, it.Member),
			fmt.Sprintf("%d corrections, or another article", t.Count))
	case t.Count == 1 && t.Said != after.labels:
		s.told.Violate(t.First.In(s.rule.Corrections), s.describe(after.labels), s.describe(t.Said))
	}
	return nil
}

// against returns the contacts against which a label of an article counts that is to be taken off.
func (st *state) against(it *item) []uint64 {
	if i := has(st.exceptions[it.Print], it.Name, it.Trial); i >= 0 {
		return st.exceptions[it.Print][i].marked
	}
	return nil
}

// doubts returns the contacts against which a label counts that says that an article is harmless:
// those by which its cluster has labels, if no other label of its articles counts.
func (s *Space) doubts(it *item, number int, st *state) (contacts []uint64) {
	if !s.rule.Marks || it.Trial || !s.allow[it.Name] {
		return nil
	}
	for _, of := range st.exceptions {
		if slices.ContainsFunc(of, func(e label) bool { return e.marked != nil }) {
			return nil
		}
	}
	if said, known := s.marked[it.at]; known && s.isLoose(it.Cluster) {
		return said
	}
	c := s.model.Cluster(number)
	for _, e := range st.entries {
		if e.contact != 0 && !s.allow[e.name] && !slices.Contains(contacts, e.contact) {
			contacts = append(contacts, e.contact)
		}
	}
	return s.unerased(c, contacts)
}

// doubt counts a cluster against the marks of a contact, or takes it back if by is -1.
func (s *Space) doubt(it *item, key contactKey, by, position int64) error {
	h := s.ready(key, position)
	s.touch(h, it, position)
	h.marks = slices.Clone(h.marks)
	ended := false
	for i := range h.marks {
		m := &h.marks[i]
		if s.allow[m.name] {
			continue
		}
		counted := m.counts(h.contact)
		m.excepted = max(0, m.excepted+by)
		ended = ended || counted && !m.counts(h.contact)
	}
	if s.settle(h); !ended {
		return nil
	}
	return s.lose(it, key, position)
}
