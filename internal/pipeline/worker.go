package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/article"
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
	// blockedPause is how often a worker looks whether a topic takes the record that it has refused, and
	// blockedReminder how often it says that it does not.
	blockedPause    = 2 * time.Second
	blockedReminder = time.Minute
	// adjustedInterval is how often it says at most that it has adjusted event times.
	adjustedInterval = time.Minute
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
	adjusting     adjusting
	reached       map[int]int64 // by input partition: up to where it is committed
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
		w.monitor.Trouble(err)
		var refused *sink.TooLargeError
		switch {
		case errors.As(err, &refused):
			err = w.waitForRoom(ctx, producer, refused)
			continue
		case errors.Is(err, kafkago.MessageSizeTooLarge):
			w.shrink()
		}
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

// waitForRoom waits until the topic takes the record that it has refused. Where the broker does not say what it
// takes, the record is tried again after a while. The transaction is aborted first: it would hold readers back.
func (w *worker) waitForRoom(ctx context.Context, producer *sink.Producer, refused *sink.TooLargeError) error {
	w.monitor.Blocked(w.replica.name, refused)
	if err := producer.Fence(ctx); err != nil {
		return err
	}
	var said time.Time
	for began := time.Now(); ; {
		if time.Since(said) >= blockedReminder {
			said = time.Now()
			w.log.Error("blocked: nothing is lost or passed over, and clusterd goes on by itself when the topic takes the record", "error", refused)
		}
		var settings kafka.TopicConfig
		err := kafka.Retry(ctx, w.log, "reading the settings of topic "+refused.Topic, func() (err error) {
			settings, err = w.client.TopicConfig(ctx, refused.Topic)
			return err
		})
		if err != nil {
			return err
		}
		if settings.LimitKnown {
			w.out.limits[refused.Topic] = settings.MaxMessageBytes
		}
		if settings.LimitKnown && settings.MaxMessageBytes >= refused.Size || !settings.LimitKnown && time.Since(began) >= blockedReminder {
			return nil
		}
		select {
		case <-time.After(blockedPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// shrink makes record batches smaller where a topic's real limit could not be read.
func (w *worker) shrink() {
	for topic, limit := range w.out.limits {
		w.out.limits[topic] = max(smallestLimit, limit/2)
	}
}

// own takes ownership, in the order that exactly-once needs: fence, then offsets, then clusters;
// and works from there. It calls progressed after each batch.
func (w *worker) own(ctx context.Context, producer *sink.Producer, progressed func()) error {
	w.monitor.Recovering(w.replica.name, "taking the space over")
	if err := producer.Fence(ctx); err != nil {
		return err
	}
	if err := failpoint.Hit(failpoint.Fenced); err != nil {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	committed, next, err := w.positions(ctx)
	if err != nil {
		return err
	}
	if err := w.replica.catchUp(ctx); err != nil {
		return err
	}
	if err := w.replica.checkOffsets(committed); err != nil {
		return err
	}
	if err := w.replica.checkFounders(next); err != nil {
		return err
	}
	w.reached = committed
	w.monitor.Live(w.replica.name, w.partitions)
	w.log.Info("live", "partitions", w.partitions)

	group, ctx := errgroup.WithContext(ctx)
	chunks, fingerprinted, batches := make(chan consumer.Chunk), make(chan prints), make(chan batch)
	group.Go(func() error {
		log := consumer.NewLog(w.client, w.log, w.config.Input.Topic, next, w.config.Batch.Bytes)
		// What is too large for an article goes on whole if a dead letter can hold it.
		log.MaxValue = max(w.config.Input.MaxBytes, w.out.limits[w.out.DeadLetterTopic])
		log.OnPoll = w.polled
		return log.Read(ctx, chunks)
	})
	group.Go(func() error { return w.fingerprint(ctx, chunks, fingerprinted) })
	group.Go(func() error { return w.collect(ctx, fingerprinted, batches) })
	group.Go(func() error { return w.commitAll(ctx, producer, batches, progressed) })
	return group.Wait()
}

// polled tells the monitor where the input stands.
func (w *worker) polled(positions []consumer.Position) {
	w.monitor.Polled(0, 0)
	for _, p := range positions {
		w.monitor.Lag(p.Partition, p.Lag())
		w.monitor.Open(w.replica.name, w.config.Input.Topic, p.Partition, p.Open)
	}
}

// positions are the offsets that the group has committed, and those to read on from: these, else the beginning.
func (w *worker) positions(ctx context.Context) (committed, next map[int]int64, err error) {
	topic := w.config.Input.Topic
	err = kafka.Retry(ctx, w.log, "fetching committed offsets", func() (err error) {
		committed, err = consumer.Committed(ctx, w.client, w.config.Input.Group, topic, w.partitions)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	next = maps.Clone(committed)
	var fresh []int
	for _, p := range w.partitions {
		if _, ok := committed[p]; !ok {
			fresh = append(fresh, p)
		}
	}
	err = kafka.Retry(ctx, w.log, "listing offsets", func() error {
		first, err := w.client.Offsets(ctx, topic, fresh, kafka.First)
		maps.Copy(next, first)
		return err
	})
	return committed, next, err
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
			progress.say(w.replica.space.rule.Len(), w.monitor.Lags(w.partitions))
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
	c.checkpoint = w.checkpoint(b)
	began := time.Now()
	transaction := sink.Batch{Records: w.out.records(c), Offsets: b.offsets(w.config.Input.Topic)}
	w.monitor.Spent(monitor.Encoding, began)
	plantInTopics(&w.out, &transaction)
	began = time.Now()
	written, err := w.commit(ctx, producer, transaction)
	w.monitor.Spent(monitor.Committing, began)
	if err != nil {
		return err
	}
	w.reached = c.checkpoint.Offsets
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

// checkpoint is that of the space when the batch, which is assigned, is committed.
func (w *worker) checkpoint(b batch) *article.Checkpoint {
	c, now := w.replica.settings.Checkpoint, w.replica.space.rule.State()
	c.NextPosition, c.StreamTime, c.Offsets = now.Next, max(0, now.StreamTime), maps.Clone(w.reached)
	for p, next := range b.next {
		c.Offsets[p] = next
	}
	return &c
}

// tell counts what became of a committed batch, for the log and the monitor.
func (w *worker) tell(c changes, took time.Duration) Totals {
	totals, rejected, tally := Totals{}, make(map[string]int), w.fingerprinter.tally
	var odd monitor.Odd
	for i := range c.outcomes {
		o := &c.outcomes[i]
		totals.add(o)
		for _, what := range tally.Add(o.notes, o.rejection) {
			w.log.Warn(what, "source", o.address().String())
		}
		if o.notes != nil {
			odd.Add(o.notes)
		}
		if r := o.rejection; r != nil {
			rejected[string(r.Class)]++
			w.log.Debug("dead letter", "class", r.Class, "reason", r.Reason, "source", o.address().String())
		}
	}
	w.adjusting.add(w.log, c.adjusted, time.Now())
	if tally.Enough() {
		if warning := tally.Warning(); warning != "" {
			w.log.Warn(warning)
		}
	}
	w.monitor.Committed(monitor.Commit{
		Odd:   odd,
		Space: w.replica.name, Took: took, New: totals.New, Joined: totals.Joined, Unclustered: totals.Unclustered, Rejected: rejected,
		Expired: len(c.expired), TimesAhead: c.adjusted.ahead, TimesOld: c.adjusted.old, Candidates: c.compared, Clusters: w.replica.space.rule.Len(),
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

// say logs the counts and what is left to do, if there is anything, and begins anew. The time that is left is that
// for the lag at the rate of the counts, as if nothing came in meanwhile.
func (p *progress) say(clusters int, lag int64) {
	rate := float64(p.Lines) / time.Since(p.since).Seconds()
	attributes := []any{
		"records", p.Lines, "per_second", int(rate), "new", p.New, "joined", p.Joined, "unclustered", p.Unclustered,
		"dead_letters", p.Rejected, "clusters", clusters, "lag", lag,
	}
	if p.Lines > 0 {
		attributes = append(attributes, "eta", timeFor(lag, rate))
	}
	if p.Lines > 0 || lag > 0 {
		p.log.Info("progress", attributes...)
	}
	*p = progress{log: p.log, since: time.Now()}
}

// timeFor is how long so many records take at a rate, to the second, and no more than some thirty years.
func timeFor(records int64, perSecond float64) time.Duration {
	return time.Duration(math.Round(min(float64(records)/perSecond, 1e9))) * time.Second
}

// adjusting says from time to time that articles have another event time than they say.
type adjusting struct {
	ahead, old int       // since it was last said
	said       time.Time // zero: never
}

// add counts, and says so: the first time, and then at most once in an interval.
func (a *adjusting) add(log *slog.Logger, more adjusted, now time.Time) {
	a.ahead, a.old = a.ahead+more.ahead, a.old+more.old
	if more.example == nil || !a.said.IsZero() && now.Sub(a.said) < adjustedInterval {
		return
	}
	e := more.example
	log.Warn("articles say times that would expire others' clusters, or their own at once: they count by the time of their record",
		"ahead", a.ahead, "old", a.old, "for_example", e.address().String(), "published_at", e.publishedAt, "record_time", e.record.Time.UTC(),
		"counts_as", time.UnixMilli(more.at).UTC())
	*a = adjusting{said: now}
}
