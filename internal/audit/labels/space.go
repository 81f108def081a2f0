package labels

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A Space is the labels of a space on its way through the model: checkpoints go in, in their order,
// and then the model is replayed.
type Space struct {
	*Labels
	partition int32
	model     *model.Model

	advances []advance
	position int64                     // of the last checkpoint
	reached  map[int32]int64           // what it says of labels
	pending  map[wire.Address]*pending // by label record
	tellings map[int64][]wire.Address  // of these, by the position up to which members were told

	queues map[int32][]item // label records that may be applied by now, by partition
	states map[wire.Address]*state

	suspensions []suspension // ascending
}

// An advance is label records of a partition, from and behind the last, that were applied at a
// position from first to last.
type advance struct {
	partition             int32
	from, to, first, last int64
}

// A pending is a correction of which the members from next on had not been told when the last
// checkpoint was written.
type pending struct {
	next    int64
	size    int64 // members before next
	members uint64
}

// An item is a label record that may be applied by now.
type item struct {
	record
	at          wire.Address
	first, last int64 // positions at which it was applied, at the earliest and at the latest
	live        bool  // its cluster, at the earliest
}

// Space returns the space of an input partition, without labels yet.
func (l *Labels) Space(partition int32) *Space {
	return &Space{
		Labels: l, partition: partition, reached: make(map[int32]int64),
		pending: make(map[wire.Address]*pending), tellings: make(map[int64][]wire.Address),
		queues: make(map[int32][]item), states: make(map[wire.Address]*state),
	}
}

// Checkpoint adds the next checkpoint. It is whole if no other can have been between it and the one
// before.
func (s *Space) Checkpoint(c *wire.Checkpoint, whole bool, at string) {
	first := s.position
	s.position = c.NextPosition
	if c.Labels == nil || c.Labels.Topic != s.rule.Topic {
		return
	}
	last := c.NextPosition
	if whole {
		last = first
	}
	for _, p := range partitions(c.Labels.Offsets) {
		from, ok := s.reached[p]
		if !ok {
			from = s.from[p]
		}
		to := c.Labels.Offsets[p]
		if to < from && ok {
			s.applied.Violate(at,
				fmt.Sprintf("partition %d of the labels to be read up to %d or more", p, from),
				fmt.Sprint(to))
		}
		if to > from {
			s.advances = append(s.advances, advance{p, from, to, first, last})
		}
	}
	s.reached = c.Labels.Offsets
	s.suspend(c, first)
	clear(s.pending)
	for _, p := range c.Labels.Corrections {
		if record, err := wire.ParseAddress(p.Record, s.rule.Topic); err == nil {
			s.pending[record] = &pending{next: p.Next}
		}
	}
}

// Replay begins with the articles of the space, which the model is fed with.
func (s *Space) Replay(m *model.Model) {
	s.model = m
	for record, p := range s.pending {
		s.tellings[p.next] = append(s.tellings[p.next], record)
	}
}

// Advance applies what was applied before the article at a position.
func (s *Space) Advance(position int64) error {
	if err := s.noteTold(position); err != nil {
		return err
	}
	for len(s.advances) > 0 && s.advances[0].first <= position {
		if err := s.load(s.advances[0]); err != nil {
			return err
		}
		s.advances = s.advances[1:]
	}
	for _, p := range partitions(s.queues) {
		due := 0
		for i, it := range s.queues[p] {
			if it.last <= position {
				due = i + 1
			}
		}
		if err := s.apply(p, due, position); err != nil {
			return err
		}
	}
	return nil
}

// load takes up label records that may be applied from now on.
func (s *Space) load(a advance) error {
	for offset := a.from; offset < a.to; offset++ {
		row, ok, err := s.records.Get(a.partition, offset)
		if err != nil {
			return err
		}
		if !ok || row.Kind != resume && s.homeOf(&row) != s.partition {
			continue
		}
		it := item{
			record: row, at: wire.Address{Partition: a.partition, Offset: offset},
			first: a.first, last: a.last,
		}
		switch row.Kind {
		case bad, foreign:
			s.checkForeign(&it)
			continue
		case add, remove:
			if err := s.bound(&it); err != nil {
				return err
			}
		}
		s.queues[a.partition] = append(s.queues[a.partition], it)
	}
	return nil
}

// checkForeign checks a label record that no space takes.
func (s *Space) checkForeign(it *item) {
	s.applied.Checked++
	want := unknownCluster
	if it.Kind == bad {
		want = badLabel
	}
	if it.Dead != want {
		s.violateClass(it, deadClasses()[want])
	}
}

// bound narrows down where a label record was applied by what cluster records and corrections say.
// A label that may be there already keeps its cluster.
func (s *Space) bound(it *item) error {
	t, _, err := s.traces.Get(it.at.Partition, it.at.Offset)
	if err != nil {
		return err
	}
	if t.Position > 0 {
		at := t.Position - 1
		if at < it.first || at > it.last {
			s.applied.Violate(s.address(it), "to be applied at "+between(it.first, it.last)+
				", as the checkpoints say", fmt.Sprintf("position %d", at))
		} else {
			it.first, it.last = at, at
		}
	}
	var number int
	if number, it.live = s.model.Number(it.Cluster); it.live {
		it.live = !s.model.Expired(number)
	}
	if it.live && it.Kind == add && it.Dead == notDead {
		s.model.Cluster(number).Kept = s.rule.Kept.Milliseconds()
	}
	return nil
}

