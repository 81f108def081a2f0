package labels

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

const (
	// firstReach is how many clusters one click is good for, laterReach how many times as many as the
	// contact has labelled so far each further one is.
	firstReach, laterReach = 6, 3
	// common is how many clusters without a label make a contact common.
	common = 3
	// exceptedVote is how many clusters with an article that is harmless take a vote.
	exceptedVote = 6
	// mostClicks is how many clicks a mark names.
	mostClicks = 8
)

// A mark is a label on a contact.
type mark struct {
	name                             uint64
	trial                            bool
	votes, clicks, hams, reach, used int64
	excepted                         int64 // clusters with an article that is harmless
	last                             int64 // seq
	clicked                          []click
}

// A click is a label record that has marked a contact.
type click struct {
	at    wire.Address
	entry uint64
}

// counts reports whether the mark of a contact labels clusters.
func (m *mark) counts(contact uint64) bool {
	against := wire.Vote * (m.hams + m.excepted/exceptedVote)
	return m.votes > against && (wire.IsStrong(contact) || m.votes >= wire.Vote/2)
}

func (m *mark) mayLabel(contact uint64) bool { return m.counts(contact) && m.used < m.reach }

// click has a label record mark the contact with these votes.
func (m *mark) click(it *item, votes, seq int64) {
	m.votes += votes
	m.clicks++
	m.reach = max(m.reach, m.used+max(firstReach, laterReach*m.used))
	m.last = seq
	m.clicked = append(slices.Clone(m.clicked), click{it.at, it.Entry})
	m.clicked = m.clicked[max(0, len(m.clicked)-mostClicks):]
}

// unclick takes back what a label record did.
func (m *mark) unclick(at wire.Address, votes int64) {
	m.votes = max(0, m.votes-votes)
	m.clicks = max(0, m.clicks-1)
	m.clicked = slices.DeleteFunc(slices.Clone(m.clicked), func(c click) bool { return c.at == at })
}

// entry returns the label that a cluster gets by the mark.
func (m *mark) entry(contact uint64, position, reach int64) label {
	e := label{
		name: m.name, trial: m.trial, position: position, contact: contact, reach: reach,
	}
	if n := len(m.clicked); n > 0 {
		e.entry = m.clicked[n-1].entry
	}
	return e
}

// A contactKey is a contact among the articles of a value.
type contactKey struct{ space, contact uint64 }

// certain is the vagueness of a contact whose marks are known.
const certain = -1

// A contact is a contact, its marks, and what records say of these.
type contact struct {
	contactKey
	marks   []mark         // in the order of their labels
	holders []wire.Address // founders that have it, oldest first, without some that have expired
	records []contactRow   // that are not behind the model yet
	last    []mark         // of the last one that was
	// vague is the position up to which the marks are not known, since the topics do not say in which
	// order things happened, or [certain].
	vague int64
	// touchedAt is the position of the last label record that concerned it, and touchedBy its
	// partition.
	touchedAt int64
	touchedBy int32
}

// A contactRow is what a record says of a contact.
type contactRow struct {
	marks    []mark
	position int64 // at which it changed last; -1 of a tombstone
	at       string
}

// find returns the index of the mark of a label, -1 for none.
func (h *contact) find(name uint64, trial bool) int {
	return slices.IndexFunc(h.marks, func(m mark) bool { return m.name == name && m.trial == trial })
}

// mark returns the mark of a label on a contact. It adds an empty mark if there is no other.
func (s *Space) mark(h *contact, name uint64, trial bool) *mark {
	if i := h.find(name, trial); i >= 0 {
		return &h.marks[i]
	}
	h.marks = append(slices.Clone(h.marks), mark{name: name, trial: trial})
	slices.SortFunc(h.marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(s.names[a.name], s.names[b.name]), compareBools(a.trial, b.trial))
	})
	return &h.marks[h.find(name, trial)]
}

// compareBools has false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// digestOf returns a digest of marks.
func (l *Labels) digestOf(marks []mark) (digest uint64) {
	for _, m := range marks {
		one := maphash.Comparable(l.seed, [8]int64{
			int64(m.name), m.votes, m.clicks, m.hams, m.excepted, m.reach, m.used, m.last,
		})
		one = maphash.Comparable(l.seed, [2]uint64{one, uint64(compareBools(m.trial, false))})
		for _, c := range m.clicked {
			one = maphash.Comparable(l.seed, [3]int64{int64(one), int64(c.at.Partition), c.at.Offset})
		}
		digest += one
	}
	return digest
}

// marksOf returns what a record says of a contact.
func (l *Labels) marksOf(c *wire.Contact) (marks []mark, err error) {
	for _, m := range c.Marks {
		l.Set([]string{m.Label})
		own := mark{
			name: l.remember(m.Label), trial: m.Trial, votes: m.Votes, clicks: m.Clicks, hams: m.Hams,
			excepted: m.Excepted, reach: m.Reach, used: m.Used, last: m.Last,
		}
		for _, c := range m.Clicked {
			at, err := wire.ParseAddress(c.Record, l.rule.Topic)
			if err != nil {
				continue // of another topic of labels
			}
			row, _, err := l.records.Get(at.Partition, at.Offset)
			if err != nil {
				return nil, err
			}
			own.clicked = append(own.clicked, click{at, row.Entry})
		}
		marks = append(marks, own)
	}
	return marks, nil
}

// AddContact adds the next record of a contact.
func (s *Space) AddContact(c *wire.Contact, at string) error {
	s.applied.Checked++
	marks, err := s.marksOf(c)
	if err != nil {
		return err
	}
	h := s.contact(contactKey{s.digestOfText(c.Value), wire.ContactDigest(s.seed, c.Contact)})
	h.records = append(h.records, contactRow{marks, c.Position, at})
	return nil
}

