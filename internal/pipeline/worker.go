package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/state"
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
	monitor       *monitor.Monitor
	fingerprinter *Fingerprinter
	partitions    []int // of the input topic
	transactional string
	out           outputs
	replica       *replica
}

// errAgain marks the failure of a transaction, after which the worker begins again from what is
// committed.
var errAgain = errors.New("starting again from what is committed")

// run works until ctx ends (then it returns nil), until another instance takes over
// ([sink.ErrFenced]), or until an error comes that beginning again does not mend.
func (w *worker) run(ctx context.Context) error {
	defer w.monitor.Gone(w.replica.name)
	producer, err := w.newProducer(ctx)
	var backoff kafka.Backoff
	for err == nil {
		err = w.own(ctx, producer, backoff.Reset)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, sink.ErrFenced):
			w.monitor.Fenced()
			return err
		case errors.Is(err, state.ErrDamaged):
			if err := w.replica.discard(err); err != nil {
				return err
			}
		case kafka.Hopeless(err), !errors.Is(err, errAgain):
			return kafka.Explain(err)
		default:
			w.monitor.Aborted()
			w.log.Warn("a batch was not committed, or it is not known whether it was; beginning again from what is committed", "error", err)
		}
		if errors.Is(err, kafkago.MessageSizeTooLarge) {
			w.shrink()
		}
		w.monitor.Trouble(err)
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
				return kafka.Expected(err)
			}
			settings, err := w.client.TopicConfig(ctx, topic)
			w.out.partitions[topic], w.out.limits[topic] = partitions, settings.MaxMessageBytes
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if n := len(w.out.partitions[w.out.ClustersTopic]); n != w.replica.modulus {
		return nil, fmt.Errorf("topic %s had %d partitions and has %d, which moves its keys. Start anew with another input.group and "+
			"another output.clusters_topic", w.out.ClustersTopic, w.replica.modulus, n)
	}
	var codec compress.Compression
	if err := codec.UnmarshalText([]byte(w.out.Compression)); err != nil {
		return nil, err
	}
	return sink.NewProducer(w.client, w.log, w.transactional, w.config.Input.Group, w.out.limits, codec), nil
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
	w.monitor.Recovering(w.replica.name, "taking the space over")
	if err := producer.Fence(ctx); err != nil {
		return err
	}
	if err := failpoint.Hit(failpoint.Fenced); err != nil {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	next, err := w.positions(ctx)
	if err != nil {
		return err
	}
	if err := w.replica.catchUp(ctx); err != nil {
		return err
	}
	if err := w.replica.checkFounders(next); err != nil {
		return err
	}
	w.monitor.Live(w.replica.name, w.partitions)
	w.log.Info("live", "partitions", w.partitions)

	group, ctx := errgroup.WithContext(ctx)
	chunks, fingerprinted, batches := make(chan consumer.Chunk), make(chan prints), make(chan batch)
	group.Go(func() error {
		log := consumer.NewLog(w.client, w.log, w.config.Input.Topic, next, w.config.Batch.Bytes)
		// What is too large for an article goes on whole if a dead letter can hold it.
		log.MaxValue = max(w.config.Input.MaxBytes, w.out.limits[w.out.DeadLetterTopic])
		log.OnPoll = func() { w.monitor.Polled(0, 0) }
		return log.Read(ctx, chunks)
	})
	group.Go(func() error { return w.fingerprint(ctx, chunks, fingerprinted) })
	group.Go(func() error { return w.collect(ctx, fingerprinted, batches) })
	group.Go(func() error { return w.commitAll(ctx, producer, batches, committed) })
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
	var first map[int]int64
	err = kafka.Retry(ctx, w.log, "listing offsets", func() (err error) {
		first, err = w.client.Offsets(ctx, topic, fresh, kafka.First)
		return err
	})
	for p, offset := range first {
		next[p] = offset
	}
	return next, err
}

