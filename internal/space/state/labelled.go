package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// A labelling is what becomes of a cluster among those that have labels.
type labelling struct {
	centre singlepass.Centre
	has    bool
}

// label notes a cluster that has labels, or has none any more.
func (c *change) label(k *cluster.Cluster, has bool) error {
	if at, had := c.labelledAt(k.Seq); had == has && (!has || c.labelled[at] == centreOf(k)) {
		return nil
	}
	c.labellings = append(c.labellings, labelling{centreOf(k), has})
	if has {
		return c.batch.Set(keyOfLabelled(k.Seq), nil, nil)
	}
	return c.batch.Delete(keyOfLabelled(k.Seq), nil)
}

// centreOf returns the centre of a cluster as far as texts are compared with it.
func centreOf(k *cluster.Cluster) singlepass.Centre {
	c := k.Centre
	c.Contacts = ""
	return c
}

// labelledAt returns where a seq is, or would be, among the clusters that have labels.
func (s *Store) labelledAt(seq uint64) (at int, ok bool) {
	return slices.BinarySearchFunc(s.labelled, seq, func(c singlepass.Centre, seq uint64) int {
		return cmp.Compare(c.Seq, seq)
	})
}

// relabel takes over what a change noted. Snapshots keep the list of before.
func (s *Store) relabel(all []labelling) {
	if len(all) == 0 {
		return
	}
	changed := make(map[uint64]struct{}, len(all))
	for _, l := range all {
		changed[l.centre.Seq] = struct{}{}
	}
	next := make([]singlepass.Centre, 0, len(s.labelled)+len(all))
	for _, c := range s.labelled {
		if _, ok := changed[c.Seq]; !ok {
			next = append(next, c)
		}
	}
	for _, l := range all {
		if l.has {
			next = append(next, l.centre)
		}
	}
	slices.SortFunc(next, func(a, b singlepass.Centre) int { return cmp.Compare(a.Seq, b.Seq) })
	s.labelled = next
}

// loadLabelled reads which clusters have labels.
func (s *Store) loadLabelled() error {
	var seqs []uint64
	var broken error
	err := s.db.Scan([]byte{labelledKey}, []byte{labelledKey + 1}, func(key, _ []byte) (more bool) {
		var seq uint64
		seq, broken = decodeUint64(key[1:])
		seqs = append(seqs, seq)
		return broken == nil
	})
	if err := errors.Join(err, broken); err != nil {
		return err
	}
	for _, seq := range seqs {
		c, _, ok, err := s.cluster(seq)
		if err == nil && (!ok || !c.Labelled()) {
			err = fmt.Errorf("%w: %s: cluster %d has no labels", ErrDamaged, s.dir, seq)
		}
		if err != nil {
			return err
		}
		s.labelled = append(s.labelled, centreOf(&c))
	}
	return nil
}
