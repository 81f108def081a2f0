package pipeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/parallel"
	"github.com/clusterd/clusterd/internal/pipeline/intake"
	"github.com/clusterd/clusterd/internal/pipeline/seeded"
	"github.com/clusterd/clusterd/internal/pipeline/tracing"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// fingerprinting owns one partition of the input, whose articles it fingerprints for others to
// assign. It writes them to the same partition of the topic of fingerprinted articles, in their
// order, and dead letters, exactly once. It has no state but the offset of the group.
type fingerprinting struct {
	owner
	wire fingerprint.Wire
}

// run works until ctx ends (then it returns nil), until another instance takes over
// ([sink.ErrFenced]), or until an error comes that beginning again does not mend.
func (f *fingerprinting) run(ctx context.Context) error {
	defer f.monitor.Gone(f.name)
	err := f.out.Describe(ctx, f.client, f.log)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if n := len(f.out.Partitions[f.out.Fingerprints]); f.partitions[0] >= n {
		return fmt.Errorf("topic %s has %d partitions, and %s has a partition %d: each needs one of its "+
			"own (kafka-topics --alter --topic %s --partitions %d --bootstrap-server %s). Nothing was read",
			f.out.Fingerprints, n, f.source.Topic, f.partitions[0], f.out.Fingerprints, f.partitions[0]+1,
			strings.Join(f.config.Kafka.Brokers, ","))
	}
	producer, err := f.newProducer()
	if err != nil {
		return err
	}
	return f.owner.run(ctx, producer, f.takeOver, func(error) (bool, error) { return false, nil })
}

// takeOver takes ownership of the partition, in the order that exactly-once needs: fence, then
// offsets; and works from there. It calls progressed after each batch.
func (f *fingerprinting) takeOver(
	ctx context.Context, producer *sink.Producer, progressed func(),
) error {
	f.monitor.Recovering(f.name, "taking the partition over")
	if err := producer.Fence(ctx); err != nil {
		return err
	}
	if err := failpoint.Hit(failpoint.Fenced); err != nil {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	_, next, err := f.positions(ctx)
	if err != nil {
		return err
	}
	f.monitor.Live(f.name, f.partitions)
	f.log.Info("live", "partitions", f.partitions)
	group, ctx := errgroup.WithContext(ctx)
	chunks, batches := make(chan consumer.Chunk), make(chan intake.Batch)
	limit := max(f.config.Input.MaxBytes, f.out.Limits[f.out.DeadLetterTopic])
	carry := intake.CarriedBy(f.config.Output, f.tracer)
	group.Go(func() error { return f.newLog("", next, limit).Read(ctx, chunks) })
	group.Go(func() error {
		return f.newReading(intake.Records(f.fingerprinter, carry)).Run(ctx, chunks, batches)
	})
	group.Go(func() error { return f.commitAll(ctx, producer, batches, progressed) })
	return group.Wait()
}

// commitAll commits one batch after the other.
func (f *fingerprinting) commitAll(
	ctx context.Context, producer *sink.Producer, batches <-chan intake.Batch, committed func(),
) error {
	progress := progress{since: time.Now(), logger: f.log}
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case b := <-batches:
			done, err := f.process(ctx, producer, b)
			if err != nil {
				return err
			}
			committed()
			progress.done.add(done)
		case <-ticker.C:
			progress.log(f.monitor.Lags(f.partitions), "dead_letters", progress.done.deadLetters)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// process commits a batch.
func (f *fingerprinting) process(
	ctx context.Context, producer *sink.Producer, b intake.Batch,
) (done totals, err error) {
	ctx, span := f.tracer.Start(ctx, tracing.Batch{
		Topic: f.source.Topic, Group: f.source.Group, Space: f.name,
		Records: len(b.Items), Partitions: len(b.Next), Parents: b.Parents(),
	})
	defer func() { span.End(tracing.Outcome{DeadLetters: done.deadLetters}, err) }()
	began := time.Now()
	transaction := sink.Batch{Records: f.records(ctx, b), Offsets: b.Offsets(f.source.Topic)}
	seeded.Fingerprinted(f.out.Fingerprints, &transaction)
	prepared, err := producer.Prepare(transaction)
	f.monitor.Spent(monitor.Encoding, began)
	if err != nil {
		return totals{}, err
	}
	began = time.Now()
	ended := span.Stage(ctx, "commit")
	_, err = f.commit(ctx, producer, prepared)
	ended()
	f.monitor.Spent(monitor.Committing, began)
	if err != nil {
		return totals{}, err
	}
	commit := monitor.Commit{Space: f.name}
	done = f.reportItems(b, &commit)
	commit.Took = time.Since(began)
	commit.Fingerprinted = done.records - done.deadLetters
	f.monitor.Committed(commit)
	return done, nil
}

// records returns what a transaction carries for a batch.
func (f *fingerprinting) records(ctx context.Context, b intake.Batch) []kafka.Record {
	records := make([]kafka.Record, len(b.Items))
	parallel.Chunks(len(records), func(from, to int) {
		var memory kafka.Arena
		for i := from; i < to; i++ {
			item := &b.Items[i]
			if item.DeadLetter != nil {
				records[i] = f.out.DeadLetter(item.DeadLetter)
				continue
			}
			records[i] = kafka.Record{
				Topic: f.out.Fingerprints, Partition: item.Source.Partition,
				Value:   memory.Keep(func(dst []byte) []byte { return f.wire.Append(dst, &item.Article) }),
				Headers: tracing.Headers(ctx, item.Parent),
			}
		}
	})
	return records
}
