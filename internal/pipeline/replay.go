package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/state"
)

// replay is what a chunk of the clusters topic changes: of each cluster, the last that it says.
type replay struct {
	*replica
	clusters map[uint64]*replayed // by seq
	seqs     map[article.Address]uint64
	meta     state.Meta
}

// replayed is a cluster before and after the chunk.
type replayed struct {
	state.Cluster
	known bool // it is on disk
	gone  bool
}

// take brings the disk, and the index if it is filled, to the end of the chunk, and says how many
// records that took. A record that is not to be believed is passed over where a later one has its key, as if the
// topic were compacted already; else it is an error that says what to do.
func (r *replica) take(ctx context.Context, chunk consumer.Chunk) (int, error) {
	t := &replay{replica: r, clusters: make(map[uint64]*replayed), seqs: make(map[article.Address]uint64), meta: r.space.store.Meta()}
	done, taken := t.meta.Last[chunk.Partition], 0
	for _, record := range chunk.Records {
		if record.Offset == done.Offset && done.Key != "" {
			if key := recordKey(record); key != done.Key {
				return 0, fmt.Errorf("%w: at %s/%d/%d it has cluster %s, not %s", errUnusable, record.Topic, record.Partition, record.Offset, key, done.Key)
			}
			continue // it is on disk
		}
		err := t.one(record)
		var u *unexpected
		if errors.As(err, &u) {
			var over bool
			if over, err = r.superseded(ctx, u); err == nil && !over {
				err = r.explain(u)
			}
		}
		if err != nil {
			return 0, err
		}
		taken++
	}
	at := mark{next: max(chunk.Next, t.meta.Offsets[chunk.Partition])}
	if n := len(chunk.Records); n > 0 {
		at.last = lastRecord(chunk.Records[n-1])
	}
	return taken, t.apply(map[int]mark{chunk.Partition: at})
}

// lastRecord is by what a record is known again.
func lastRecord(r kafka.Record) *state.LastRecord {
	return &state.LastRecord{Offset: r.Offset, Key: recordKey(r)}
}

// one takes a record in. Clusters of other spaces that share the partition are passed over; what this
// space cannot have written is an error, [unexpected].
func (t *replay) one(r kafka.Record) error {
	if r.Unreadable != nil {
		return fmt.Errorf("offsets %d to %d of %s/%d cannot be read (%s): it is a record batch that clusterd did not write. Nothing was skipped. "+
			"Find out who else writes to output.clusters_topic, and start anew with another input.group and another output.clusters_topic",
			r.Offset, r.Unreadable.Last, r.Topic, r.Partition, r.Unreadable.Reason)
	}
	if r.Value == nil && r.Cut == 0 {
		return t.remove(r)
	}
	said, err := t.read(r)
	if err == nil && said.cluster != nil && t.owns(said.cluster.Founder.Partition) {
		err = t.put(*said.cluster)
	}
	if err == nil && said.checkpoint != nil && said.checkpoint.Space == t.name {
		err = t.advance(said.checkpoint)
	}
	var c contradiction
	if errors.As(err, &c) {
		return &unexpected{Record: r, reason: err, contrary: true}
	}
	return err
}

// contradiction says what of a record does not go with one before it.
type contradiction string

func (c contradiction) Error() string { return string(c) }

func contradict(format string, args ...any) error {
	return contradiction(fmt.Sprintf(format, args...))
}

func (t *replay) put(c state.Cluster) error {
	now, err := t.cluster(c.Seq)
	if err != nil {
		return err
	}
	if now == nil {
		if err := t.unfounded(c.Founder); err != nil {
			return err
		}
		now = &replayed{Cluster: c}
		t.clusters[c.Seq], t.seqs[c.Founder] = now, c.Seq
	}
	switch {
	case now.Founder != c.Founder:
		return contradict("cluster %s has the same founding order %d: they were made with cluster.scope: partition; "+
			"set it so, or %s", now.Founder, c.Seq, startAnew)
	case now.Fingerprint != c.Fingerprint || now.Sketch != c.Sketch || now.Representative != c.Representative:
		return contradict("its centre or representative is another than before, and a cluster's never change")
	case c.Position < now.Position || c.Size < now.Size || c.FirstSeen > now.FirstSeen || c.LastSeen < now.LastSeen:
		return contradict("the cluster goes back, from size %d at position %d to size %d at position %d: the topic's order is not that "+
			"in which it was written", now.Size, now.Position, c.Size, c.Position)
	}
	now.Size, now.FirstSeen, now.LastSeen, now.Position, now.gone = c.Size, c.FirstSeen, c.LastSeen, c.Position, false
	t.meta.StreamTime, t.meta.Next = max(t.meta.StreamTime, c.LastSeen), max(t.meta.Next, c.Position+1)
	return nil
}

