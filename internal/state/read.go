package state

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/clusterd/clusterd/internal/article"
)

// get is the value of a key, and whether there is one.
func (s *Store) get(key []byte) (value []byte, ok bool, err error) {
	if err := s.health.check(); err != nil {
		return nil, false, err
	}
	err = s.health.guard("reading", func() error {
		found, closer, err := s.db.Get(key)
		if errors.Is(err, pebble.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		value, ok = append([]byte{}, found...), true
		return closer.Close()
	})
	return value, ok, err
}

// Get is the cluster of this seq, and whether there is one.
func (s *Store) Get(seq uint64) (Cluster, bool, error) {
	value, ok, err := s.get(keyOfCluster(seq))
	if err != nil || !ok {
		return Cluster{}, false, err
	}
	c, err := decodeCluster(value, seq, s.identity.Input)
	if err != nil {
		return Cluster{}, false, err
	}
	c.read = s.view
	return c, true, nil
}

// Find is the cluster of this founder, and whether there is one.
func (s *Store) Find(founder article.Address) (Cluster, bool, error) {
	if founder.Topic != s.identity.Input {
		return Cluster{}, false, nil
	}
	value, ok, err := s.get(keyOfFounder(founder))
	if err != nil || !ok {
		return Cluster{}, false, err
	}
	seq, err := decodeUint64(value)
	if err != nil {
		return Cluster{}, false, err
	}
	c, ok, err := s.Get(seq)
	if err == nil && (!ok || c.Founder != founder) {
		return Cluster{}, false, fmt.Errorf("%w: %s: cluster %d is not that of %s", ErrDamaged, s.dir, seq, founder)
	}
	return c, ok, err
}

// checkEvery is after how many entries Centres looks whether it is still wanted.
const checkEvery = 1 << 12

// Centres hands the seq, fingerprint and sketch of each cluster on, in no order that means anything, until ctx
// ends or each fails. It reads the expiry entries alone.
func (s *Store) Centres(ctx context.Context, each func(seq, fingerprint uint64, sketch string) error) error {
	n := 0
	var stopped error
	err := s.scan(beforeExpiry(math.MinInt64), endOfExpiry(), func(key, value []byte) (more bool) {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			stopped = context.Cause(ctx)
			return false
		}
		var seq, fingerprint uint64
		var sketch string
		if _, seq, stopped = decodeExpiryKey(key); stopped == nil {
			fingerprint, sketch, stopped = decodeCentre(value)
		}
		if stopped == nil {
			stopped = each(seq, fingerprint, sketch)
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

// scan hands on what is stored under the keys in [from, to), in order, until each has enough. Key and
// value are valid until each returns.
func (s *Store) scan(from, to []byte, each func(key, value []byte) (more bool)) error {
	if err := s.health.check(); err != nil {
		return err
	}
	return s.health.guard("reading", func() error {
		i, err := s.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
		if err != nil {
			return err
		}
		for ok := i.First(); ok && each(i.Key(), i.Value()); ok = i.Next() {
		}
		return i.Close() // it says what went wrong on the way
	})
}
