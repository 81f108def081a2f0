package state

import (
	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/cluster"
	"github.com/clusterd/clusterd/internal/disk"
)

// A Snapshot is the clusters of a [Store] as they were when it was taken, whatever the store does
// meanwhile. It is safe for concurrent use, but for Close. It must be closed before the store is.
type Snapshot struct {
	reader
	snapshot *disk.Snapshot
	meta     Meta
	live     int
}

// Snapshot returns the clusters as they are now. It reads and copies none.
func (s *Store) Snapshot() *Snapshot {
	snapshot := s.db.Snapshot()
	return &Snapshot{
		reader:   reader{snapshot.Reader, s.dir, s.identity},
		snapshot: snapshot, meta: s.meta.clone(), live: s.live,
	}
}

// Meta returns what the last Apply before the snapshot wrote. It must not be changed.
func (s *Snapshot) Meta() *Meta { return &s.meta }

// Len returns how many clusters there are.
func (s *Snapshot) Len() int { return s.live }

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

// Close lets go of what the store keeps for the snapshot alone.
func (s *Snapshot) Close() error { return s.snapshot.Close() }
