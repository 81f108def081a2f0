package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/state"
)

// errUnusable marks a disk that does not fit the clusters topic, and says why. It is made anew from it.
var errUnusable = errors.New("it does not fit the clusters topic")

// unusable reports whether err says that a disk is to be made anew.
func unusable(err error) bool {
	return errors.Is(err, state.ErrDamaged) || errors.Is(err, state.ErrForeign) || errors.Is(err, errUnusable)
}

// replica is the clusters of one space, on disk and in the index, as of some offset of the clusters
// topic. A standby keeps it up to date all the time, an owner brings it up to date before it goes live.
// The topic is the truth: a disk that cannot be used is made anew from it.
type replica struct {
	config     config.Config
	client     *kafka.Client
	log        *slog.Logger
	monitor    *monitor.Monitor
	options    state.Options
	dir        string // of the store
	name       string // of the space
	owns       func(partition int) bool
	partitions []int // of the clusters topic, that hold the space's clusters
	modulus    int   // how many partitions the clusters topic has
	identity   string
	settings   settings
	newIndex   func() (singlepass.Index, error)

	tail  func(ctx context.Context, partition int, from int64, each func(kafka.Record)) (end int64, err error)
	scans map[int]scan // by partition of the clusters topic

	space  *space // nil: not open
	empty  bool   // the disk was empty, and what it has since is not all yet
	filled bool   // the index holds what is on disk
}

// mark is up to where a partition of the clusters topic is on disk, and the last record before that.
type mark struct {
	next int64
	last *state.LastRecord // nil: as before
}

// note puts into m what clusters and marks add to it.
func note(m *state.Meta, clusters []state.Cluster, marks map[int]mark) {
	for _, c := range clusters {
		if at, ok := m.Founders[c.Founder.Partition]; !ok || c.Founder.Offset > at {
			m.Founders[c.Founder.Partition] = c.Founder.Offset
		}
	}
	for p, mark := range marks {
		m.Offsets[p] = mark.next
		if mark.last != nil {
			m.Last[p] = *mark.last
		}
	}
}

// catchUp brings the replica to where the clusters topic ends now. When nothing is written any more by
// a previous owner, because it has been fenced, that is all there is.
//
// It reads to where the partitions end, not to the last stable offset: another space's open transaction
// may hold that back while records of ours lie behind it.
func (r *replica) catchUp(ctx context.Context) error {
	r.monitor.Recovering(r.name, "reading clusters back")
	began := time.Now()
	read, err := r.tryCatchUp(ctx)
	// Once: a disk that spoils what was just written to it is for the caller to wait for.
	if unusable(err) {
		if err := r.discard(err); err != nil {
			return err
		}
		read, err = r.tryCatchUp(ctx)
	}
	if err != nil {
		return err
	}
	took := time.Since(began)
	r.monitor.Recovered(took, read.how())
	r.log.Info("recovered the clusters", "clusters", r.space.rule.Len(), "from", read.how(), "read_back", read.records, "took", took.Round(time.Millisecond))
	return nil
}

// readBack is what a recovery read of the clusters topic.
type readBack struct {
	records int
	whole   bool // there was nothing on disk
}

func (b readBack) how() string {
	switch {
	case b.whole:
		return "topic"
	case b.records > 0:
		return "tail"
	default:
		return "disk"
	}
}

func (r *replica) tryCatchUp(ctx context.Context) (read readBack, err error) {
	ends, err := r.ends(ctx)
	if err != nil {
		return read, err
	}
	if err := r.open(ctx); err != nil {
		return read, err
	}
	from, err := r.from(ends)
	if err != nil {
		return read, err
	}
	progress := newReading(r, from, ends.last)
	if r.space.store.Meta().Written.IsZero() && progress.total > 0 {
		r.empty = true
		r.log.Warn("no clusters are on disk yet: reading all of them from Kafka", "dir", r.dir, "topic", r.config.Output.ClustersTopic)
		r.monitor.Rebuilt("missing")
	}
	read.whole = r.empty
	if read.records, err = r.readUntil(ctx, from, progress, ends.retention); err != nil {
		return read, err
	}
	r.empty = false
	if c := r.space.store.Meta().Checkpoint; c != nil {
		if err := r.sameSettings(c); err != nil {
			return read, fmt.Errorf("topic %s: %w", r.config.Output.ClustersTopic, err)
		}
	}
	if r.filled {
		return read, nil
	}
	return read, r.fill(ctx)
}

// ends are the first offset and the end of each partition of the clusters topic that counts, and how long
// tombstones stay in it.
type ends struct {
	first, last map[int]int64
	retention   time.Duration
}

func (r *replica) ends(ctx context.Context) (e ends, err error) {
	topic := r.config.Output.ClustersTopic
	err = kafka.Retry(ctx, r.log, "looking at topic "+topic, func() error {
		settings, err := r.client.TopicConfig(ctx, topic)
		if err != nil {
			return err
		}
		e.retention = settings.DeleteRetention
		if e.first, err = r.client.Offsets(ctx, topic, r.partitions, kafka.First); err != nil {
			return err
		}
		e.last, err = r.client.Offsets(ctx, topic, r.partitions, kafka.Last)
		return err
	})
	return e, err
}

