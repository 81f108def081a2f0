package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/checkpoint"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/fingerprint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/labelling"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/replica"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/state"
	"github.com/clusterd/clusterd/internal/tally"
	"github.com/clusterd/clusterd/internal/tracing"
)

const (
	// blockedPause is how often a worker looks whether a topic takes the record that it has refused,
	// and blockedReminder how often it logs that it does not.
	blockedPause    = 2 * time.Second
	blockedReminder = time.Minute
)

// worker owns one space: its input partitions, its transactional id, its clusters.
type worker struct {
	config        config.Config
	client        *kafka.Client
	log           *slog.Logger
	monitor       *monitor.Monitor
	fingerprinter *fingerprint.Fingerprinter
	tally         *tally.Tally
	tracer        *tracing.Tracer // nil: nobody traces
	partitions    []int           // of the input topic
	transactional string
	out           outputs
	replica       *replica.Replica
	adjusted      space.AdjustedLog
	reached       map[int]int64 // by input partition: up to where it is committed
	members       Members
	labels        *labelling.Work    // nil where labels are off
	untouched     *checkpoint.Labels // how far the space is with labels, where they are off
}

// errAgain marks the failure of a transaction, after which the worker starts again from what is
// committed.
var errAgain = errors.New("starting again from what is committed")

// run works until ctx ends (then it returns nil), until another instance takes over
// ([sink.ErrFenced]), or until an error comes that beginning again does not mend.
func (w *worker) run(ctx context.Context) error {
	defer w.monitor.Gone(w.replica.Name())
	producer, err := w.newProducer(ctx)
	var backoff kafka.Backoff
	for err == nil {
		err = w.takeOver(ctx, producer, backoff.Reset)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, sink.ErrFenced):
			w.monitor.NotCommitted(monitor.Fenced)
			return err
		case errors.Is(err, state.ErrDamaged):
			if err := w.replica.Discard(err); err != nil {
				return err
			}
		case kafka.Fatal(err), !errors.Is(err, errAgain):
			return kafka.Explain(err)
		default:
			w.monitor.NotCommitted(monitor.Aborted)
			w.log.Warn("a batch was not committed, or it is not known whether it was; beginning again "+
				"from what is committed", "error", err)
		}
		w.monitor.Failed(err)
		var refused *sink.TooLargeError
		if errors.As(err, &refused) {
			err = w.waitForRoom(ctx, producer, refused)
			continue
		}
		err = backoff.Wait(ctx)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// newProducer returns the producer of the space, once it is known what the output topics take.
func (w *worker) newProducer(ctx context.Context) (*sink.Producer, error) {
	if err := w.out.describe(ctx, w.client, w.log); err != nil {
		return nil, err
	}
	if n := len(w.out.partitions[w.out.ClustersTopic]); n != w.replica.Partitions() {
		return nil, fmt.Errorf("topic %s had %d partitions and has %d, which moves its keys. "+
			"Start anew with another input.group and another output.clusters_topic",
			w.out.ClustersTopic, w.replica.Partitions(), n)
	}
	return sink.NewProducer(w.client, w.log, sink.Settings{
		TransactionalID: w.transactional, Group: w.config.Input.Group,
		Compression: w.out.Compression, Limits: w.out.limits,
	})
}

// waitForRoom waits until the topic takes the record that it has refused, unless that may be a
// result that it takes without the headers of its input record. Where the broker does not
// say what it takes, the record is tried again after a while. The transaction is aborted first: it
// would hold readers back.
func (w *worker) waitForRoom(
	ctx context.Context, producer *sink.Producer, refused *sink.TooLargeError,
) error {
	if w.out.makeRoom(refused) {
		return nil
	}
	w.monitor.Blocked(w.replica.Name(), refused)
	if err := producer.Fence(ctx); err != nil {
		return err
	}
	var logged time.Time
	for began := time.Now(); ; {
		if time.Since(logged) >= blockedReminder {
			logged = time.Now()
			w.log.Error("blocked: nothing is lost or passed over, and clusterd goes on by itself when the "+
				"topic takes the record", "error", refused)
		}
		var settings kafka.TopicConfig
		err := kafka.Retry(ctx, w.log, "reading the settings of topic "+refused.Topic,
			func() (err error) {
				settings, err = w.client.TopicConfig(ctx, refused.Topic)
				return err
			})
		if err != nil {
			return err
		}
		if settings.LimitKnown {
			w.out.limits[refused.Topic] = settings.MaxMessageBytes
			producer.SetLimit(refused.Topic, settings.MaxMessageBytes)
			w.out.room = w.out.limits[w.out.Topic]
		}
		if settings.LimitKnown && settings.MaxMessageBytes >= refused.Size ||
			!settings.LimitKnown && time.Since(began) >= blockedReminder {
			return nil
		}
		select {
		case <-time.After(blockedPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// takeOver takes ownership of the space, in the order that exactly-once needs: fence, then offsets,
// then clusters; and works from there. It calls progressed after each batch.
func (w *worker) takeOver(ctx context.Context, producer *sink.Producer, progressed func()) error {
	w.monitor.Recovering(w.replica.Name(), "taking the space over")
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
	if err := w.replica.CatchUp(ctx); err != nil {
		return err
	}
	if err := w.replica.CheckOffsets(committed); err != nil {
		return err
	}
	if err := w.replica.CheckFounders(next); err != nil {
		return err
	}
	w.reached, w.untouched = committed, w.labelled()
	var nextLabels map[int]int64
	if w.labels, nextLabels, err = w.newLabels(ctx); err != nil {
		return err
	}
	w.monitor.Live(w.replica.Name(), w.partitions)
	w.reportLabelling()
	w.log.Info("live", "partitions", w.partitions)

	group, ctx := errgroup.WithContext(ctx)
	chunks, fingerprinted, batches := make(chan consumer.Chunk), make(chan items), make(chan batch)
	group.Go(func() error {
		log := consumer.NewLog(w.client, w.log, w.config.Input.Topic, next, w.config.Batch.Bytes)
		// What is too large for an article goes on whole if a dead letter can hold it.
		log.MaxValue = max(w.config.Input.MaxBytes, w.out.limits[w.out.DeadLetterTopic])
		log.OnPoll = func(positions []kafka.Position) {
			w.monitor.PolledInput(w.replica.Name(), positions)
		}
		log.Remedy = replica.StartAnew
		return log.Read(ctx, chunks)
	})
	group.Go(func() error { return w.fingerprint(ctx, chunks, fingerprinted) })
	group.Go(func() error { return w.collect(ctx, fingerprinted, batches) })
	var labels chan consumer.Chunk // nil: none ever come
	if w.labels != nil {
		labels = make(chan consumer.Chunk)
		group.Go(func() error { return w.readLabels(ctx, nextLabels, labels) })
	}
	group.Go(func() error { return w.commitAll(ctx, producer, batches, labels, progressed) })
	return group.Wait()
}

// positions returns the offsets that the group has committed, and those to read on from: these,
// else the beginning.
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
	return committed, next, w.begin(ctx, topic, w.partitions, next)
}

// begin lets those of a topic's partitions that have no offset in next begin at their first.
func (w *worker) begin(
	ctx context.Context, topic string, partitions []int, next map[int]int64,
) error {
	var fresh []int
	for _, p := range partitions {
		if _, ok := next[p]; !ok {
			fresh = append(fresh, p)
		}
	}
	return kafka.Retry(ctx, w.log, "listing offsets", func() error {
		first, err := w.client.Offsets(ctx, topic, fresh, kafka.First)
		maps.Copy(next, first)
		return err
	})
}
