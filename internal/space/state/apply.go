package state

import (
	"errors"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
)

// Apply puts and removes clusters, changes others and sets the meta data, all or nothing. None may
// be named twice. Clusters that are on disk are replaced, and removing one that is not there does
// nothing: applying the same again changes nothing. m.Next must be above the seqs of all clusters.
// m.Written and m.Founders are set here.
//
// A cluster that was read or written lately is not read again; one whose seq is not below the Next
// of before is new. Any other is looked up.
//
// After an error of the disk the change is in memory or not, and nothing can be done but Close.
func (s *Store) Apply(
	put, remove []cluster.Cluster, m Meta, others ...Change,
) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	c := change{
		Store: s, batch: s.db.Batch(), live: s.live, marks: s.marks,
		named: make(map[uint64]location, len(put)+len(remove)), oldest: make(map[string]int64),
	}
	defer func() { _ = c.batch.Close() }() // it only gives memory back
	if m.Next < s.meta.Next {
		return fmt.Errorf("the next position was %d and would be %d", s.meta.Next, m.Next)
	}
	m = m.Clone()
	for _, k := range put {
		if err := c.put(k, m.Next); err != nil {
			return err
		}
		if at, ok := m.Founders[k.Founder.Partition]; !ok || k.Founder.Offset > at {
			m.Founders[k.Founder.Partition] = k.Founder.Offset
		}
	}
	for _, k := range remove {
		if err := c.remove(k); err != nil {
			return err
		}
	}
	for _, other := range others {
		if err := other.write(&c); err != nil {
			return err
		}
	}
	m.Written = s.now().UTC().Round(0)
	if err := c.describe(m); err != nil {
		return err
	}
	if err := s.db.Commit(c.batch); err != nil {
		return err
	}
	s.meta, s.live, s.marks = m, c.live, c.marks
	c.note(remove)
	s.relabel(c.labellings)
	return s.db.FlushIfDue()
}

// note keeps where clusters are stored once the change is made.
func (c *change) note(removed []cluster.Cluster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for seq, at := range c.named {
		c.read.set(seq, at)
	}
	for i := range removed {
		c.read.remove(removed[i].Seq)
	}
	for value, at := range c.oldest {
		if before, ok := c.Store.oldest[value]; ok && at < before {
			c.Store.oldest[value] = at
		}
	}
}

// change is what an Apply writes.
type change struct {
	*Store
	batch  *pebble.Batch
	live   int
	marks  label.Tally
	oldest map[string]int64    // by value: the earliest time under which an entry was put
	named  map[uint64]location // by seq
	value  []byte              // of a cluster's key

	labellings []labelling
}

func (c *change) put(k cluster.Cluster, next uint64) error {
	// What could not be read back would be a damaged disk, time and again.
	if err := k.Validate(); err != nil {
		return fmt.Errorf("cluster %s: %w", k.Founder, err)
	}
	if k.Seq >= next {
		return fmt.Errorf("cluster %d is not below the next position, %d", k.Seq, next)
	}
	entry, stored, err := c.locate(&k)
	if err == nil && stored {
		err = c.rehold(&k)
	} else if err == nil {
		err = c.hold(nil, &k)
	}
	if err == nil {
		err = c.label(&k, k.Labelled())
	}
	if err == nil && k.Story != "" {
		err = c.batch.Set(keyOfMember(k.Story, k.Seq), nil, nil)
	}
	if err != nil {
		return err
	}
	if stored {
		at := min(entry, k.SeenAs())
		c.stands(&k, at)
		return errors.Join(c.moveEntry(&k, entry, at),
			c.batch.Set(keyOfCluster(k.Seq), c.encode(&k, at), nil))
	}
	entry = k.LastSeen
	c.live++
	c.stands(&k, entry)
	return errors.Join(
		c.batch.Set(keyOfCluster(k.Seq), c.encode(&k, entry), nil),
		c.batch.Set(keyOfExpiry(k.Space, entry, k.Seq), encodeCentre(k.Centre), nil),
		c.batch.Set(keyOfFounder(k.Founder), appendUint64(k.Seq), nil),
	)
}

// encode returns the value of a cluster's key, which is good until the next one is encoded.
func (c *change) encode(k *cluster.Cluster, entry int64) []byte {
	c.value = appendCluster(c.value[:0], k, entry)
	return c.value
}

// stands notes that the expiry entry of a cluster is put under a time.
func (c *change) stands(k *cluster.Cluster, at int64) {
	c.named[k.Seq] = location{k.Founder, at}
	if before, ok := c.oldest[k.Space]; !ok || at < before {
		c.oldest[k.Space] = at
	}
}

// moveEntry moves the expiry entry of a cluster that is not kept any longer: [Store.Overdue] looks
// no further than to the time at which the cluster counts as last seen.
func (c *change) moveEntry(k *cluster.Cluster, from, to int64) error {
	if from == to {
		return nil
	}
	return errors.Join(
		c.batch.Delete(keyOfExpiry(k.Space, from, k.Seq), nil),
		c.batch.Set(keyOfExpiry(k.Space, to, k.Seq), encodeCentre(k.Centre), nil),
	)
}

func (c *change) remove(k cluster.Cluster) error {
	entry, stored, err := c.locate(&k)
	if err != nil || !stored {
		return err
	}
	c.live--
	if k.Contacts != "" {
		// Under which it stands follows from what is stored.
		before, _, ok, failed := c.cluster(k.Seq)
		if err = failed; ok {
			err = c.hold(&before, nil)
		}
	}
	if k.Story != "" {
		err = errors.Join(err, c.batch.Delete(keyOfMember(k.Story, k.Seq), nil))
	}
	return errors.Join(err,
		c.label(&k, false),
		c.batch.Delete(keyOfCluster(k.Seq), nil),
		c.batch.Delete(keyOfExpiry(k.Space, entry, k.Seq), nil),
		c.batch.Delete(keyOfFounder(k.Founder), nil),
	)
}

// locate reports whether a cluster is stored, and under which time its expiry entry stands.
func (c *change) locate(k *cluster.Cluster) (entry int64, stored bool, err error) {
	if k.Founder.Topic != c.identity.Input {
		return 0, false, fmt.Errorf("cluster %s is not of topic %s", k.Founder, c.identity.Input)
	}
	if _, ok := c.named[k.Seq]; ok {
		return 0, false, fmt.Errorf("cluster %s, %d in the order of founding, is changed twice at once",
			k.Founder, k.Seq)
	}
	c.named[k.Seq] = location{k.Founder, math.MinInt64}
	found, ok := c.locationOf(k.Seq)
	if !ok {
		if k.Seq >= c.meta.Next {
			return 0, false, nil
		}
		var before cluster.Cluster
		if before, found.entry, ok, err = c.cluster(k.Seq); err != nil || !ok {
			return 0, false, err
		}
		found.founder = before.Founder
	}
	if found.founder != k.Founder {
		return 0, false, fmt.Errorf("clusters %s and %s are both %d in the order of founding",
			found.founder, k.Founder, k.Seq)
	}
	return found.entry, true, nil
}

func (c *change) describe(m Meta) error {
	value, err := header{Version: version, Identity: c.identity, Live: c.live, Meta: m}.encode()
	if err != nil {
		return fmt.Errorf("describing the clusters: %w", err)
	}
	return c.batch.Set([]byte{metaKey}, value, nil)
}
