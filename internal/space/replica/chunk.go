package replica

import (
	"context"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/parallel"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/state"
)

// changes are what chunks of the clusters topic change: of each cluster, the last that they say.
type changes struct {
	*Replica
	clusters map[uint64]*space.Change // by seq
	seqs     map[article.Address]uint64
	stories  map[string]*state.StoryChange  // by id
	contacts map[string]state.ContactChange // by key
	meta     state.Meta
}

func (r *Replica) newChanges() *changes {
	return &changes{
		Replica: r, clusters: make(map[uint64]*space.Change), seqs: make(map[article.Address]uint64),
		stories: make(map[string]*state.StoryChange), contacts: make(map[string]state.ContactChange),
		meta: r.space.Meta(),
	}
}

// applyChunk brings the disk, and the index if it is loaded, to the end of the chunk, and returns
// how many records that took. A record that is not to be believed is passed over where a later one
// has its key, as if the topic were compacted already. Otherwise it is an error that says what to
// do. While the disk is rebuilt, it is brought there some chunks later.
func (r *Replica) applyChunk(ctx context.Context, chunk consumer.Chunk) (int, error) {
	if r.rebuild != nil {
		return r.rebuild.apply(ctx, chunk)
	}
	c := r.newChanges()
	n, err := c.applyRecords(ctx, chunk)
	if err != nil {
		return 0, err
	}
	return n, r.space.Apply(maps.Values(c.clusters), c.meta, c.others(c.changedStories())...)
}

// applyRecords takes over what the records of a chunk say, and returns how many there are.
func (c *changes) applyRecords(ctx context.Context, chunk consumer.Chunk) (int, error) {
	records, err := c.unapplied(chunk)
	if err != nil {
		return 0, err
	}
	said, failed := make([]statement, len(records)), make([]error, len(records))
	parallel.Chunks(len(records), func(from, to int) {
		for i := from; i < to; i++ {
			said[i], failed[i] = c.decode(records[i])
		}
	})
	for i, record := range records {
		err := failed[i]
		if err == nil {
			err = c.apply(said[i])
		}
		if err != nil {
			err = c.passOver(ctx, record, err)
		}
		if err != nil {
			return 0, err
		}
	}
	c.meta.Offsets[chunk.Partition] = max(chunk.Next, c.meta.Offsets[chunk.Partition])
	return len(records), nil
}

// apply holds what a record says to what was there before, and takes it over. What other spaces say
// that share the partition is passed over.
func (c *changes) apply(said statement) error {
	switch {
	case said.cluster != nil && c.owns(said.cluster.Founder.Partition):
		if said.removed {
			return c.remove(said.cluster.Founder)
		}
		return c.put(*said.cluster)
	case said.story != nil && c.owns(said.story.Founder().Partition):
		return c.applyStory(*said.story, said.removed)
	case said.contact != nil:
		c.contacts[string(said.contact.Key(c.Name()))] = state.ContactChange{Contact: *said.contact}
		c.meta.Next = max(c.meta.Next, said.contact.Position)
	case said.checkpoint != nil && said.checkpoint.Space == c.Name():
		if said.removed {
			c.meta.Checkpoint = nil
			return nil
		}
		return c.advance(said.checkpoint)
	}
	return nil
}

// others returns what becomes of stories and contacts.
func (c *changes) others(stories []state.StoryChange) []state.Change {
	var contacts []state.ContactChange
	for _, key := range slices.Sorted(maps.Keys(c.contacts)) {
		contacts = append(contacts, c.contacts[key])
	}
	return state.ChangesOf(stories, contacts)
}

// put takes over a cluster as it is now.
func (c *changes) put(now cluster.Cluster) error {
	before, err := c.before(now)
	if err != nil {
		return err
	}
	if before == nil {
		before = &space.Change{Cluster: now, Joined: now.Size - 1}
		c.clusters[now.Seq], c.seqs[now.Founder] = before, now.Seq
	}
	if before.Founder != now.Founder {
		return contradict("cluster %s has the same founding order %d: they were made with "+
			"cluster.scope: partition; set it so, or %s", before.Founder, now.Seq, StartAnew)
	}
	if err := now.Follows(&before.Cluster); err != nil {
		return contradict("%s", err)
	}
	before.Erased = before.Erased || before.Stored &&
		(before.Representative != now.Representative || before.Contacts != now.Contacts)
	before.Joined += now.Size - before.Size
	before.Cluster, before.Removed = now, false
	c.meta.StreamTime = max(c.meta.StreamTime, now.LastSeen)
	c.meta.Next = max(c.meta.Next, now.Position+1)
	return nil
}

// before returns what is known of a cluster so far, nil for nothing.
func (c *changes) before(now cluster.Cluster) (*space.Change, error) {
	known, ok := c.clusters[now.Seq]
	if ok {
		return known, nil
	}
	_, founded := c.seqs[now.Founder]
	if r := c.rebuild; r != nil {
		if !founded && !r.has(&now) {
			return nil, nil
		}
		if err := r.wait(); err != nil {
			return nil, err
		}
	}
	stored, ok, err := c.space.Get(now.Seq)
	if err != nil {
		return nil, err
	}
	if ok {
		known = &space.Change{Cluster: stored, Stored: true}
		c.clusters[stored.Seq], c.seqs[stored.Founder] = known, stored.Seq
		return known, nil
	}
	// A founder has one cluster.
	seq, ok := c.seqs[now.Founder]
	if !ok {
		if stored, ok, err = c.space.Find(now.Founder); err != nil || !ok {
			return nil, err
		}
		seq = stored.Seq
	}
	return nil, contradict("the cluster has another founding order than before, %d, and it never "+
		"changes", seq)
}

// remove takes over a tombstone. Compaction may have left it alone, without its cluster.
func (c *changes) remove(founder article.Address) error {
	seq, ok := c.seqs[founder]
	if !ok {
		if r := c.rebuild; r != nil {
			if !r.founders.has(founder) {
				return nil
			}
			if err := r.wait(); err != nil {
				return err
			}
		}
		stored, found, err := c.space.Find(founder)
		if err != nil || !found {
			return err
		}
		seq = stored.Seq
		c.clusters[seq], c.seqs[founder] = &space.Change{Cluster: stored, Stored: true}, seq
	}
	c.clusters[seq].Removed = true
	return nil
}

// advance takes over a checkpoint.
func (c *changes) advance(now *checkpoint.Record) error {
	if before := c.meta.Checkpoint; before != nil {
		for p, offset := range before.Offsets {
			if now.Offsets[p] < offset {
				return contradict("the input goes back, from offset %d of partition %d to %d", offset, p,
					now.Offsets[p])
			}
		}
	}
	c.meta.Checkpoint = now
	c.advanced++
	c.meta.StreamTime, c.meta.Next = max(c.meta.StreamTime, now.StreamTime),
		max(c.meta.Next, now.NextPosition)
	return nil
}
