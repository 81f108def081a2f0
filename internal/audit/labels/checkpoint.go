package labels

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// OfStories are the label records about stories, in their order, of those that the checkpoints say
// are read. What was done at positions before Since, label records of another topic did, or deleted
// ones. Then states of stories may say it, unless records of the clusters topic have been compacted
// away: Lost.
type OfStories struct {
	Records []Applied
	Since   int64
	Lost    bool
}

// An Applied is a label record about stories, which was applied or refused at a position from First
// to Last.
type Applied struct {
	Record      wire.Address
	First, Last int64
	Refused     bool // since no stories are like that
}

// Position returns the next position of the last checkpoint, 0 without one.
func (s *Space) Position() int64 { return s.position }

// OfStories returns what the replay has found.
func (s *Space) OfStories() OfStories { return s.ofStories }

// lose notes that label records are gone which were read at a position at the latest.
func (o *OfStories) lose(position int64, whole bool) {
	o.Since, o.Lost = max(o.Since, position), o.Lost || !whole
}

// An advance is label records of a partition, from and behind the last, that were applied at a
// position from first to last. They are ordered if it is known which transaction applied them.
type advance struct {
	partition             int32
	from, to, first, last int64
	ordered               bool
}

// Checkpoint adds the next checkpoint. It is whole if no other can have been between it and the one
// before.
func (s *Space) Checkpoint(c *wire.Checkpoint, whole bool, at string) {
	first := s.position
	s.position = c.NextPosition
	s.ends = append(s.ends, c.NextPosition)
	if c.Labels == nil {
		return
	}
	s.noteOff(c, first, whole)
	if c.Labels.Topic != s.rule.Topic {
		s.ofStories.lose(c.NextPosition, whole)
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
		if read := s.reached[p]; read < min(to, s.from[p]) { // and then deleted
			s.ofStories.lose(c.NextPosition, whole)
		}
		if to > from {
			s.advances = append(s.advances, advance{p, from, to, first, last, whole})
		}
	}
	s.reached = c.Labels.Offsets
	s.suspend(c, first)
	s.addDue(c, first, whole)
	clear(s.pending)
	for _, p := range c.Labels.Corrections {
		record, err := wire.ParseAddress(p.Record, s.rule.Topic)
		cluster, bad := wire.ParseAddress(p.ClusterID, s.rule.Input)
		if err == nil && bad == nil {
			s.pending[pendingKey{record, cluster}] = &pending{next: p.Next}
		}
	}
}

// load takes up label records that may be applied from now on.
func (s *Space) load(a advance) error {
	for offset := a.from; offset < a.to; offset++ {
		row, ok, err := s.records.Get(a.partition, offset)
		if err != nil {
			return err
		}
		if !ok || row.Kind != resume && s.homeOf(&row) != s.partition ||
			len(s.reasons) > 0 && row.Kind != storied {
			continue
		}
		it := item{
			record: row, at: wire.Address{Partition: a.partition, Offset: offset},
			first: a.first, last: a.last, ordered: a.ordered,
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
	if it.Target == ofContact {
		return nil
	}
	var number int
	if number, it.live = s.model.Number(it.Cluster); it.live {
		it.live = !s.model.Expired(number)
	}
	if it.live && it.Kind == add && it.Dead == notDead && it.Target == ofCluster {
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

// addDue takes up what a checkpoint says of contacts that are not in step, and from where on marks
// are known: where no checkpoint is missing, and labels mark contacts.
func (s *Space) addDue(c *wire.Checkpoint, first int64, whole bool) {
	const unmarked = 1
	if c.Version == unmarked {
		s.upgraded = c.NextPosition
	}
	if !whole || c.Version == unmarked {
		s.exact = c.NextPosition
	}
	s.lastDue = nil
	if len(c.Labels.Due) == 0 {
		return
	}
	d := due{first: first, next: c.NextPosition}
	for _, of := range c.Labels.Due {
		d.contacts = append(d.contacts,
			contactKey{s.digestOfText(of.Space), wire.ContactDigest(s.seed, of.Contact)})
	}
	s.dues, s.lastDue = append(s.dues, d), d.contacts
}
