package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
)

const (
	// commitGrace is how long a transaction in hand may still take when the worker is to stop.
	commitGrace = 5 * time.Second
	// progressInterval is how often a worker that works says so.
	progressInterval = 10 * time.Second
	// smallestLimit is where halving the size of record batches ends.
	smallestLimit = 16 << 10
)

// worker owns one space: its input partitions, its transactional id, its clusters.
type worker struct {
	config        config.Config
	client        *kafka.Client
	log           *slog.Logger
	fingerprinter *Fingerprinter
	partitions    []int // of the input topic
	transactional string
	out           outputs
}

// errAgain marks the failure of a transaction, after which the worker begins again from what is
// committed.
var errAgain = errors.New("starting again from what is committed")

// run works until ctx ends (then it returns nil), until another instance takes over
// ([sink.ErrFenced]), or until an error comes that beginning again does not mend.
func (w *worker) run(ctx context.Context) error {
	producer, err := w.newProducer(ctx)
	var backoff kafka.Backoff
	for err == nil {
		err = w.own(ctx, producer, backoff.Reset)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, sink.ErrFenced), kafka.Hopeless(err), !errors.Is(err, errAgain):
			return kafka.Explain(err)
		}
		if errors.Is(err, kafkago.MessageSizeTooLarge) {
			w.shrink()
		}
		w.log.Warn("a batch was not committed, or it is not known whether it was; beginning again from what is committed", "error", err)
		err = backoff.Wait(ctx)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// newProducer asks the output topics what they take.
func (w *worker) newProducer(ctx context.Context) (*sink.Producer, error) {
	w.out.partitions, w.out.limits = make(map[string][]int), make(map[string]int)
	for _, topic := range []string{w.out.Topic, w.out.ClustersTopic, w.out.DeadLetterTopic} {
		err := kafka.Retry(ctx, w.log, "reading the settings of topic "+topic, func() error {
			partitions, err := w.client.Partitions(ctx, topic)
			if err != nil {
				return err
			}
			settings, err := w.client.TopicConfig(ctx, topic)
			w.out.partitions[topic], w.out.limits[topic] = partitions, settings.MaxMessageBytes
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return sink.NewProducer(w.client, w.log, w.transactional, w.config.Input.Group, w.out.limits), nil
}

// shrink makes record batches smaller where a topic's real limit could not be read.
func (w *worker) shrink() {
	for topic, limit := range w.out.limits {
		w.out.limits[topic] = max(smallestLimit, limit/2)
	}
}

// own takes ownership, in the order that exactly-once needs: fence, then offsets, then clusters;
// and works from there. It calls committed after each batch.
func (w *worker) own(ctx context.Context, producer *sink.Producer, committed func()) error {
	if err := producer.Fence(ctx); err != nil {
		return err
	}
	next, err := w.positions(ctx)
	if err != nil {
		return err
	}
	clusters, err := w.recover(ctx)
	if err != nil {
		return err
	}
	if err := w.checkFounders(clusters, next); err != nil {
		return err
	}
	w.log.Info("live", "partitions", w.partitions)

	group, ctx := errgroup.WithContext(ctx)
	chunks, batches := make(chan consumer.Chunk), make(chan batch)
	group.Go(func() error {
		return consumer.NewLog(w.client, w.log, w.config.Input.Topic, next, w.config.Batch.Bytes).Read(ctx, chunks)
	})
	group.Go(func() error { return w.collect(ctx, chunks, batches) })
	group.Go(func() error { return w.commitAll(ctx, producer, clusters, batches, committed) })
	return group.Wait()
}

// positions are the offsets to read on from: what the group has committed, else the beginning.
func (w *worker) positions(ctx context.Context) (map[int]int64, error) {
	topic := w.config.Input.Topic
	var next map[int]int64
	err := kafka.Retry(ctx, w.log, "fetching committed offsets", func() (err error) {
		next, err = consumer.Committed(ctx, w.client, w.config.Input.Group, topic, w.partitions)
		return err
	})
	if err != nil {
		return nil, err
	}
	var fresh []int
	for _, p := range w.partitions {
		if _, ok := next[p]; !ok {
			fresh = append(fresh, p)
		}
	}
	first, err := w.offsets(ctx, topic, fresh, kafka.First)
	for p, offset := range first {
		next[p] = offset
	}
	return next, err
}

// commitAll assigns and commits one batch after the other. Assignment waits for the commit, so
// that memory never runs ahead of Kafka by more than the batch in hand.
func (w *worker) commitAll(ctx context.Context, producer *sink.Producer, clusters *space, batches <-chan batch, committed func()) error {
	progress := progress{log: w.log, since: time.Now()}
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case b := <-batches:
			c := clusters.assign(b.records)
			if err := w.commit(ctx, producer, sink.Batch{Records: w.out.records(c), Offsets: b.offsets(w.config.Input.Topic)}); err != nil {
				return err
			}
			committed()
			progress.add(c)
		case <-ticker.C:
			progress.say(len(clusters.clusters))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// commit lets the transaction in hand finish when ctx ends, for a short while.
func (w *worker) commit(ctx context.Context, producer *sink.Producer, b sink.Batch) error {
	finish, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(commitGrace, cancel)
	})
	defer stop()
	err := producer.Commit(finish, b)
	if err == nil || errors.Is(err, sink.ErrFenced) {
		return err
	}
	return fmt.Errorf("%w: %w", errAgain, err)
}

// progress counts what a worker did, to say so from time to time.
type progress struct {
	Totals
	log   *slog.Logger
	since time.Time
}

func (p *progress) add(c changes) {
	for i := range c.outcomes {
		o := &c.outcomes[i]
		p.Totals.add(o)
		if o.rejection != nil {
			p.log.Debug("dead letter", "class", o.rejection.Class, "reason", o.rejection.Reason, "source", o.address().String())
		}
	}
}

// say logs the counts, if there are any, and begins anew.
func (p *progress) say(clusters int) {
	if p.Lines > 0 {
		p.log.Info("progress", "records", p.Lines, "per_second", int(float64(p.Lines)/time.Since(p.since).Seconds()), "new", p.New,
			"joined", p.Joined, "unclustered", p.Unclustered, "dead_letters", p.Rejected, "clusters", clusters)
	}
	*p = progress{log: p.log, since: time.Now()}
}
