package labels

import (
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// erasures are the label records that erase contacts. A cluster keeps such a contact under the name
// of the record: where one is read, the contact itself is put in its place, so that all else is as
// if nothing had been erased.
type erasures struct {
	erasedBy map[string]string       // contacts, by the names that they have then
	erased   map[uint64]wire.Address // the last of these records, by the digests of contacts
	// naming are, by founder, the contacts of these that the last record of the cluster names still.
	naming map[wire.Address][]uint64
}

// noteErasure notes a label record that erases a contact.
func (l *Labels) noteErasure(r *kgo.Record) {
	v, err := wire.ParseLabelRecord(r)
	if err != nil {
		return // it was reported
	}
	at := wire.AddressOf(r)
	l.erasedBy[wire.Erased(at)] = v.Contact
	l.erased[wire.ContactDigest(l.seed, v.Contact)] = at
}

// Restore returns contacts in order, as they were before any was erased. They are not known where
// the label record that erased one is deleted by now. Without labels l is nil.
func (l *Labels) Restore(contacts []string) (all []string, known bool) {
	if l == nil {
		return contacts, true
	}
	known = true
	for _, c := range contacts {
		if of, ok := l.erasedBy[c]; ok {
			c = of
		} else if at, ok := wire.ErasedBy(c); ok {
			known = known && at.Offset >= l.from[at.Partition]
		}
		all = append(all, c)
	}
	slices.Sort(all)
	return all, known
}

// contactDigest returns the digest of a contact. An erased contact has the digest of before.
func (l *Labels) contactDigest(contact string) uint64 {
	if of, ok := l.erasedBy[contact]; ok {
		contact = of
	}
	return wire.ContactDigest(l.seed, contact)
}

// noteNames notes which contacts the record of a cluster names that somebody erases.
func (l *Labels) noteNames(founder wire.Address, c *wire.Cluster) {
	if len(l.erased) == 0 {
		return
	}
	names := slices.Clone(c.Contacts)
	for i := range c.Labels {
		names = append(append(names, c.Labels[i].Contact), c.Labels[i].Marked...)
	}
	var still []uint64
	for _, name := range names {
		digest := wire.ContactDigest(l.seed, name)
		if _, ok := l.erased[digest]; ok {
			still = append(still, digest)
		}
	}
	l.naming[founder] = still
}

// eraseContact applies a label record that erases a contact: its marks are gone, and the clusters
// that have it do not any more. Their labels stay.
func (s *Space) eraseContact(it *item, h *contact, position int64) {
	if it.Dead != notDead {
		s.violateClass(it, "")
		return
	}
	h.marks, h.holders = nil, nil
	s.erasedAt[h.contactKey] = position
	s.settle(h)
}

// unerased returns the contacts that were not erased since the cluster was founded.
func (s *Space) unerased(c *model.Cluster, contacts []uint64) []uint64 {
	return slices.DeleteFunc(slices.Clone(contacts), func(contact uint64) bool {
		return s.erasedAt[contactKey{c.Space, contact}] > c.Seq
	})
}

// checkErased reports live clusters whose last record names a contact that was erased since they
// were founded.
func (s *Space) checkErased() {
	for _, founder := range slices.SortedFunc(maps.Keys(s.naming), wire.Address.Compare) {
		number, ok := s.model.Number(founder)
		if !ok || s.model.Expired(number) {
			continue
		}
		c := s.model.Cluster(number)
		for _, contact := range s.naming[founder] {
			key := contactKey{c.Space, contact}
			if s.erasedAt[key] > c.Seq && !slices.Contains(s.lastDue, key) {
				s.applied.Violate(s.erased[contact].In(s.rule.Topic),
					fmt.Sprintf("cluster %s not to name the contact", founder.In(s.rule.Input)), "it does")
			}
		}
	}
}

// applyErasure holds the dead letter of a record that erases a text to the clusters that there are.
// One that has expired may be there still, and stories may have its text.
func (s *Space) applyErasure(it *item) {
	number, exists := s.model.Number(it.Cluster)
	switch {
	case it.Dead == unknownCluster && (!exists || s.model.Expired(number)):
	case it.Dead != notDead:
		s.violateClass(it, "")
	}
}

// Read reports whether the space has read a label record.
func (s *Space) Read(record wire.Address) bool {
	return record.Offset < s.reached[record.Partition]
}
