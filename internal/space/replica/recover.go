package replica

import (
	"context"
	"fmt"
	"time"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/monitor"
)

// CatchUp brings the replica to where the clusters topic ends now. When nothing is written any more
// by a previous owner, because it has been fenced, that is all there is.
//
// It reads to where the partitions end, not to the last stable offset: another space's open
// transaction may hold that back while records of ours lie behind it.
func (r *Replica) CatchUp(ctx context.Context) error {
	r.Monitor.Recovering(r.Name(), "reading clusters back")
	began := time.Now()
	if err := r.identify(ctx); err != nil {
		return err
	}
	// Before the topic is read to its end: then it has the checkpoint of these offsets.
	var committed map[int]int64
	if !r.DiskOnly {
		var err error
		if committed, err = r.ReadByGroup(ctx); err != nil {
			return err
		}
	}
	read, err := r.tryCatchUp(ctx)
	// Once: a disk that spoils what was just written to it is for the caller to wait for.
	if unusable(err) {
		if err := r.Discard(err); err != nil {
			return err
		}
		read, err = r.tryCatchUp(ctx)
	}
	if err != nil {
		return err
	}
	if err := r.checkTopics(committed); err != nil {
		return err
	}
	took := time.Since(began)
	r.Monitor.Recovered(took, read.source())
	r.Monitor.Loaded(r.Name(), r.space.Len())
	r.Log.Info("recovered the clusters", "clusters", r.space.Len(), "from", read.source(), "read_back",
		read.records, "took", took.Round(time.Millisecond))
	return nil
}

// readBack is what a recovery read of the clusters topic.
type readBack struct {
	records int
	whole   bool // there was nothing on disk
}

// source returns where the clusters came from.
func (b readBack) source() monitor.Source {
	switch {
	case b.whole:
		return monitor.FromTopic
	case b.records > 0:
		return monitor.FromTail
	default:
		return monitor.FromDisk
	}
}

func (r *Replica) tryCatchUp(ctx context.Context) (read readBack, err error) {
	ends, err := r.ends(ctx)
	if err != nil {
		return read, err
	}
	r.begins = ends.first
	if err := r.open(ctx); err != nil {
		return read, err
	}
	if r.rebuild != nil {
		if err := r.rebuild.again(); err != nil {
			return read, err
		}
	}
	from, err := r.from(ends)
	if err != nil {
		return read, err
	}
	progress := newProgress(r, from, ends.last)
	// A replica that was loaded when there was nothing yet has an index, which a rebuild passes by.
	if r.space.Meta().Written.IsZero() && !r.space.Loaded() && progress.total > 0 {
		r.rebuild = newRebuild(r)
		r.Log.Warn("no clusters are on disk yet: reading all of them from Kafka", "dir", r.Dir, "topic",
			r.Topic)
		r.Monitor.Rebuilt(monitor.Missing)
	}
	read.whole = r.rebuild != nil
	r.hold()
	if read.records, err = r.readUntil(ctx, from, progress, ends.retention); err != nil {
		return read, err
	}
	if r.rebuild != nil {
		if err := r.rebuild.finish(ctx); err != nil {
			return read, err
		}
		r.rebuild = nil
	}
	if c := r.space.Meta().Checkpoint; c != nil {
		if err := r.sameSettings(c); err != nil {
			return read, fmt.Errorf("topic %s: %w", r.Topic, err)
		}
		r.accepted = c.Accepted
		r.keepIDs(c)
	}
	if err := r.load(ctx); err != nil {
		return read, err
	}
	r.hold()
	return read, nil
}

// readUntil applies the committed records from the offsets from to where progress ends, and returns
// how many that were. Tombstones stay in the topic for retention.
func (r *Replica) readUntil(
	ctx context.Context, from map[int]int64, progress *progress, retention time.Duration,
) (int, error) {
	if progress.open == 0 {
		return 0, nil
	}
	// A replica that is loaded has been following, and has missed no tombstone.
	written := r.space.Meta().Written
	stale := !r.space.Loaded() && !written.IsZero() && time.Since(written) > retention
	read := 0
	err := r.receive(ctx, from, func(chunk consumer.Chunk) (done bool, err error) {
		n, err := r.applyChunk(ctx, chunk)
		if err == nil {
			err = failpoint.Hit(failpoint.Recovering)
		}
		if err != nil {
			return false, err
		}
		if read += n; stale && n > 0 {
			return false,
				fmt.Errorf("%w: it was last written at %s, and tombstones stay in the topic for %s "+
					"(delete.retention.ms)", errUnusable,
					written.Format(time.RFC3339), retention)
		}
		return progress.add(chunk.Partition, chunk.Next), nil
	})
	return read, err
}

// follow applies what is written to the clusters topic, as a standby does, until ctx ends.
func (r *Replica) follow(ctx context.Context) error {
	ends, err := r.ends(ctx)
	if err != nil {
		return err
	}
	from, err := r.from(ends)
	if err != nil {
		return err
	}
	s := settling{Replica: r, seen: r.advanced}
	return r.receive(ctx, from, func(chunk consumer.Chunk) (bool, error) {
		_, err := r.applyChunk(ctx, chunk)
		if err == nil {
			r.Monitor.Loaded(r.Name(), r.space.Len())
			err = s.settle(ctx)
		}
		return false, err
	})
}
