package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/pipeline/seeded"
	"github.com/clusterd/clusterd/internal/pipeline/tracing"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
)

// ahead is a worker that assigns a batch while it commits the one before.
type ahead struct {
	*worker
	producer *sink.Producer
	settled  func(totals) // is called after each batch
	before   *assigned    // that is being committed; nil for none
}

// assigned is a batch that is assigned and not settled.
type assigned struct {
	batch
	space.Batch
	checkpoint *checkpoint.Record
	prepared   *sink.Prepared
	last       []kafka.Record // that it writes to the partitions of the clusters topic
	ctx        context.Context
	span       *tracing.Span
	began      time.Time
	committed  chan struct{} // closed when err is set
	err        error
}

// done returns what is closed when the batch that is being committed can be settled, nil where
// there is none.
func (a *ahead) done() <-chan struct{} {
	if a.before == nil {
		return nil
	}
	return a.before.committed
}

// next assigns and encodes a batch, settles the one before, and begins to commit. After an error
// the space is as it was before both, or with the one before where that is committed. Where there
// is nothing in the batch, and nothing to do about labels, it does nothing.
func (a *ahead) next(ctx context.Context, b batch) (nothing bool, err error) {
	// What labels do depends on what they have done.
	due := a.labels != nil && a.labels.Due()
	if before := a.before; before != nil && (due || !before.labels.Empty() || !before.Ahead) {
		if err := a.settle(); err != nil {
			return false, err
		}
	}
	if err := a.placeable(ctx, b); err != nil {
		return false, err
	}
	next, err := a.assign(ctx, b)
	if next == nil {
		return true, nil
	}
	if err == nil {
		if err = failpoint.Hit(failpoint.Assigned); err != nil {
			err = fmt.Errorf("%w: %w", errAgain, err)
		}
	}
	if err == nil {
		err = a.prepare(next, a.producer)
	}
	if err == nil {
		if err = failpoint.Hit(failpoint.Prepared); err != nil {
			err = fmt.Errorf("%w: %w", errAgain, err)
		}
	}
	if failed := a.settleBefore(next); failed != nil {
		return false, failed
	}
	if err != nil {
		a.rollback(err, next)
		return false, err
	}
	a.before = next
	go func() {
		defer close(next.committed)
		next.err = a.persist(next, a.producer)
	}()
	return false, nil
}

// settle waits until the batch that is being committed is so, and has readers see it. It is rolled
// back where it failed.
func (a *ahead) settle() error { return a.settleBefore(nil) }

// settleBefore does that, and rolls back the next batch, too, where there is one.
func (a *ahead) settleBefore(next *assigned) error {
	if a.before == nil {
		return nil
	}
	done := a.before
	<-done.committed
	a.before = nil
	if done.err != nil {
		a.rollback(done.err, next, done)
		return done.err
	}
	a.replica.Space().Publish(&done.Batch)
	if a.labels != nil {
		a.labels.Committed(&done.labels)
	}
	all := a.report(done.batch, done.Batch, time.Since(done.began))
	done.span.End(tracing.Outcome{Counts: all.Counts, DeadLetters: all.deadLetters}, nil)
	a.settled(all)
	return nil
}

// rollback takes back what is not committed: these batches, where they are not nil.
func (w *worker) rollback(why error, batches ...*assigned) {
	w.replica.Space().Rollback()
	for _, b := range batches {
		if b != nil {
			b.span.End(tracing.Outcome{}, why)
		}
	}
}

// assign assigns a batch; nil where there is nothing to do. After an error, roll it back.
func (w *worker) assign(ctx context.Context, b batch) (*assigned, error) {
	began := time.Now()
	w.dropRepeated(&b)
	if w.labels != nil {
		b.labels = w.labels.Take(ctx)
	}
	if len(b.Next) == 0 && b.labels.Empty() {
		return nil, nil
	}
	out := &assigned{batch: b, began: began, committed: make(chan struct{})}
	out.ctx, out.span = w.tracer.Start(ctx, tracing.Batch{
		Topic: w.source.Topic, Group: w.source.Group, Space: w.name,
		Records: len(b.Items), Partitions: len(b.Next), LabelRecords: b.labels.Len(),
		Parents: b.Parents(),
	})
	ended := out.span.Stage(out.ctx, "assign")
	var err error
	out.Batch, err = w.replica.Space().AssignLabelled(b.labels.LabelWork, b.Articles(), len(b.Items))
	ended()
	if err == nil {
		out.labels.Cut(len(out.Labelled))
		b.labels.Cut(len(out.Labelled))
		seeded.Assignments(&out.Batch)
		out.checkpoint = w.checkpoint(b)
		out.checkpoint.Labels = seeded.Progress(
			w.labelProgress(b, &out.Batch, out.checkpoint.NextPosition))
		w.reached = out.checkpoint.Offsets
		if f := out.checkpoint.Fingerprints; f != nil {
			w.read = f.Offsets
		}
	}
	w.monitor.Spent(monitor.Assigning, began)
	return out, err
}

// prepare encodes the transaction of what is assigned.
func (w *worker) prepare(b *assigned, producer *sink.Producer) (err error) {
	began, ended := time.Now(), b.span.Stage(b.ctx, "encode")
	transaction := sink.Batch{
		Records: w.out.Records(b.letters(&b.Batch), b.Batch, b.checkpoint),
		Offsets: b.batch.Offsets(w.source.Topic),
	}
	for i := range b.labels.Corrections {
		transaction.Records = append(transaction.Records, w.out.Correction(&b.labels.Corrections[i]))
	}
	seeded.Transaction(&w.out.Output, len(w.out.Partitions[w.out.Topic]), &transaction)
	seeded.Corrections(w.out.Corrections, &transaction)
	seeded.Stories(w.out.Stories, &transaction)
	b.last = w.lastClusters(transaction.Records)
	b.prepared, err = producer.Prepare(transaction)
	ended()
	w.monitor.Spent(monitor.Encoding, began)
	return err
}

// persist makes what was prepared last: in Kafka, then on disk.
func (w *worker) persist(b *assigned, producer *sink.Producer) error {
	began, ended := time.Now(), b.span.Stage(b.ctx, "commit")
	written, err := w.commit(b.ctx, producer, b.prepared)
	ended()
	w.monitor.Spent(monitor.Committing, began)
	if err != nil {
		return err
	}
	if err := failpoint.Hit(failpoint.BeforeDisk); err != nil {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	began, ended = time.Now(), b.span.Stage(b.ctx, "store")
	err = w.replica.Store(seeded.OnDisk(b.Batch), b.checkpoint, located(b.last, written))
	ended()
	w.monitor.Spent(monitor.Storing, began)
	if err != nil {
		return err
	}
	_ = failpoint.Hit(failpoint.AfterDisk) // there is nothing left that could fail
	return nil
}