func between(first, last int64) string {
	if first == last {
		return fmt.Sprintf("position %d", first)
	}
	return fmt.Sprintf("a position from %d to %d", first, last)
}

// apply applies the first n label records of a queue at a position.
func (s *Space) apply(partition int32, n int, position int64) error {
	for _, it := range s.queues[partition][:n] {
		if err := s.applyOne(&it, position); err != nil {
			return err
		}
	}
	if s.queues[partition] = s.queues[partition][n:]; len(s.queues[partition]) == 0 {
		delete(s.queues, partition)
	}
	return nil
}

// applyOne applies a label record at a position, and holds its dead letter and its corrections to
// what comes of that.
func (s *Space) applyOne(it *item, position int64) error {
	s.applied.Checked++
	if it.Kind == resume {
		if it.Dead != notDead {
			s.violateClass(it, "")
		}
		return nil
	}
	if it.first > position {
		s.applied.Violate(s.address(it), fmt.Sprintf(
			"to be applied at position %d or before, as a later record of its partition", position),
			fmt.Sprintf("position %d", it.first))
	}
	if it.Kind == storied { // whether it should have been refused is for those who know stories
		return nil
	}
	number, exists := s.model.Number(it.Cluster)
	live := exists && !s.model.Expired(number)
	st := s.states[it.Cluster]
	want := notDead
	switch {
	case !live && !it.live || it.Dead == unknownCluster && !(live && it.live):
		want = unknownCluster
	case st.isFull(it):
		want = tooManyLabels
	}
	if it.Dead != want {
		s.violateClass(it, deadClasses()[want])
	}
	if it.Dead != notDead || want != notDead {
		return nil
	}
	if st == nil {
		st = new(state)
		s.states[it.Cluster] = st
	}
	before, _ := s.carried(st.entries)
	st.entries = it.change(st.entries, position)
	after, _ := s.carried(st.entries)
	c := s.model.Cluster(number)
	c.Kept = 0
	if len(st.entries) > 0 {
		c.Kept = s.rule.Kept.Milliseconds()
	}
	s.changed(st)
	return s.checkTold(it, c, before != after, after, position)
}

func (s *Space) violateClass(it *item, want string) {
	expected, found := "a dead letter of class "+want, "none"
	if want == "" {
		expected = "no dead letter"
	}
	if it.Dead != notDead {
		found = "one of class " + deadClasses()[it.Dead]
	}
	s.applied.Violate(s.address(it), expected, found)
}

func (s *Space) address(it *item) string { return it.at.In(s.rule.Topic) }

// checkTold holds the corrections of a label record to the members before its position.
func (s *Space) checkTold(
	it *item, c *model.Cluster, changed bool, labels uint64, position int64,
) error {
	if s.rule.Corrections == "" {
		return nil
	}
	t, _, err := s.traces.Get(it.at.Partition, it.at.Offset)
	if err != nil {
		return err
	}
	if !changed {
		if t.Count > 0 {
			s.told.Violate(t.First.In(s.rule.Corrections), fmt.Sprintf("no correction: %s changes nothing "+
				"of what its cluster carries at position %d", s.address(it), position), "a correction")
		}
		return nil
	}
	size, members, most := c.Size, c.Members, c.Size
	if p := s.pending[it.at]; p != nil {
		size, members = p.size, p.members
	}
	want := fmt.Sprintf("a correction for each of the %d members of %s before position %d", size,
		c.Founder.In(s.rule.Input), position)
	switch {
	case t.Count < size, t.Count > most, t.Count > size && s.pending[it.at] == nil:
		s.told.Violate(s.address(it), want, fmt.Sprintf("%d corrections", t.Count))
	case t.Count == size && t.Members != members:
		s.told.Violate(s.address(it), want, "as many, of other members")
	}
	if t.Count > 0 && t.Labels != labels {
		s.told.Violate(t.First.In(s.rule.Corrections), s.describe(labels), s.describe(t.Labels))
	}
	return nil
}

// noteTold notes the members of which corrections were written, where those are not all.
func (s *Space) noteTold(position int64) error {
	for _, at := range s.tellings[position] {
		p := s.pending[at]
		row, ok, err := s.records.Get(at.Partition, at.Offset)
		if err != nil {
			return err
		}
		if number, exists := s.model.Number(row.Cluster); ok && exists {
			p.size, p.members = s.model.Cluster(number).Size, s.model.Cluster(number).Members
		}
	}
	return nil
}

// End checks what is left when all articles of the space are through.
func (s *Space) End() error {
	if err := s.Advance(s.position); err != nil {
		return err
	}
	for _, founder := range slices.SortedFunc(maps.Keys(s.states), wire.Address.Compare) {
		if err := s.checkLast(founder, s.states[founder]); err != nil {
			return err
		}
	}
	return nil
}
