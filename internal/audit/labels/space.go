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
	ends     []int64         // of the transactions: the next position of each checkpoint
	position int64           // of the last checkpoint
	reached  map[int32]int64 // what it says of labels
	pending  map[pendingKey]*pending
	tellings map[int64][]pendingKey // of these, by the position up to which members were told

	queues map[int32][]item // label records that may be applied by now, by partition
	states map[wire.Address]*state

	contacts map[contactKey]*contact
	exact    int64 // the contacts of clusters that were founded before are vague
	upgraded int64 // label records that were applied before marked nothing
	unsure   bool  // there are clusters of which the contacts are not known
	dues     []due // ascending
	// lastDue are those of the last checkpoint.
	lastDue []contactKey
	// erasedAt is the position at which a contact was erased last.
	erasedAt map[contactKey]int64

	suspensions []suspension // ascending
	offs        []off        // ascending
	believed    bool         // a result that may have been written while labels were off
	ofStories   OfStories
}

// A pendingKey is a label record, and the cluster that it has changed.
type pendingKey = spreadKey

// A pending is a correction of which the members from next on had not been told when the last
// checkpoint was written.
type pending struct {
	next    int64
	size    int64 // members before next
	members uint64
}

// A due is contacts whose clusters were not in step with their marks at the end of a transaction,
// from its first position to that of the next one.
type due struct {
	first, next int64
	contacts    []contactKey
}

// An item is a label record that may be applied by now.
type item struct {
	record
	at          wire.Address
	first, last int64 // positions at which it was applied, at the earliest and at the latest
	ordered     bool  // it is known what was applied before it
	live        bool  // its cluster, at the earliest
}

// Space returns the space of an input partition, without labels yet.
func (l *Labels) Space(partition int32) *Space {
	return &Space{
		Labels: l, partition: partition, reached: make(map[int32]int64),
		pending: make(map[pendingKey]*pending), tellings: make(map[int64][]pendingKey),
		queues: make(map[int32][]item), states: make(map[wire.Address]*state),
		contacts: make(map[contactKey]*contact), erasedAt: make(map[contactKey]int64),
	}
}

// Replay begins with the articles of the space, which the model is fed with.
func (s *Space) Replay(m *model.Model) {
	s.model = m
	for key, p := range s.pending {
		s.tellings[p.next] = append(s.tellings[p.next], key)
	}
}

// Advance applies what was applied before the article at a position.
func (s *Space) Advance(position int64) error {
	s.noteTold(position)
	for ; len(s.dues) > 0 && s.dues[0].first <= position; s.dues = s.dues[1:] {
		for _, key := range s.dues[0].contacts {
			s.blur(s.contact(key), s.dues[0].next)
		}
	}
	for ; len(s.advances) > 0 && s.advances[0].first <= position; s.advances = s.advances[1:] {
		if err := s.load(s.advances[0]); err != nil {
			return err
		}
		// What the next transaction applied comes after this.
		if err := s.applyDue(position); err != nil {
			return err
		}
	}
	return s.applyDue(position)
}

// applyDue applies the label records that were applied at a position at the latest.
func (s *Space) applyDue(position int64) error {
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
	number, exists := s.model.Number(it.Cluster)
	live := exists && !s.model.Expired(number)
	if it.Kind == storied {
		if it.Dead == unknownCluster && live && it.ordered {
			s.violateClass(it, "")
		}
		if it.Dead == notDead || it.Dead == unknownStory {
			s.ofStories.Records = append(s.ofStories.Records,
				Applied{it.at, it.first, min(it.last, position), it.Dead == unknownStory})
		}
		return nil
	}
	if it.Target == ofContact {
		return s.onContact(it, position)
	}
	if it.Kind == erasing {
		s.applyErasure(it)
		return nil
	}
	st := s.states[it.Cluster]
	want := notDead
	switch {
	case !live && !it.live || it.Dead == unknownCluster && !(live && it.live):
		want = unknownCluster
	case st.isFull(it, position < s.upgraded) && !(s.isLoose(it.Cluster) && it.Dead == notDead):
		want = tooManyLabels
	}
	if it.Dead != want && !(it.Dead == tooManyLabels && s.isLoose(it.Cluster)) {
		s.violateClass(it, deadClasses()[want])
	}
	if it.Dead != notDead || want != notDead {
		return nil
	}
	if it.Target == ofArticle {
		return s.except(it, number, position)
	}
	return s.onCluster(it, number, position)
}

// onCluster applies a label record that is about a live cluster.
func (s *Space) onCluster(it *item, number int, position int64) error {
	st := s.state(it.Cluster)
	was := st.entries
	st.entries = it.change(st.entries, position, position < s.upgraded)
	s.keep(s.model.Cluster(number), st)
	s.changed(st)
	if err := s.touchAll(it, number, position); err != nil {
		return err
	}
	if err := s.checkTold(it, s.model.Cluster(number), was, position, st); err != nil {
		return err
	}
	i, now := has(was, it.Name, it.Trial), has(st.entries, it.Name, it.Trial)
	switch {
	case it.Kind == add && (i < 0 || was[i].contact != 0):
		return s.click(it, number, position)
	case it.Kind == remove && i >= 0 && now < 0 && was[i].contact == 0:
		return s.unclick(it, number, was[i], position)
	}
	return nil
}

// keep has a cluster outlive others while it has labels.
func (s *Space) keep(c *model.Cluster, st *state) {
	c.Kept = 0
	if len(st.entries) > 0 || len(st.exceptions) > 0 || st.loose && len(s.by[c.Founder]) > 0 {
		c.Kept = s.rule.Kept.Milliseconds()
	}
}

// isBehind reports whether the last checkpoint has not read all label records, or has contacts that
// are due. Then the transaction that was going on when the audit began may have written records of
// clusters and contacts, and not its checkpoint.
func (s *Space) isBehind() bool {
	for p, end := range s.behind {
		if s.reached[p] < end {
			return true
		}
	}
	return len(s.lastDue) > 0
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

// End checks what is left when all articles of the space are through.
func (s *Space) End() error {
	if err := s.Advance(s.position); err != nil || len(s.reasons) > 0 {
		return err
	}
	for _, founder := range slices.SortedFunc(maps.Keys(s.states), wire.Address.Compare) {
		if err := s.checkLast(founder, s.states[founder]); err != nil {
			return err
		}
	}
	s.checkContacts()
	s.checkErased()
	return nil
}
