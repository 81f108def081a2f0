package state

import (
	"context"
	"fmt"
	"math"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/disk"
)

// A reader reads clusters of a store, or of a snapshot of one. It is safe for concurrent use.
type reader struct {
	from     disk.Reader
	dir      string
	identity Identity
}

// cluster returns the cluster of this seq, under which time its expiry entry stands, and whether
// there is one.
func (r *reader) cluster(seq uint64) (c cluster.Cluster, entry int64, ok bool, err error) {
	value, ok, err := r.from.Get(keyOfCluster(seq))
	if err != nil || !ok {
		return cluster.Cluster{}, 0, false, err
	}
	c, entry, err = decodeCluster(value, seq, r.identity.Input)
	return c, entry, err == nil, err
}

// founded returns what cluster does, of the cluster of this founder.
func (r *reader) founded(
	founder article.Address,
) (c cluster.Cluster, entry int64, ok bool, err error) {
	if founder.Topic != r.identity.Input {
		return cluster.Cluster{}, 0, false, nil
	}
	value, ok, err := r.from.Get(keyOfFounder(founder))
	if err != nil || !ok {
		return cluster.Cluster{}, 0, false, err
	}
	seq, err := decodeUint64(value)
	if err != nil {
		return cluster.Cluster{}, 0, false, err
	}
	c, entry, ok, err = r.cluster(seq)
	if err == nil && (!ok || c.Founder != founder) {
		return cluster.Cluster{}, 0, false, fmt.Errorf("%w: %s: cluster %d is not that of %s", ErrDamaged,
			r.dir, seq, founder)
	}
	return c, entry, ok, err
}

// Get returns the cluster of this seq, and whether there is one.
func (s *Store) Get(seq uint64) (cluster.Cluster, bool, error) {
	return s.remember(s.cluster(seq))
}

// Find returns the cluster of this founder, and whether there is one.
func (s *Store) Find(founder article.Address) (cluster.Cluster, bool, error) {
	return s.remember(s.founded(founder))
}

// remember keeps where a cluster is stored that was read.
func (s *Store) remember(
	c cluster.Cluster, entry int64, ok bool, err error,
) (cluster.Cluster, bool, error) {
	if ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.read.set(c.Seq, location{c.Founder, entry})
	}
	return c, ok, err
}

// checkEvery is after how many entries Centres looks whether it is still wanted.
const checkEvery = 1 << 12

// Centres hands the centre of each cluster on without its contacts, in no order that means
// anything, until ctx ends or each fails: with the time of its expiry entry, at which or later it
// counts as last seen. It reads the expiry entries alone.
func (s *Store) Centres(
	ctx context.Context, each func(c singlepass.Centre, lastSeen int64) error,
) error {
	n := 0
	var stopped error
	from, to := beforeExpiry("", math.MinInt64), endOfExpiry()
	err := s.db.Scan(from, to, func(key, value []byte) (more bool) {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			stopped = context.Cause(ctx)
			return false
		}
		var c singlepass.Centre
		var of string
		var at int64
		if of, at, c.Seq, stopped = decodeExpiryKey(key); stopped == nil {
			c.Fingerprint, stopped = decodeFingerprint(value)
			c.Space = of
		}
		if stopped == nil {
			stopped = each(c, at)
		}
		return stopped == nil
	})
	switch {
	case err != nil:
		return err
	case stopped != nil:
		return stopped
	case n != s.live:
		return fmt.Errorf("%w: %s has %d centres of %d clusters", ErrDamaged, s.dir, n, s.live)
	}
	return nil
}

// Clusters hands on each cluster in founding order, until ctx ends or each fails. It reads them
// whole, which takes several times as long as [Store.Centres] does.
func (s *Store) Clusters(ctx context.Context, each func(*cluster.Cluster) error) error {
	n := 0
	var stopped error
	err := s.db.Scan([]byte{clusterKey}, []byte{clusterKey + 1}, func(key, value []byte) (more bool) {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			stopped = context.Cause(ctx)
			return false
		}
		var seq uint64
		var c cluster.Cluster
		if seq, stopped = decodeUint64(key[1:]); stopped == nil {
			c, _, stopped = decodeCluster(value, seq, s.identity.Input)
		}
		if stopped == nil {
			stopped = each(&c)
		}
		return stopped == nil
	})
	switch {
	case err != nil:
		return err
	case stopped != nil:
		return stopped
	case n != s.live:
		return fmt.Errorf("%w: %s has %d clusters of %d", ErrDamaged, s.dir, n, s.live)
	}
	return nil
}
