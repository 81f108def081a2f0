package state

import (
	"errors"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/disk"
)

// A Snapshot is the clusters of a [Store] as they were when it was taken, whatever the store does
// meanwhile. It is safe for concurrent use, but for Close. It must be closed before the store is.
type Snapshot struct {
	reader
	snapshot *disk.Snapshot
	meta     Meta
	live     int
	labelled []singlepass.Centre
}

// Snapshot returns the clusters as they are now. It reads and copies none.
func (s *Store) Snapshot() *Snapshot {
	snapshot := s.db.Snapshot()
	return &Snapshot{
		reader:   reader{snapshot.Reader, s.dir, s.identity},
		snapshot: snapshot, meta: s.meta.Clone(), live: s.live, labelled: s.labelled,
	}
}

// Meta returns what the last Apply before the snapshot wrote. It must not be changed.
func (s *Snapshot) Meta() *Meta { return &s.meta }

// Len returns how many clusters there are.
func (s *Snapshot) Len() int { return s.live }

// Labelled returns the clusters that have labels, in founding order, without their contacts. It
// must not be changed.
func (s *Snapshot) Labelled() []singlepass.Centre { return s.labelled }

// Get returns the cluster of this seq, and whether there is one.
func (s *Snapshot) Get(seq uint64) (c cluster.Cluster, ok bool, err error) {
	c, _, ok, err = s.cluster(seq)
	return c, ok, err
}

// Find returns the cluster of this founder, and whether there is one.
func (s *Snapshot) Find(founder article.Address) (c cluster.Cluster, ok bool, err error) {
	c, _, ok, err = s.founded(founder)
	return c, ok, err
}

// Before returns the clusters whose seqs are below one, the youngest first, at most so many.
func (s *Snapshot) Before(seq uint64, limit int) (found []cluster.Cluster, err error) {
	var broken error
	err = s.from.ScanBack(keyOfCluster(0), keyOfCluster(seq), func(key, value []byte) (more bool) {
		if len(found) == limit {
			return false
		}
		var at uint64
		var c cluster.Cluster
		if at, broken = decodeUint64(key[1:]); broken == nil {
			c, _, broken = decodeCluster(value, at, s.identity.Input)
		}
		found = append(found, c)
		return broken == nil
	})
	return found, errors.Join(err, broken)
}

// Close lets go of what the store keeps for the snapshot alone.
func (s *Snapshot) Close() error { return s.snapshot.Close() }
