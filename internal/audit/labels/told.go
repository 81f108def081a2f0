package labels

import (
	"fmt"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/model"
)

// checkTold holds the corrections of a label record to the members of a cluster before its
// position: the record's own, or another one that it has changed by a contact.
func (s *Space) checkTold(
	it *item, c *model.Cluster, was []label, position int64, st *state,
) error {
	if s.rule.Corrections == "" || s.isLoose(c.Founder) {
		return nil
	}
	t := s.spread[spreadKey{it.at, c.Founder}]
	if it.Target == ofCluster && it.Cluster == c.Founder {
		var err error
		if t, _, err = s.traces.Get(it.at.Partition, it.at.Offset); err != nil {
			return err
		}
	}
	if !s.changes(was, st.entries, c.Size) {
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
	reaches := reachesOf(st.entries, c.Size)
	known := len(reaches) == 0 || t.Plain == t.Count // which members are the first
	if known && t.Labels != s.sum(st.entries, reaches, t.Plain, c.Size) {
		s.told.Violate(t.First.In(s.rule.Corrections),
			s.describe(s.carried(st.entries, c.Size).labels)+", or what the first members carry",
			s.describe(t.Said))
	}
	s.checkExcepted(it, c, st)
	return nil
}

// reachesOf returns how many of the first articles of a cluster carry labels that later ones do not
// carry, ascending.
func reachesOf(entries []label, size int64) (all []int64) {
	for _, e := range entries {
		if e.reach > 0 && e.reach < size {
			all = append(all, e.reach)
		}
	}
	slices.Sort(all)
	return all
}

// changes reports whether an article of a cluster carries other labels than before.
func (s *Space) changes(was, now []label, size int64) bool {
	reaches := reachesOf(slices.Concat(was, now), size)
	return slices.ContainsFunc(append(reaches, size), func(at int64) bool {
		return s.carried(was, at).labels != s.carried(now, at).labels
	})
}

// sum returns the sum of the labels that the first n articles of a cluster carry.
func (s *Space) sum(entries []label, reaches []int64, n, size int64) (sum uint64) {
	from := int64(0)
	for _, to := range append(slices.Clone(reaches), size) {
		to = min(to, n)
		sum += uint64(to-from) * s.carried(entries, to).labels
		from = to
	}
	return sum
}

// checkExcepted holds the corrections of members that have exceptions to these.
func (s *Space) checkExcepted(it *item, c *model.Cluster, st *state) {
	for _, m := range s.members[it.at] {
		if m.cluster != c.Founder {
			continue
		}
		of := st.of(m.print)
		if !slices.ContainsFunc(append(reachesOf(of, c.Size), c.Size),
			func(at int64) bool { return s.carried(of, at).labels == m.labels }) {
			s.told.Violate(m.at.In(s.rule.Corrections), s.describe(s.carried(of, c.Size).labels),
				s.describe(m.labels))
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
