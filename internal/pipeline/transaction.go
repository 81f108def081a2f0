package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/checkpoint"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/intake"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/labelling"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/seeded"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/tracing"
)

// batch is what one transaction takes in.
type batch struct {
	intake.Batch
	labels   labelling.Share // what it does about labels
	repeated int             // articles that were assigned before, and are left out
}

// commitAll assigns and commits one batch after the other. Assignment waits for the commit, so
// that memory never runs ahead of Kafka by more than the batch in hand, and disk never at all.
// Labels go with the next batch, or with one without articles where none comes.
func (w *worker) commitAll(
	ctx context.Context, producer *sink.Producer, batches <-chan intake.Batch,
	labels <-chan consumer.Chunk, committed func(),
) error {
	progress := progress{since: time.Now(), logger: w.log}
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	due := labelling.NewAlarm()
	defer due.Stop()
	for {
		wait, received := w.config.Batch.Linger, labels
		if w.labels != nil && w.labels.Full() {
			received = nil
		}
		select {
		case b := <-batches:
			done, err := w.process(ctx, producer, batch{Batch: b})
			if err != nil {
				return err
			}
			committed()
			progress.done.add(done)
		case chunk := <-received:
			w.labels.Add(chunk)
		case <-due.C:
			due.Rang()
			done, err := w.process(ctx, producer, batch{})
			switch {
			case err != nil:
				return err
			case done.nothing:
				wait = max(wait, retold)
			default:
				committed()
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

// process carries a batch through: assigned, committed, and then on disk. After an error the space
// is as it was before, and on disk is what is committed, or less. Where there is nothing in the
// batch, and nothing to do about labels, it does nothing.
func (w *worker) process(
	ctx context.Context, producer *sink.Producer, b batch,
) (done totals, err error) {
	began, s := time.Now(), w.replica.Space()
	w.dropRepeated(&b)
	if w.labels != nil {
		b.labels = w.labels.Take(ctx)
	}
	if len(b.Next) == 0 && b.labels.Empty() {
		return totals{nothing: true}, nil
	}
	ctx, span := w.tracer.Start(ctx, tracing.Batch{
		Topic: w.source.Topic, Group: w.source.Group, Space: w.name,
		Records: len(b.Items), Partitions: len(b.Next), LabelRecords: b.labels.Len(),
		Parents: b.Parents(),
	})
	defer func() {
		span.End(tracing.Outcome{Counts: done.Counts, DeadLetters: done.deadLetters}, err)
	}()
	ended := span.Stage(ctx, "assign")
	assigned, err := s.AssignLabelled(b.labels.Records, b.Articles(), len(b.Items))
	ended()
	w.monitor.Spent(monitor.Assigning, began)
	if err == nil {
		err = w.persist(ctx, producer, b, assigned, span)
	}
	if err != nil {
		s.Rollback(assigned)
		return totals{}, err
	}
	return w.report(b, assigned, time.Since(began)), nil
}

// persist makes what was assigned last: in Kafka, then on disk.
func (w *worker) persist(
	ctx context.Context, producer *sink.Producer, b batch, assigned space.Batch, span *tracing.Span,
) error {
	seeded.Assignments(&assigned)
	c := w.checkpoint(b)
	c.Labels = seeded.Progress(w.labelProgress(b, &assigned))
	began := time.Now()
	transaction := sink.Batch{
		Records: w.out.records(b.letters(&assigned), assigned, c),
		Offsets: b.Offsets(w.source.Topic),
	}
	for i := range b.labels.Corrections {
		transaction.Records = append(transaction.Records, w.out.correction(&b.labels.Corrections[i]))
	}
	w.monitor.Spent(monitor.Encoding, began)
	seeded.Transaction(&w.out.Output, len(w.out.partitions[w.out.Topic]), &transaction)
	seeded.Corrections(w.out.corrections, &transaction)
	began = time.Now()
	ended := span.Stage(ctx, "commit")
	written, err := w.commit(ctx, producer, transaction)
	ended()
	w.monitor.Spent(monitor.Committing, began)
	if err != nil {
		return err
	}
	w.reached = c.Offsets
	if f := c.Fingerprints; f != nil {
		w.read = f.Offsets
	}
	if w.labels != nil {
		w.labels.Committed(&b.labels)
	}
	if err := failpoint.Hit(failpoint.BeforeDisk); err != nil {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	began, ended = time.Now(), span.Stage(ctx, "store")
	err = w.replica.Commit(seeded.OnDisk(assigned), c,
		w.lastClusters(transaction.Records, written))
	ended()
	w.monitor.Spent(monitor.Storing, began)
	if err != nil {
		return err
	}
	_ = failpoint.Hit(failpoint.AfterDisk) // there is nothing left that could fail
	return nil
}

// checkpoint returns that of the space when the batch, which is assigned, is committed.
func (w *worker) checkpoint(b batch) *checkpoint.Record {
	offsets := maps.Clone(w.reached)
	if w.read == nil {
		maps.Copy(offsets, b.Next)
		return w.replica.Checkpoint(offsets)
	}
	for a := range b.Articles() {
		offsets[a.Source.Partition] = a.Source.Offset + 1
	}
	read := maps.Clone(w.read)
	maps.Copy(read, b.Next)
	c := w.replica.Checkpoint(offsets)
	c.Fingerprints = &checkpoint.Fingerprints{Topic: w.source.Topic, Offsets: read}
	return c
}

// dropRepeated leaves out fingerprinted articles that were assigned before. Each comes once, in the
// order of its partition, unless somebody has set the offsets of those that fingerprint back.
func (w *worker) dropRepeated(b *batch) {
	if w.read == nil {
		return
	}
	next := maps.Clone(w.reached)
	kept := make([]intake.Item, 0, len(b.Items))
	for _, item := range b.Items {
		if item.DeadLetter == nil {
			if item.Source.Offset < next[item.Source.Partition] {
				continue
			}
			next[item.Source.Partition] = item.Source.Offset + 1
		}
		kept = append(kept, item)
	}
	if b.repeated = len(b.Items) - len(kept); b.repeated > 0 {
		first := b.Items[0].Source
		w.log.Warn("articles were fingerprinted again that have results already; they are passed over. "+
			"Were the offsets of the group set back, or was the input topic made anew?", "articles",
			b.repeated, "topic", w.source.Topic, "group", w.config.Input.Group, "near", first.String())
		b.Items = kept
	}
}

// lastClusters returns the last record that a transaction wrote to each partition of the clusters
// topic, with its offset where that is known.
func (w *worker) lastClusters(records []kafka.Record, written sink.Written) (last []kafka.Record) {
	seen := make(map[int]bool)
	for _, r := range slices.Backward(records) {
		if r.Topic != w.out.ClustersTopic || seen[r.Partition] {
			continue
		}
		seen[r.Partition] = true
		if next, ok := written[sink.Partition{Topic: r.Topic, ID: r.Partition}]; ok {
			r.Offset = next - 1
			last = append(last, r)
		}
	}
	return last
}