// contact returns a contact, which has no marks where it is new.
func (s *Space) contact(key contactKey) *contact {
	h := s.contacts[key]
	if h == nil {
		h = &contact{contactKey: key, vague: certain, touchedAt: -1}
		s.contacts[key] = h
	}
	return h
}

// ready returns a contact before something happens to it at a position. Marks whose last cluster
// has expired are gone. If the contact is vague, it gets the marks of the last record before the
// position. If not, records before the position that do not agree with its marks are reported.
func (s *Space) ready(key contactKey, position int64) *contact {
	h := s.contact(key)
	if h.vague != certain {
		s.resync(h, position)
		return h
	}
	for len(h.records) > 0 && h.records[0].position >= 0 && h.records[0].position < position {
		s.applied.Violate(h.records[0].at, s.describeMarks(h.marks), s.describeMarks(h.records[0].marks))
		h.marks = h.records[0].marks // or all that follows would be wrong, too
		h.pass()
	}
	h.marks = slices.DeleteFunc(slices.Clone(h.marks), s.isDead)
	return h
}

// pass notes that the model is behind a record.
func (h *contact) pass() { h.last, h.records = h.records[0].marks, h.records[1:] }

// resync takes the marks of a vague contact from the last record before a position. They are
// certain from then on if all of its clusters are.
func (s *Space) resync(h *contact, position int64) {
	before := 0
	for i, r := range h.records {
		if r.position >= 0 && r.position < position {
			before = i + 1
		}
	}
	for range before {
		h.pass()
	}
	h.marks = slices.DeleteFunc(slices.Clone(h.last), s.isDead)
	isTombstone := len(h.records) > 0 && h.records[0].position < 0
	if h.vague < position && !isTombstone && !slices.ContainsFunc(h.holders, s.isLoose) {
		h.vague = certain
	}
}

// settle looks again at what records say of a contact, after a change of it.
func (s *Space) settle(h *contact) {
	now := s.digestOf(h.marks)
	for h.vague == certain && len(h.records) > 0 && s.digestOf(h.records[0].marks) == now {
		h.pass()
	}
}

// isDead reports whether the cluster that a mark has labelled last has expired.
func (s *Space) isDead(m mark) bool {
	number, ok := s.model.OfSeq(m.last)
	return ok && s.model.Expired(number)
}

// blur notes that the marks of a contact are not known up to a position, nor the labels of its
// clusters.
func (s *Space) blur(h *contact, position int64) {
	h.vague = max(h.vague, s.through(position))
	for _, founder := range h.holders {
		if s.live(founder) {
			s.state(founder).loose = true
		}
	}
}

// through returns the last position of the transaction that a position is in. The record of a
// contact says what its marks were when that transaction ended.
func (s *Space) through(position int64) int64 {
	at, _ := slices.BinarySearch(s.ends, min(position, math.MaxInt64-1)+1)
	if at == len(s.ends) {
		return position
	}
	return s.ends[at] - 1
}

// touch notes that a label record concerns a contact. If it is not known which transaction applied
// it, nor is its order with records of other partitions.
func (s *Space) touch(h *contact, it *item, position int64) {
	isUnordered := h.touchedAt == position && h.touchedBy != it.at.Partition && !it.ordered
	if isUnordered || it.first != it.last {
		s.blur(h, position)
	}
	h.touchedAt, h.touchedBy = position, it.at.Partition
}

// touchAll notes that a label record concerns all contacts of a cluster, since another number of
// clusters without a label has them.
func (s *Space) touchAll(it *item, number int, position int64) error {
	if !s.rule.Marks {
		return nil
	}
	c := s.model.Cluster(number)
	contacts, err := s.contactsOf(c.Fingerprint)
	for _, contact := range contacts {
		s.touch(s.contact(contactKey{c.Space, contact}), it, position)
	}
	return err
}

// checkContacts holds the last records of contacts to their marks.
func (s *Space) checkContacts() {
	for _, key := range slices.SortedFunc(maps.Keys(s.contacts), compareKeys) {
		h := s.contacts[key]
		if h.vague != certain {
			continue
		}
		if s.settle(h); len(h.records) > 0 && s.isBehind() {
			continue // as the records of clusters
		}
		live := slices.DeleteFunc(slices.Clone(h.marks), s.isDead)
		said, at := h.last, "the clusters topic, of a contact"
		if n := len(h.records); n > 0 {
			said, at = h.records[n-1].marks, h.records[n-1].at
		}
		if s.digestOf(said) != s.digestOf(h.marks) && s.digestOf(said) != s.digestOf(live) {
			s.applied.Violate(at, s.describeMarks(h.marks), s.describeMarks(said))
		}
	}
}

func compareKeys(a, b contactKey) int {
	return cmp.Or(cmp.Compare(a.space, b.space), cmp.Compare(a.contact, b.contact))
}

// describeMarks describes the marks of a contact for people.
func (s *Space) describeMarks(marks []mark) string {
	if len(marks) == 0 {
		return "a contact without marks"
	}
	text := "a contact with"
	for i, m := range marks {
		if i > 0 {
			text += ";"
		}
		trial := map[bool]string{true: " on trial"}[m.trial]
		text += fmt.Sprintf(" %s%s: votes %d/%d, clicks %d, hams %d, excepted %d, used %d of %d, last %d",
			s.describe(m.name), trial, m.votes, wire.Vote, m.clicks, m.hams, m.excepted, m.used, m.reach,
			m.last)
	}
	return text
}