// commitAll assigns and commits one batch after the other. Assignment waits for the commit, so
// that memory never runs ahead of Kafka by more than the batch in hand, and disk never at all.
func (w *worker) commitAll(ctx context.Context, producer *sink.Producer, batches <-chan batch, committed func()) error {
	progress := progress{log: w.log, since: time.Now()}
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case b := <-batches:
			totals, err := w.process(ctx, producer, b)
			if err != nil {
				return err
			}
			committed()
			progress.add(totals)
		case <-ticker.C:
			progress.say(w.replica.space.rule.Len())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// process carries a batch through: assigned, committed, and then on disk. After an error the space is as
// it was before, and on disk is what is committed, or less.
func (w *worker) process(ctx context.Context, producer *sink.Producer, b batch) (Totals, error) {
	began, s := time.Now(), w.replica.space
	c, err := s.assign(b.records)
	w.monitor.Spent(monitor.Assigning, began)
	if err == nil {
		err = w.last(ctx, producer, c, b)
	}
	if err != nil {
		s.undo(c)
		return Totals{}, err
	}
	return w.tell(c, time.Since(began)), nil
}

// last makes what was assigned last: in Kafka, then on disk.
func (w *worker) last(ctx context.Context, producer *sink.Producer, c changes, b batch) error {
	plantInResults(&c)
	began := time.Now()
	transaction := sink.Batch{Records: w.out.records(c), Offsets: b.offsets(w.config.Input.Topic)}
	w.monitor.Spent(monitor.Encoding, began)
	plantInTopics(w.out.Topic, &transaction)
	began = time.Now()
	written, err := w.commit(ctx, producer, transaction)
	w.monitor.Spent(monitor.Committing, began)
	if err != nil {
		return err
	}
	if err := failpoint.Hit(failpoint.BeforeDisk); err != nil {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	marks, err := w.marks(transaction.Records, written)
	if err != nil {
		return err
	}
	began = time.Now()
	err = w.replica.space.apply(plantOnDisk(c), marks)
	w.monitor.Spent(monitor.Storing, began)
	if err != nil {
		return err
	}
	_ = failpoint.Hit(failpoint.AfterDisk) // there is nothing left that could fail
	return nil
}

// tell counts what became of a committed batch, for the log and the monitor.
func (w *worker) tell(c changes, took time.Duration) Totals {
	totals, rejected := Totals{}, make(map[string]int)
	for i := range c.outcomes {
		o := &c.outcomes[i]
		totals.add(o)
		if r := o.rejection; r != nil {
			rejected[string(r.Class)]++
			w.log.Debug("dead letter", "class", r.Class, "reason", r.Reason, "source", o.address().String())
		}
	}
	w.monitor.Committed(monitor.Commit{
		Space: w.replica.name, Took: took, New: totals.New, Joined: totals.Joined, Unclustered: totals.Unclustered, Rejected: rejected,
		Expired: len(c.expired), CappedTimes: c.capped, Candidates: c.compared, Clusters: w.replica.space.rule.Len(),
	})
	return totals
}

// marks are up to where the clusters topic is on disk when the batch is.
func (w *worker) marks(records []kafka.Record, written sink.Written) (map[int]mark, error) {
	marks, before := make(map[int]mark), w.replica.space.store.Meta().Offsets
	last := make(map[int]kafka.Record)
	for _, r := range records {
		if r.Topic == w.out.ClustersTopic {
			last[r.Partition] = r
		}
	}
	for p, r := range last {
		next, ok := written[sink.Partition{Topic: r.Topic, ID: p}]
		if !ok {
			continue // it is read again at the next start
		}
		if next <= before[p] {
			return nil, fmt.Errorf("%s/%d took clusters at offset %d, and had clusters up to offset %d before: the topic was made anew while clusterd "+
				"ran. Its older clusters are gone from it. Start anew with another input.group and another output.clusters_topic", r.Topic, p, next-1, before[p])
		}
		r.Offset = next - 1
		marks[p] = mark{next: next, last: lastRecord(r)}
	}
	return marks, nil
}

// commit lets the transaction in hand finish when ctx ends, for a short while.
func (w *worker) commit(ctx context.Context, producer *sink.Producer, b sink.Batch) (sink.Written, error) {
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

// progress counts what a worker did, to say so from time to time.
type progress struct {
	Totals
	log   *slog.Logger
	since time.Time
}

func (p *progress) add(t Totals) {
	p.Lines += t.Lines
	p.New += t.New
	p.Joined += t.Joined
	p.Unclustered += t.Unclustered
	p.Rejected += t.Rejected
}

// say logs the counts, if there are any, and begins anew.
func (p *progress) say(clusters int) {
	if p.Lines > 0 {
		p.log.Info("progress", "records", p.Lines, "per_second", int(float64(p.Lines)/time.Since(p.since).Seconds()), "new", p.New,
			"joined", p.Joined, "unclustered", p.Unclustered, "dead_letters", p.Rejected, "clusters", clusters)
	}
	*p = progress{log: p.log, since: time.Now()}
}
