package state

import (
	"errors"
	"fmt"
	"math"

	"github.com/clusterd/clusterd/internal/message/cluster"
)

// scanFactor is how many expiry entries Overdue reads at most for each cluster that it may return.
const scanFactor = 4

// Overdue returns up to limit clusters of a value, empty where the space is not divided, that count
// as last seen before a time, in Unix milliseconds.
// Those that were never joined come in the order in which they were seen, and the others not much
// later.
//
// An expiry entry stays where it is when its cluster is joined, since most clusters are joined many
// times. Overdue moves the entries that it meets of clusters that were seen again. It reads a
// bounded number of entries. So it may return fewer clusters than are overdue, and then the next
// call goes on.
func (s *Store) Overdue(value string, before int64, limit int) ([]cluster.Cluster, error) {
	oldest := s.oldestOf(value)
	if oldest >= before || limit <= 0 {
		return nil, nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	oldest = s.oldestOf(value)
	var overdue, seenSince []cluster.Cluster
	var failed error
	// the entries of the first cluster that is overdue, and of the last one that was read
	var first, last int64
	scanned, next := 0, int64(math.MaxInt64)
	// From the oldest entry on, and not from the first possible one: many have been deleted there.
	from, to := beforeExpiry(value, oldest), beforeExpiry(value, math.MaxInt64)
	err := s.db.Scan(from, to, func(key, _ []byte) (more bool) {
		var c cluster.Cluster
		if _, next, _, failed = decodeExpiryKey(key); failed != nil || next >= before {
			return false
		}
		next = math.MaxInt64
		if c, last, failed = s.clusterOf(key); failed != nil {
			return false
		}
		switch {
		case c.SeenAs() >= before:
			seenSince = append(seenSince, c)
		case len(overdue) == 0:
			first = last
			fallthrough
		default:
			overdue = append(overdue, c)
		}
		scanned++
		return len(overdue) < limit && scanned/scanFactor < limit
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
		next = first
	case scanned/scanFactor == limit:
		next = last
	default:
		for _, c := range seenSince {
			next = min(next, c.SeenAs())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest[value] = next
	return overdue, nil
}

// oldestOf returns the time before which no expiry entry of a value stands.
func (s *Store) oldestOf(value string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if oldest, ok := s.oldest[value]; ok {
		return oldest
	}
	return math.MinInt64
}

// clusterOf returns the cluster of the expiry entry with this key, and the time of the entry.
func (s *Store) clusterOf(key []byte) (c cluster.Cluster, at int64, err error) {
	_, at, seq, err := decodeExpiryKey(key)
	if err != nil {
		return c, 0, err
	}
	c, ok, err := s.Get(seq)
	if found, _ := s.locationOf(seq); err == nil && (!ok || found.entry != at) {
		err = fmt.Errorf("%w: %s: cluster %d is missing, or has its expiry entry under another time",
			ErrDamaged, s.dir, seq)
	}
	return c, at, err
}

// move puts the expiry entries of clusters, which have been read, under the times at which they
// count as last seen. That changes nothing that anybody sees, so the checkpoint stays as it is.
func (s *Store) move(clusters []cluster.Cluster) error {
	if len(clusters) == 0 {
		return nil
	}
	b, moved := s.db.Batch(), make(map[uint64]location, len(clusters))
	defer func() { _ = b.Close() }() // it only gives memory back
	for _, c := range clusters {
		entry := c.SeenAs()
		at, _ := s.locationOf(c.Seq)
		err := errors.Join(
			b.Delete(keyOfExpiry(c.Space, at.entry, c.Seq), nil),
			b.Set(keyOfExpiry(c.Space, entry, c.Seq), encodeCentre(c.Centre), nil),
			b.Set(keyOfCluster(c.Seq), encodeCluster(c, entry), nil),
		)
		if err != nil {
			return err
		}
		moved[c.Seq] = location{c.Founder, entry}
	}
	if err := s.db.Commit(b); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for seq, at := range moved {
		s.read.set(seq, at)
	}
	return nil
}
