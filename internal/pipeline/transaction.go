package pipeline

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/pipeline/intake"
	"github.com/clusterd/clusterd/internal/pipeline/labelling"
	"github.com/clusterd/clusterd/internal/sink"
)

// batch is what one transaction takes in.
type batch struct {
	intake.Batch
	labels   labelling.Share // what it does about labels
	repeated int             // articles that were assigned before, and are left out
}

// commitAll assigns one batch after the other. Each is committed while the next one is assigned, so
// that memory runs ahead of Kafka by no more than the batch in hand and the one before, and disk
// never at all. Labels go with the next batch, or with one without articles where none comes.
func (w *worker) commitAll(
	ctx context.Context, producer *sink.Producer, batches <-chan intake.Batch,
	labels <-chan consumer.Chunk, committed func(),
) (err error) {
	progress := progress{since: time.Now(), logger: w.log}
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	due := labelling.NewAlarm()
	defer due.Stop()
	a := ahead{worker: w, producer: producer, settled: func(done totals) {
		committed()
		progress.done.add(done)
	}}
	defer func() { err = cmp.Or(a.settle(), err) }()
	for {
		wait, received := w.config.Batch.Linger, labels
		if w.labels != nil && w.labels.Full() {
			received = nil
		}
		select {
		case b := <-batches:
			if _, err := a.next(ctx, batch{Batch: b}); err != nil {
				return err
			}
		case <-a.done():
			if err := a.settle(); err != nil {
				return err
			}
		case chunk := <-received:
			w.labels.Add(chunk)
		case <-due.C:
			due.Rang()
			nothing, err := a.next(ctx, batch{})
			if err != nil {
				return err
			}
			if nothing {
				wait = max(wait, retold)
			}
		case <-ticker.C:
			progress.log(w.monitor.Lags(w.partitions), progress.done.counts(w.replica.Space().Len())...)
		case <-ctx.Done():
			return ctx.Err()
		}
		if w.labels != nil && w.labels.Due() {
			due.In(wait)
		}
	}
}

// checkpoint returns that of the space when the batch, which is assigned, is committed.
func (w *worker) checkpoint(b batch) *checkpoint.Record {
	offsets := maps.Clone(w.reached)
	c := w.replica.Checkpoint(offsets)
	c.Placements, c.StoriesSince = w.placed, w.storiesSince
	if w.read == nil {
		maps.Copy(offsets, b.Next)
		return c
	}
	for a := range b.Articles() {
		offsets[a.Source.Partition] = a.Source.Offset + 1
	}
	read := maps.Clone(w.read)
	maps.Copy(read, b.Next)
	c.Fingerprints = &checkpoint.Fingerprints{Topic: w.source.Topic, Offsets: read}
	return c
}

// dropRepeated leaves out fingerprinted articles that were assigned before. There are none unless
// somebody has set the offsets of those that fingerprint back.
func (w *worker) dropRepeated(b *batch) {
	if w.read == nil {
		return
	}
	var first article.Address
	if b.repeated, first = b.DropBefore(w.reached); b.repeated > 0 {
		w.log.Warn("articles were fingerprinted again that have results already; they are passed over. "+
			"Were the offsets of the group set back, or was the input topic made anew?", "articles",
			b.repeated, "topic", w.source.Topic, "group", w.config.Input.Group, "near", first.String())
	}
}

// lastClusters returns the last record of each partition of the clusters topic.
func (w *worker) lastClusters(records []kafka.Record) (last []kafka.Record) {
	seen := make(map[int]bool)
	for _, r := range slices.Backward(records) {
		if r.Topic != w.out.ClustersTopic || seen[r.Partition] {
			continue
		}
		seen[r.Partition] = true
		last = append(last, r.Clone())
	}
	return last
}

// located returns those of the last records of partitions whose offsets are known, with these.
func located(last []kafka.Record, written sink.Written) []kafka.Record {
	var known []kafka.Record
	for _, r := range last {
		if next, ok := written[sink.Partition{Topic: r.Topic, ID: r.Partition}]; ok {
			r.Offset = next - 1
			known = append(known, r)
		}
	}
	return known
}
