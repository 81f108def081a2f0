package state

import (
	"errors"
	"fmt"
)

// lookedAt is how many expiry entries Overdue looks at for each cluster that it may return.
const lookedAt = 4

// Overdue is up to limit clusters that were last seen before a time, in Unix milliseconds. Those that
// were never joined come in the order in which they were seen, and the others not much later.
//
// An expiry entry is not moved when its cluster is joined, since most clusters are joined many times.
// Overdue moves the entries that it meets of clusters that were seen again, and looks at so many at most
// that its work is bounded: it may return fewer clusters than there are, and then the next call goes on.
func (s *Store) Overdue(before int64, limit int) ([]Cluster, error) {
	if s.oldest >= before || limit <= 0 {
		return nil, nil
	}
	var overdue, seenSince []Cluster
	var last Cluster // looked at
	var failed error
	looked := 0
	// From the oldest entry on, and not from the first possible one: many have been deleted there.
	err := s.scan(beforeExpiry(s.oldest), beforeExpiry(before), func(key, _ []byte) (more bool) {
		if last, failed = s.entryOf(key); failed != nil {
			return false
		}
		if last.LastSeen < before {
			overdue = append(overdue, last)
		} else {
			seenSince = append(seenSince, last)
		}
		looked++
		return len(overdue) < limit && looked/lookedAt < limit
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		err = s.move(seenSince)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case len(overdue) > 0:
		s.oldest = overdue[0].entry
	case looked/lookedAt == limit:
		s.oldest = last.entry
	default:
		s.oldest = before
	}
	return overdue, nil
}

// entryOf is the cluster of the expiry entry with this key.
func (s *Store) entryOf(key []byte) (Cluster, error) {
	at, seq, err := decodeExpiryKey(key)
	if err != nil {
		return Cluster{}, err
	}
	c, ok, err := s.Get(seq)
	if err == nil && (!ok || c.entry != at) {
		err = fmt.Errorf("%w: %s: cluster %d is missing, or has its expiry entry under another time", ErrDamaged, s.dir, seq)
	}
	return c, err
}

// move puts the expiry entries of clusters under the times at which they were last seen. That changes
// nothing that anybody sees, so the mark stays as it is.
func (s *Store) move(clusters []Cluster) error {
	if len(clusters) == 0 {
		return nil
	}
	b := s.db.NewBatch()
	defer func() { _ = b.Close() }() // it only gives memory back
	for _, c := range clusters {
		old := keyOfExpiry(c.entry, c.Seq)
		c.entry = c.LastSeen
		err := errors.Join(
			b.Delete(old, nil),
			b.Set(keyOfExpiry(c.entry, c.Seq), encodeCentre(c), nil),
			b.Set(keyOfCluster(c.Seq), encodeCluster(c), nil),
		)
		if err != nil {
			return err
		}
		s.view.moved[c.Seq] = c.entry
	}
	return s.commit(b)
}
