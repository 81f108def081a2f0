package replica

import (
	"context"
	"fmt"
	"maps"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/cluster"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/state"
)

// changes are what a chunk of the clusters topic changes: of each cluster, the last that it says.
type changes struct {
	*Replica
	clusters map[uint64]*space.Change // by seq
	seqs     map[article.Address]uint64
	meta     state.Meta
}

// applyChunk brings the disk, and the index if it is loaded, to the end of the chunk, and returns how
// many records that took. A record that is not to be believed is passed over where a later one has its
// key, as if the topic were compacted already. Otherwise it is an error that says what to do.
func (r *Replica) applyChunk(ctx context.Context, chunk consumer.Chunk) (int, error) {
	c := &changes{Replica: r, clusters: make(map[uint64]*space.Change), seqs: make(map[article.Address]uint64), meta: r.space.Meta()}
	last, applied := c.meta.Last[chunk.Partition], 0
	for _, record := range chunk.Records {
		if record.Offset == last.Offset && last.Key != "" {
			if key := recordKey(record); key != last.Key {
				return 0, fmt.Errorf("%w: at %s/%d/%d it has cluster %s, not %s", errUnusable, record.Topic, record.Partition, record.Offset, key, last.Key)
			}
			continue // it is on disk
		}
		said, err := r.decode(record)
		if err == nil {
			err = c.apply(said)
		}
		if err != nil {
			err = r.passOver(ctx, record, err)
		}
		if err != nil {
			return 0, err
		}
		applied++
	}
	c.meta.Offsets[chunk.Partition] = max(chunk.Next, c.meta.Offsets[chunk.Partition])
	if n := len(chunk.Records); n > 0 {
		c.meta.Last[chunk.Partition] = lastRecord(chunk.Records[n-1])
	}
	return applied, r.space.Apply(maps.Values(c.clusters), c.meta)
}

// apply holds what a record says to what was there before, and takes it over. What other spaces say
// that share the partition is passed over.
func (c *changes) apply(said statement) error {
	switch {
	case said.checkpoint != nil:
		return c.advance(said.checkpoint)
	case said.cluster != nil:
		return c.put(*said.cluster)
	default:
		return c.remove(said.key)
	}
}

// put takes over a cluster as it is now.
func (c *changes) put(now cluster.Cluster) error {
	if !c.owns(now.Founder.Partition) {
		return nil
	}
	before, err := c.before(now)
	if err != nil {
		return err
	}
	if before == nil {
		before = &space.Change{Cluster: now}
		c.clusters[now.Seq], c.seqs[now.Founder] = before, now.Seq
	}
	if before.Founder != now.Founder {
		return contradict("cluster %s has the same founding order %d: they were made with cluster.scope: partition; "+
			"set it so, or %s", before.Founder, now.Seq, StartAnew)
	}
	if err := now.Follows(&before.Cluster); err != nil {
		return contradict("%s", err)
	}
	before.Cluster, before.Removed = now, false
	c.meta.StreamTime, c.meta.Next = max(c.meta.StreamTime, now.LastSeen), max(c.meta.Next, now.Position+1)
	return nil
}

// before returns what is known of a cluster so far, nil for nothing.
func (c *changes) before(now cluster.Cluster) (*space.Change, error) {
	if known, ok := c.clusters[now.Seq]; ok {
		return known, nil
	}
	stored, ok, err := c.space.Get(now.Seq)
	if err != nil {
		return nil, err
	}
	if ok {
		return c.stored(stored), nil
	}
	// A founder has one cluster.
	seq, ok := c.seqs[now.Founder]
	if !ok {
		if stored, ok, err = c.space.Find(now.Founder); err != nil || !ok {
			return nil, err
		}
		seq = stored.Seq
	}
	return nil, contradict("the cluster has another founding order than before, %d, and it never changes", seq)
}

// stored notes a cluster that is on disk.
func (c *changes) stored(k cluster.Cluster) *space.Change {
	known := &space.Change{Cluster: k, Stored: true}
	c.clusters[k.Seq], c.seqs[k.Founder] = known, k.Seq
	return known
}

// advance takes over a checkpoint.
func (c *changes) advance(now *article.Checkpoint) error {
	if now.Space != c.Name() {
		return nil
	}
	if before := c.meta.Checkpoint; before != nil {
		for p, offset := range before.Offsets {
			if now.Offsets[p] < offset {
				return contradict("the input goes back, from offset %d of partition %d to %d", offset, p, now.Offsets[p])
			}
		}
	}
	c.meta.Checkpoint = now
	c.meta.StreamTime, c.meta.Next = max(c.meta.StreamTime, now.StreamTime), max(c.meta.Next, now.NextPosition)
	return nil
}

// remove takes over a tombstone. Compaction may have left it alone, without its cluster.
func (c *changes) remove(key []byte) error {
	if article.IsCheckpoint(key) {
		if string(key) == c.Options.Space.Key() {
			c.meta.Checkpoint = nil
		}
		return nil
	}
	founder, err := article.ParseAddress(string(key))
	if err != nil || founder.Topic != c.Options.Space.Input || !c.owns(founder.Partition) {
		return nil
	}
	if seq, ok := c.seqs[founder]; ok {
		c.clusters[seq].Removed = true
		return nil
	}
	stored, ok, err := c.space.Find(founder)
	if err == nil && ok {
		c.stored(stored).Removed = true
	}
	return err
}

// lastRecord returns by what a record is recognised.
func lastRecord(record kafka.Record) state.LastRecord {
	return state.LastRecord{Offset: record.Offset, Key: recordKey(record)}
}

// recordKey tells records of the clusters topic apart, in a short text.
func recordKey(record kafka.Record) string {
	key := string(record.Key)
	if len(key) > maxKeyBytes || !utf8.ValidString(key) {
		key = fmt.Sprintf("%x", xxh3.Hash128(record.Key).Bytes())
	}
	position, err := recordPosition(record)
	switch {
	case err == nil:
		return fmt.Sprint(key, " at ", position)
	case record.Value != nil:
		return fmt.Sprintf("%s, %016x", key, xxh3.Hash(record.Value))
	default:
		return key
	}
}
