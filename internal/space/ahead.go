package space

import (
	"fmt"
	"slices"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/state"
)

// member is a cluster that a batch looks at.
type member struct {
	cluster.Cluster
	id      string
	touched bool           // an article of the batch belongs to it, or its labels are others
	expired bool           // the batch removes it
	joined  int            // articles of the batch that joined it
	carried *label.Carried // nil: not looked at
	bounded bool           // what it carries depends on its size
	// excepted are the labels of articles with exceptions, by their fingerprints; nil: not looked at.
	excepted map[article.Fingerprint][]article.Label
}

// member returns a cluster that is in the index, as of the last article. An error of the store is
// kept for the end of the batch.
func (s *Space) member(seq uint64) *member {
	m := s.look(seq)
	if m == nil {
		s.fail(fmt.Errorf("%w: cluster %d is missing", state.ErrDamaged, seq))
		m = &member{}
		s.members.inHand()[seq] = m
	}
	return m
}

// look does what member does for a cluster that may be missing. It returns nil for one that is, and
// if the store fails.
func (s *Space) look(seq uint64) *member {
	if m, ok := s.members.inHand()[seq]; ok {
		return m
	}
	m := &member{}
	if before, ok := s.members.before(seq); ok {
		m.Cluster, m.id = before.Cluster, before.id
	} else {
		c, ok, err := s.store.Get(seq)
		s.fail(err)
		if err != nil || !ok {
			return nil
		}
		m.Cluster, m.id = c, c.ID()
	}
	s.members.inHand()[seq] = m
	return m
}

// changed reports whether a cluster is other than in the store, or removed, by what is assigned.
func (s *Space) changed(seq uint64) bool {
	return slices.ContainsFunc(s.members.batches, func(of map[uint64]*member) bool {
		m := of[seq]
		return m != nil && (m.touched || m.expired)
	})
}

// Store writes the oldest batch that is assigned and not committed to disk, once it is committed
// elsewhere. Of m, the caller sets what the rule does not know. It may be called beside
// [Space.Assign]. [Space.Publish] has to follow before the next one.
func (s *Space) Store(b *Batch, m state.Meta) error {
	m.StreamTime, m.Next = b.after.StreamTime, b.after.Next
	if err := s.store.Erasing(b.erased...); err != nil {
		return err
	}
	return s.store.Apply(b.Touched, b.Expired, m, state.ChangesOf(b.Stories, b.Contacts)...)
}

// Publish has readers see the batch that was stored.
func (s *Space) Publish(b *Batch) {
	for _, p := range s.parts {
		p.commit()
	}
	s.settled = nil
	s.publish(singlepass.Commit{Removed: centresOf(b.Expired)})
	s.tell(Changes{b.Touched, b.joined, b.Expired, b.after.StreamTime})
	s.scrub()
}

// scrub removes erased text from the disk. What fails now is done when the store is opened again,
// and a disk that fails says so with the next batch.
func (s *Space) scrub() { _ = s.store.Scrub() }

// Commit makes a batch last, once it is committed: it stores and publishes it.
func (s *Space) Commit(b Batch, m state.Meta) error {
	if err := s.Store(&b, m); err != nil {
		return err
	}
	s.Publish(&b)
	return nil
}

// Rollback takes back all batches that are not committed, or of which that is not known.
func (s *Space) Rollback() {
	for _, p := range s.parts {
		p.rollback()
	}
}
