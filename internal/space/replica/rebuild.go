package replica

import (
	"context"
	"maps"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
)

// rebuildClusters is how many clusters a rebuild collects before it writes them: some 60 MB, twice.
// More would be written in fewer and larger tables, but take more memory.
const rebuildClusters = 100_000

// rebuild reads a whole clusters topic to a disk that is empty. What chunks say is collected, so
// that most clusters are written once and sorted, and while they are written, the next ones are
// read. It remembers which clusters it has written, so that it looks up on disk only those that
// come again.
type rebuild struct {
	changes  *changes
	size     int // clusters that are collected
	seqs     bitset
	founders founders
	stories  founders   // of their first clusters
	writing  chan error // of what is being written; nil: nothing is
}

func newRebuild(r *Replica) *rebuild {
	return &rebuild{
		changes: r.newChanges(), size: rebuildClusters, seqs: make(bitset), founders: make(founders),
		stories: make(founders),
	}
}

// apply takes over a chunk, and returns how many records that took.
func (r *rebuild) apply(ctx context.Context, chunk consumer.Chunk) (int, error) {
	n, err := r.changes.applyRecords(ctx, chunk)
	if err == nil && len(r.changes.clusters)+len(r.changes.stories)+len(r.changes.contacts) >= r.size {
		err = r.write(ctx)
	}
	return n, err
}

// write begins to write what was collected, when what was before is written.
func (r *rebuild) write(ctx context.Context) error {
	if err := r.wait(); err != nil {
		return err
	}
	done, writing := r.changes, make(chan error, 1)
	next := done.Replica.newChanges()
	done.meta.Founders = next.meta.Founders // of what was written since done was begun
	next.meta = done.meta.Clone()
	for _, c := range done.clusters {
		if !c.Removed {
			r.seqs.add(c.Seq)
			r.founders.add(c.Founder)
		}
	}
	stories := done.changedStories()
	for i := range stories {
		r.stories.add(stories[i].Founder())
	}
	r.changes, r.writing = next, writing
	// It is not cut short when ctx ends: the disk could not be gone on with.
	ctx = context.WithoutCancel(ctx)
	others := done.others(stories)
	go func() {
		writing <- done.space.Rebuild(ctx, maps.Values(done.clusters), done.meta, others...)
	}()
	return nil
}

// again has an attempt that was cut short go on from what is written.
func (r *rebuild) again() error {
	err := r.wait()
	r.changes = r.changes.Replica.newChanges()
	return err
}

// wait returns when nothing is being written any more. The disk can be read then.
func (r *rebuild) wait() error {
	if r.writing == nil {
		return nil
	}
	err := <-r.writing
	r.writing = nil
	return err
}

// finish writes what is left, and waits for it.
func (r *rebuild) finish(ctx context.Context) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	return r.wait()
}

// has reports whether a cluster may be on disk, or another one with its seq or its founder.
func (r *rebuild) has(c *cluster.Cluster) bool {
	return r.seqs.has(c.Seq) || r.founders.has(c.Founder)
}

// A bitset is a set of numbers that mostly stand close together: some 3 bits each, then.
type bitset map[uint64]uint64 // by number/64

func (b bitset) add(n uint64)      { b[n/64] |= 1 << (n % 64) }
func (b bitset) has(n uint64) bool { return b[n/64]&(1<<(n%64)) != 0 }

// founders are the offsets of founders by their partitions.
type founders map[int]bitset

func (f founders) add(a article.Address) {
	if f[a.Partition] == nil {
		f[a.Partition] = make(bitset)
	}
	f[a.Partition].add(uint64(a.Offset))
}

func (f founders) has(a article.Address) bool { return f[a.Partition].has(uint64(a.Offset)) }