// open opens the disk unless it is open.
func (r *replica) open(ctx context.Context) error {
	if r.space != nil {
		return nil
	}
	var broker string
	err := kafka.Retry(ctx, r.log, "asking for the cluster's id", func() (err error) {
		broker, err = r.client.ClusterID(ctx)
		return err
	})
	if err != nil {
		return err
	}
	index, err := r.newIndex()
	if err != nil {
		return err
	}
	store, err := state.Open(r.dir, state.Identity{
		Kafka: broker, Clusters: r.config.Output.ClustersTopic, Partitions: r.modulus, Input: r.config.Input.Topic, Group: r.config.Input.Group,
		Space: r.name, Pipeline: r.identity,
	}, r.options)
	if err != nil {
		return err
	}
	r.space, r.filled = newSpace(index, r.config.Cluster.Window, r.identity, store, time.Now), false
	return nil
}

// from is where to read on: at the last record that is on disk, to see that the topic is still the one
// that it came from.
func (r *replica) from(e ends) (map[int]int64, error) {
	m := r.space.store.Meta()
	from := make(map[int]int64)
	for p, last := range e.last {
		from[p] = e.first[p]
		next, ok := m.Offsets[p]
		switch {
		case !ok:
		case next > last:
			return nil, fmt.Errorf("%s/%d ends at offset %d, and clusters up to offset %d are on disk: the topic was made anew, or has lost records. "+
				"Nothing was read or written. To go on with the clusters that the topic still has, delete %s; or start anew with another "+
				"input.group and another output.clusters_topic", r.config.Output.ClustersTopic, p, last, next, r.dir)
		case next < e.first[p]:
			return nil, fmt.Errorf("%w: it ends at offset %d of partition %d, which begins at %d", errUnusable, next, p, e.first[p])
		default:
			from[p] = next
			if at, ok := m.Last[p]; ok && at.Offset >= e.first[p] {
				from[p] = at.Offset
			}
		}
	}
	return from, nil
}

// readUntil takes in the committed records from the offsets from to where progress ends, and says how many
// it took. Tombstones stay in the topic for retention.
func (r *replica) readUntil(ctx context.Context, from map[int]int64, progress *reading, retention time.Duration) (int, error) {
	if progress.open == 0 {
		return 0, nil
	}
	// A replica that is filled has been following, and has missed no tombstone.
	written := r.space.store.Meta().Written
	stale := !r.filled && !written.IsZero() && time.Since(written) > retention
	read := 0
	err := r.receive(ctx, from, func(chunk consumer.Chunk) (done bool, err error) {
		n, err := r.take(ctx, chunk)
		if err == nil {
			err = failpoint.Hit(failpoint.Recovering)
		}
		if err != nil {
			return false, err
		}
		if read += n; stale && n > 0 {
			return false, fmt.Errorf("%w: it was last written at %s, and tombstones stay in the topic for %s (delete.retention.ms)", errUnusable,
				written.Format(time.RFC3339), retention)
		}
		return progress.at(chunk.Partition, chunk.Next), nil
	})
	return read, err
}

