package replica

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/monitor"
)

// ends are the first offset and the end of each partition of the clusters topic that counts, and
// how long tombstones stay in it.
type ends struct {
	first, last map[int]int64
	retention   time.Duration
}

func (r *Replica) ends(ctx context.Context) (e ends, err error) {
	err = kafka.Retry(ctx, r.Log, "looking at topic "+r.Topic, func() error {
		settings, err := r.Client.TopicConfig(ctx, r.Topic)
		if err != nil {
			return err
		}
		e.retention = settings.DeleteRetention
		if e.first, err = r.Client.Offsets(ctx, r.Topic, r.partitions, kafka.First); err != nil {
			return err
		}
		e.last, err = r.Client.Offsets(ctx, r.Topic, r.partitions, kafka.Last)
		return err
	})
	return e, err
}

// from returns where to read on: at the last record that is on disk, to see that the topic is still
// the one that it came from.
func (r *Replica) from(e ends) (map[int]int64, error) {
	m := r.space.Meta()
	if was, is, changed := r.changedID(m.Checkpoint, r.Topic); changed {
		return nil, fmt.Errorf("topic %s was made anew: its id was %s and is %s, and %s has the "+
			"clusters of the old one. Nothing was read or written. If they are lost, %s. To go on with the "+
			"clusters that the new one has, delete %s", r.Topic, was, is, r.Dir, StartAnew, r.Dir)
	}
	from := make(map[int]int64)
	for p, last := range e.last {
		from[p] = e.first[p]
		next, ok := m.Offsets[p]
		switch {
		case !ok:
		case next > last:
			return nil, fmt.Errorf("%s/%d ends at offset %d, and clusters up to offset %d are on disk: "+
				"the topic was made anew, or has lost records. "+
				"Nothing was read or written. To go on with the clusters that the topic still has, delete "+
				"%s; or start anew with another "+
				"input.group and another output.clusters_topic", r.Topic, p, last, next, r.Dir)
		case next < e.first[p]:
			return nil, fmt.Errorf("%w: it ends at offset %d of partition %d, which begins at %d",
				errUnusable, next, p, e.first[p])
		default:
			from[p] = next
			if at, ok := m.Last[p]; ok && at.Offset >= e.first[p] {
				from[p] = at.Offset
			}
		}
	}
	return from, nil
}

// receive hands on chunks of the clusters topic until do says that it is done, or fails.
func (r *Replica) receive(
	ctx context.Context, from map[int]int64, do func(consumer.Chunk) (bool, error),
) error {
	log := consumer.NewLog(r.Client, r.Log, r.Topic, from, r.FetchBytes)
	log.MaxValue, log.TopicID = maxRecordBytes, r.ids[r.Topic]
	log.Remedy = StartAnew
	log.OnPoll = func(positions []kafka.Position) {
		r.Monitor.PolledClusters(r.Name(), positions)
	}
	reading := log.Start(ctx)
	defer reading.Stop()
	for {
		select {
		case chunk := <-reading.Chunks:
			if done, err := do(chunk); done || err != nil {
				return err
			}
		case err := <-reading.Failed:
			return err
		}
	}
}

// progress is how far a reading of the clusters topic to its ends is.
type progress struct {
	*Replica
	next, last      map[int]int64
	open            int // partitions that are not read to their end
	done, total     int64
	began, reported time.Time
}

// progressInterval is how often a long reading reports how far it is.
const progressInterval = 2 * time.Second

func newProgress(r *Replica, from, last map[int]int64) *progress {
	p := &progress{
		Replica: r, next: make(map[int]int64), last: last, began: time.Now(), reported: time.Now(),
	}
	for partition, end := range last {
		p.next[partition] = from[partition]
		if from[partition] < end {
			p.open++
			p.total += end - from[partition]
		}
	}
	return p
}

// add notes that a partition is read up to next, and reports whether all are read to their ends.
func (p *progress) add(partition int, next int64) bool {
	before := p.next[partition]
	p.next[partition] = next
	if before < p.last[partition] {
		p.done += min(next, p.last[partition]) - before
		if next >= p.last[partition] {
			p.open--
		}
	}
	p.Monitor.Progress(p.Name(), p.done, p.total)
	if time.Since(p.reported) >= progressInterval && p.open > 0 {
		p.reported = time.Now()
		rate := float64(p.done) / time.Since(p.began).Seconds()
		p.Log.Info("reading the clusters back", "percent", 100*p.done/p.total, "per_second", int64(rate),
			"eta", monitor.ETA(p.total-p.done, max(rate, 1)), slog.Int64("left", p.total-p.done))
	}
	return p.open == 0
}