// unfounded is an error where a founder has a cluster of another seq already.
func (t *replay) unfounded(founder article.Address) error {
	seq, ok := t.seqs[founder]
	if !ok {
		c, found, err := t.space.store.Find(founder)
		if err != nil || !found {
			return err
		}
		seq = c.Seq
	}
	return contradict("the cluster has another founding order than before, %d, and it never changes", seq)
}

// advance takes in a checkpoint of this space.
func (t *replay) advance(c *article.Checkpoint) error {
	if before := t.meta.Checkpoint; before != nil {
		for p, offset := range before.Offsets {
			if c.Offsets[p] < offset {
				return contradict("the input goes back, from offset %d of partition %d to %d", offset, p, c.Offsets[p])
			}
		}
	}
	t.meta.Checkpoint = c
	t.meta.StreamTime, t.meta.Next = max(t.meta.StreamTime, c.StreamTime), max(t.meta.Next, c.NextPosition)
	return nil
}

// remove takes in a tombstone. Compaction may have left it alone, without its cluster.
func (t *replay) remove(r kafka.Record) error {
	if article.IsCheckpoint(r.Key) {
		if string(r.Key) == t.settings.Key() {
			t.meta.Checkpoint = nil
		}
		return nil
	}
	founder, err := article.ParseAddress(string(r.Key))
	if err != nil || founder.Topic != t.config.Input.Topic || !t.owns(founder.Partition) {
		return nil
	}
	if seq, ok := t.seqs[founder]; ok {
		t.clusters[seq].gone = true
		return nil
	}
	c, ok, err := t.space.store.Find(founder)
	if err == nil && ok {
		t.clusters[c.Seq], t.seqs[founder] = &replayed{Cluster: c, known: true, gone: true}, c.Seq
	}
	return err
}

// cluster is what is known of a cluster so far, nil for nothing.
func (t *replay) cluster(seq uint64) (*replayed, error) {
	if c, ok := t.clusters[seq]; ok {
		return c, nil
	}
	c, ok, err := t.space.store.Get(seq)
	if err != nil || !ok {
		return nil, err
	}
	known := &replayed{Cluster: c, known: true}
	t.clusters[seq], t.seqs[c.Founder] = known, seq
	return known, nil
}

func (t *replay) apply(marks map[int]mark) error {
	var put, gone []state.Cluster
	for _, c := range t.clusters {
		switch {
		case !c.gone:
			put = append(put, c.Cluster)
		case c.known:
			gone = append(gone, c.Cluster)
		}
	}
	note(&t.meta, put, marks)
	if err := t.space.store.Apply(put, gone, t.meta); err != nil || !t.filled {
		return err
	}
	for _, c := range t.clusters {
		switch {
		case c.known && c.gone:
			t.space.rule.Remove(centre(c.Cluster))
		case !c.known && !c.gone:
			t.space.rule.Insert(centre(c.Cluster))
		}
	}
	t.resume()
	return nil
}

// reading is the progress of reading the clusters topic to its ends.
type reading struct {
	*replica
	next, last  map[int]int64
	open        int // partitions that are not read to their end
	done, total int64
	began, said time.Time
}

// readingInterval is how often a long reading says how far it is.
const readingInterval = 2 * time.Second

func newReading(r *replica, from, last map[int]int64) *reading {
	p := &reading{replica: r, next: make(map[int]int64), last: last, began: time.Now(), said: time.Now()}
	for partition, end := range last {
		p.next[partition] = from[partition]
		if from[partition] < end {
			p.open++
			p.total += end - from[partition]
		}
	}
	return p
}

// at notes that a partition is read up to next, and reports whether all are read to their ends.
func (p *reading) at(partition int, next int64) bool {
	before := p.next[partition]
	p.next[partition] = next
	if before < p.last[partition] {
		p.done += min(next, p.last[partition]) - before
		if next >= p.last[partition] {
			p.open--
		}
	}
	p.monitor.Progress(p.name, p.done, p.total)
	if time.Since(p.said) >= readingInterval && p.open > 0 {
		p.said = time.Now()
		rate := float64(p.done) / time.Since(p.began).Seconds()
		p.log.Info("reading the clusters back", "percent", 100*p.done/p.total, "per_second", int64(rate),
			"eta", timeFor(p.total-p.done, max(rate, 1)), slog.Int64("left", p.total-p.done))
	}
	return p.open == 0
}
