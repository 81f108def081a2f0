package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/checkpoint"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/labelling"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/seeded"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/tracing"
)

// commitGrace is how long a transaction in hand may still take when the worker is to stop.
const commitGrace = 5 * time.Second

// commitAll assigns and commits one batch after the other. Assignment waits for the commit, so
// that memory never runs ahead of Kafka by more than the batch in hand, and disk never at all.
// Labels go with the next batch, or with one without articles where none comes.
func (w *worker) commitAll(
	ctx context.Context, producer *sink.Producer, batches <-chan batch, labels <-chan consumer.Chunk,
	committed func(),
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
			done, err := w.process(ctx, producer, b)
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
			progress.log(w.replica.Space().Len(), w.monitor.Lags(w.partitions))
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
	if w.labels != nil {
		b.labels = w.labels.Take(ctx)
	}
	if len(b.records) == 0 && b.labels.Empty() {
		return totals{nothing: true}, nil
	}
	ctx, span := w.tracer.Start(ctx, tracing.Batch{
		Topic: w.config.Input.Topic, Group: w.config.Input.Group, Space: w.replica.Name(),
		Records: len(b.records), Partitions: len(b.next), LabelRecords: b.labels.Len(),
		Parents: b.parents(),
	})
	defer func() {
		span.End(tracing.Outcome{Counts: done.Counts, DeadLetters: done.deadLetters}, err)
	}()
	ended := span.Stage(ctx, "assign")
	assigned, err := s.AssignLabelled(b.labels.Records, b.articles(), len(b.records))
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
	checkpoint := w.checkpoint(b)
	checkpoint.Labels = seeded.Progress(w.labelProgress(b, &assigned))
	began := time.Now()
	transaction := sink.Batch{
		Records: w.out.records(b.letters(&assigned), assigned, checkpoint),
		Offsets: b.offsets(w.config.Input.Topic),
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
	w.reached = checkpoint.Offsets
	if w.labels != nil {
		w.labels.Committed(&b.labels)
	}
	if err := failpoint.Hit(failpoint.BeforeDisk); err != nil {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	began, ended = time.Now(), span.Stage(ctx, "store")
	err = w.replica.Commit(seeded.OnDisk(assigned), checkpoint,
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
	maps.Copy(offsets, b.next)
	return w.replica.Checkpoint(offsets)
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

// commit lets the transaction in hand finish when ctx ends, for a short while.
func (w *worker) commit(
	ctx context.Context, producer *sink.Producer, b sink.Batch,
) (sink.Written, error) {
	finish, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(commitGrace, cancel)
	})
	defer stop()
	written, err := producer.Commit(finish, b)
	if err == nil || errors.Is(err, sink.ErrFenced) {
		return written, err
	}
	return nil, fmt.Errorf("%w: %w", errAgain, err)
}
