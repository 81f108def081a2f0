package pipeline

import (
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
// records that took.
func (r *replica) take(chunk consumer.Chunk) (int, error) {
	t := &replay{replica: r, clusters: make(map[uint64]*replayed), seqs: make(map[article.Address]uint64), meta: r.space.store.Meta()}
	done, taken := t.meta.Last[chunk.Partition], 0
	for _, record := range chunk.Records {
		if record.Offset == done.Offset && done.Key != "" {
			if key := recordKey(record); key != done.Key {
				return 0, fmt.Errorf("%w: at %s/%d/%d it has cluster %s, not %s", errUnusable, record.Topic, record.Partition, record.Offset, key, done.Key)
			}
			continue // it is on disk
		}
		if err := t.one(record); err != nil {
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

func recordKey(r kafka.Record) string {
	key := string(r.Key)
	if position, ok := recordPosition(r); ok {
		key += " at " + position
	}
	return key
}

// one takes a record in. Clusters of other spaces that share the partition are passed over; what this
// space cannot have written is an error.
func (t *replay) one(r kafka.Record) error {
	if r.Value == nil {
		return t.remove(r)
	}
	c, identity, err := parseCluster(r)
	if err != nil {
		return fmt.Errorf("%s/%d/%d is no cluster that clusterd wrote (%w): is output.clusters_topic used for something else?",
			r.Topic, r.Partition, r.Offset, err)
	}
	if c.Founder.Topic != t.config.Input.Topic {
		return fmt.Errorf("%s/%d/%d is a cluster of topic %s, not of %s: give each input topic its own output.clusters_topic",
			r.Topic, r.Partition, r.Offset, c.Founder.Topic, t.config.Input.Topic)
	}
	if c.Founder.Partition%t.modulus != r.Partition {
		return fmt.Errorf("%s/%d/%d is in another partition than its founder's, %d: the number of partitions of output.clusters_topic was "+
			"changed, which moves its keys. Start anew with another input.group and another output.clusters_topic",
			r.Topic, r.Partition, r.Offset, c.Founder.Partition)
	}
	if identity != t.identity {
		return fmt.Errorf("the clusters in %s were made in another way (%s): their fingerprints cannot be compared with new ones. "+
			"Set it back, or start anew with another input.group and another output.clusters_topic",
			r.Topic, difference(identity, t.identity))
	}
	if !t.owns(c.Founder.Partition) {
		return nil
	}
	return t.put(c)
}

func (t *replay) put(c state.Cluster) error {
	t.meta.StreamTime, t.meta.Next = max(t.meta.StreamTime, c.LastSeen), max(t.meta.Next, c.Position+1)
	now, err := t.cluster(c.Seq)
	if err != nil {
		return err
	}
	if now == nil {
		t.clusters[c.Seq], t.seqs[c.Founder] = &replayed{Cluster: c}, c.Seq
		return nil
	}
	if now.Founder != c.Founder {
		return fmt.Errorf("clusters %s and %s have the same founding order %d: they were made with cluster.scope: partition; "+
			"set it so, or start anew with another input.group and another output.clusters_topic", now.Founder, c.Founder, c.Seq)
	}
	now.Size, now.FirstSeen, now.LastSeen, now.Position, now.gone = c.Size, c.FirstSeen, c.LastSeen, c.Position, false
	return nil
}

// remove takes in a tombstone. Compaction may have left it alone, without its cluster.
func (t *replay) remove(r kafka.Record) error {
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
			"eta", time.Duration(float64(p.total-p.done)/max(rate, 1)*float64(time.Second)).Round(time.Second), slog.Int64("left", p.total-p.done))
	}
	return p.open == 0
}