// receive hands on chunks of the clusters topic until do says that it is done, or fails.
func (r *replica) receive(ctx context.Context, from map[int]int64, do func(consumer.Chunk) (bool, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	chunks, failed := make(chan consumer.Chunk), make(chan error, 1)
	go func() {
		log := consumer.NewLog(r.client, r.log, r.config.Output.ClustersTopic, from, r.config.Batch.Bytes)
		log.MaxValue = maxRecordedBytes
		log.OnPoll = func(positions []consumer.Position) {
			r.monitor.Polled(0, 0)
			for _, p := range positions {
				r.monitor.Open(r.name, r.config.Output.ClustersTopic, p.Partition, p.Open)
			}
		}
		failed <- log.Read(ctx, chunks)
	}()
	for {
		select {
		case chunk := <-chunks:
			if done, err := do(chunk); done || err != nil {
				cancel()
				<-failed
				return err
			}
		case err := <-failed:
			cancel()
			return err
		}
	}
}

// follow takes in what is written to the clusters topic, as a standby does, until ctx ends.
func (r *replica) follow(ctx context.Context) error {
	ends, err := r.ends(ctx)
	if err != nil {
		return err
	}
	from, err := r.from(ends)
	if err != nil {
		return err
	}
	return r.receive(ctx, from, func(chunk consumer.Chunk) (bool, error) {
		_, err := r.take(ctx, chunk)
		return false, err
	})
}

// fill puts the centres of all clusters on disk into the index. It is not cut short when ctx ends, since
// whoever comes next would have to begin again.
func (r *replica) fill(ctx context.Context) error {
	r.monitor.Recovering(r.name, "filling the index")
	var failed error
	r.space.rule.Fill(r.space.store.Len(), func(yield func(singlepass.Centre) bool) {
		failed = r.space.store.Centres(context.WithoutCancel(ctx), func(seq, fingerprint uint64, sketch string) error {
			f := singlepass.Fingerprint{Hash: fingerprint, Sketch: sketch}
			if err := r.settings.check(f); err != nil {
				return fmt.Errorf("%w: cluster %d: %w", state.ErrDamaged, seq, err)
			}
			yield(singlepass.Centre{Fingerprint: f, Seq: seq})
			return nil
		})
	})
	if failed != nil {
		return errors.Join(failed, r.closeStore()) // and the index with it, which is half full
	}
	r.resume()
	r.filled = true
	return nil
}

// resume sets the rule to where the disk is.
func (r *replica) resume() {
	m := r.space.store.Meta()
	r.space.rule.Resume(singlepass.State{StreamTime: m.StreamTime, Next: m.Next})
}

// discard throws the disk away, which is safe: Kafka has all that was on it.
func (r *replica) discard(reason error) error {
	kind := "stale"
	switch {
	case errors.Is(reason, state.ErrDamaged):
		kind = "damaged"
	case errors.Is(reason, state.ErrForeign):
		kind = "foreign"
	}
	r.monitor.Rebuilt(kind)
	r.log.Warn("the clusters on disk cannot be used; reading all of them back from Kafka, which has them", "dir", r.dir, "reason", reason)
	_ = r.closeStore() // the reason says what is wrong with it
	return state.Remove(r.dir)
}

// close leaves the disk as it is, complete up to its mark.
func (r *replica) close() {
	if err := r.closeStore(); err != nil {
		r.log.Warn("closing the clusters on disk failed; what is missing is read from Kafka again", "dir", r.dir, "error", err)
	}
}

// closeStore closes the disk if it is open.
func (r *replica) closeStore() (err error) {
	if r.space != nil {
		err = r.space.store.Close()
	}
	r.space, r.empty, r.filled = nil, false, false
	return err
}

// checkOffsets compares the offsets that the group has committed with those of the last transaction: where they were
// set back, articles would be counted twice.
func (r *replica) checkOffsets(committed map[int]int64) error {
	c := r.space.store.Meta().Checkpoint
	if c == nil {
		return nil // a clusterd of before wrote none
	}
	var behind, commands []string
	topic, group := r.config.Input.Topic, r.config.Input.Group
	for _, p := range slices.Sorted(maps.Keys(c.Offsets)) {
		reached := c.Offsets[p]
		switch at, ok := committed[p]; {
		case ok && at == reached:
		case ok && at > reached:
			r.log.Warn("articles were skipped: the offsets of the group were set forward", "group", group, "topic", topic, "partition", p,
				"from", reached, "to", at)
		default:
			where := "has no offset"
			if ok {
				where = fmt.Sprintf("is at offset %d", at)
			}
			behind = append(behind, fmt.Sprintf("%s of %s/%d, of which it has made clusters up to offset %d", where, topic, p, reached))
			commands = append(commands, fmt.Sprintf("kafka-consumer-groups --bootstrap-server %s --group %s --topic %s:%d --reset-offsets --to-offset %d --execute",
				strings.Join(r.config.Kafka.Brokers, ","), group, topic, p, reached))
		}
	}
	if behind == nil {
		return nil
	}
	return fmt.Errorf("group %s %s: its offsets were set back, or expired, or the topic was made anew. To read on from there would count "+
		"articles twice; nothing was read. Put the offsets back, while no instance runs (%s), or %s",
		group, strings.Join(behind, ", "), strings.Join(commands, "; "), startAnew)
}

// checkFounders makes sure that no cluster was founded by an article that is still to be read: its id,
// the founder's address, would be minted a second time for another article.
func (r *replica) checkFounders(next map[int]int64) error {
	founders := r.space.store.Meta().Founders
	for _, p := range slices.Sorted(maps.Keys(founders)) {
		at := article.Address{Topic: r.config.Input.Topic, Partition: p, Offset: founders[p]}
		if from, ok := next[p]; ok && at.Offset >= from {
			return fmt.Errorf("cluster %s was founded by a record that is still to be read (from offset %d on): the topic was made anew, or the "+
				"offsets of group %s were set back. Nothing was read. Start anew with another input.group and another output.clusters_topic",
				at, from, r.config.Input.Group)
		}
	}
	return nil
}

// difference says in which parts two identities differ.
func difference(was, is string) string {
	now := make(map[string]string)
	for _, part := range strings.Split(is, ",") {
		name, value, _ := strings.Cut(part, "=")
		now[name] = value
	}
	var parts []string
	before := strings.Split(was, ",")
	for _, part := range before {
		name, value, _ := strings.Cut(part, "=")
		if now[name] != value {
			parts = append(parts, fmt.Sprintf("%s was %s and is %s", name, value, now[name]))
		}
	}
	if parts == nil || len(before) != len(now) {
		return fmt.Sprintf("it was %q and is %q", was, is)
	}
	return strings.Join(parts, ", ")
}
