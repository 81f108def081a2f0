package labels

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/audit/model"
)

// checkTold holds the corrections of a label record to the members of a cluster before its
// position: the record's own, or another one that it has changed by a contact.
func (s *Space) checkTold(
	it *item, c *model.Cluster, before, after carried, position int64, st *state,
) error {
	if s.rule.Corrections == "" || s.isLoose(c.Founder) {
		return nil
	}
	t := s.spread[spreadKey{it.at, c.Founder}]
	if it.Target != ofContact && it.Cluster == c.Founder {
		var err error
		if t, _, err = s.traces.Get(it.at.Partition, it.at.Offset); err != nil {
			return err
		}
	}
	if before.labels == after.labels {
		if t.Count > 0 {
			s.told.Violate(t.First.In(s.rule.Corrections), fmt.Sprintf("no correction: %s changes nothing "+
				"of what its cluster carries at position %d", s.address(it), position), "a correction")
		}
		return nil
	}
	size, members, most := c.Size, c.Members, c.Size
	p := s.pending[pendingKey{it.at, c.Founder}]
	if p != nil {
		size, members = p.size, p.members
	}
	want := fmt.Sprintf("a correction for each of the %d members of %s before position %d", size,
		c.Founder.In(s.rule.Input), position)
	switch {
	case t.Count < size, t.Count > most, t.Count > size && p == nil:
		s.told.Violate(s.address(it), want, fmt.Sprintf("%d corrections", t.Count))
	case t.Count == size && t.Members != members:
		s.told.Violate(s.address(it), want, "as many, of other members")
	}
	if t.Plain > 0 && t.Labels != after.labels {
		s.told.Violate(t.First.In(s.rule.Corrections), s.describe(after.labels), s.describe(t.Labels))
	}
	s.checkExcepted(it, c, st)
	return nil
}

// checkExcepted holds the corrections of members that have exceptions to these.
func (s *Space) checkExcepted(it *item, c *model.Cluster, st *state) {
	for _, m := range s.members[it.at] {
		if m.cluster != c.Founder {
			continue
		}
		want := s.carried(st.of(m.print), c.Size)
		if m.labels != want.labels {
			s.told.Violate(m.at.In(s.rule.Corrections), s.describe(want.labels), s.describe(m.labels))
		}
	}
}

// noteTold notes the members of which corrections were written, where those are not all.
func (s *Space) noteTold(position int64) {
	for _, key := range s.tellings[position] {
		p := s.pending[key]
		if number, exists := s.model.Number(key.cluster); exists {
			p.size, p.members = s.model.Cluster(number).Size, s.model.Cluster(number).Members
		}
	}
}
