package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/monitor/tally"
	"github.com/clusterd/clusterd/internal/pipeline/intake"
	"github.com/clusterd/clusterd/internal/pipeline/output"
	"github.com/clusterd/clusterd/internal/pipeline/tracing"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/replica"
)

const (
	// blockedPause is how often an owner looks whether a topic takes the record that it has refused,
	// and blockedReminder how often it logs that it does not.
	blockedPause    = 2 * time.Second
	blockedReminder = time.Minute
	// commitGrace is how long a transaction in hand may still take when the owner is to stop.
	commitGrace = 5 * time.Second
)

// errAgain marks the failure of a transaction, after which the owner starts again from what is
// committed.
var errAgain = errors.New("starting again from what is committed")

// owner owns partitions of a topic, from which it reads, and a transactional id, by which it writes
// what it makes of their records.
type owner struct {
	config        config.Config
	client        *kafka.Client
	log           *slog.Logger
	monitor       *monitor.Monitor
	fingerprinter *fingerprint.Fingerprinter
	tally         *tally.Tally
	tracer        *tracing.Tracer // nil: nobody traces
	name          string          // of what it works on, for the monitor
	source        config.Source   // what it reads
	partitions    []int           // of that topic
	transactional string
	out           output.Topics
}

// run calls attempt, which takes ownership and works from there, until ctx ends (then it returns
// nil), until another instance takes over ([sink.ErrFenced]), or until an error comes that
// beginning again does not mend. Attempt calls progressed after each batch. Mend says whether it
// has mended an error.
func (o *owner) run(
	ctx context.Context, producer *sink.Producer,
	attempt func(ctx context.Context, producer *sink.Producer, progressed func()) error,
	mend func(error) (bool, error),
) error {
	var backoff kafka.Backoff
	for {
		err := attempt(ctx, producer, backoff.Reset)
		if ctx.Err() != nil {
			return nil
		}
		mended, failed := mend(err)
		switch {
		case failed != nil:
			return failed
		case mended:
		case errors.Is(err, sink.ErrFenced):
			o.monitor.NotCommitted(monitor.Fenced)
			return err
		case kafka.Fatal(err), !errors.Is(err, errAgain):
			return kafka.Explain(err)
		default:
			o.monitor.NotCommitted(monitor.Aborted)
			o.log.Warn("a batch was not committed, or it is not known whether it was; beginning again "+
				"from what is committed", "error", err)
		}
		o.monitor.Failed(err)
		var refused *sink.TooLargeError
		if errors.As(err, &refused) {
			err = o.waitForRoom(ctx, producer, refused)
		} else {
			err = backoff.Wait(ctx)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// newProducer returns the producer of the owner. What the topics take must be known.
func (o *owner) newProducer() (*sink.Producer, error) {
	return sink.NewProducer(o.client, o.log, sink.Settings{
		TransactionalID: o.transactional, Group: o.source.Group,
		Compression: o.out.Compression, Limits: o.out.Limits,
	})
}

// waitForRoom waits until the topic takes the record that it has refused, unless that may be a
// result that it takes without the headers of its input record. Where the broker does not
// say what it takes, the record is tried again after a while. The transaction is aborted first: it
// would hold readers back.
func (o *owner) waitForRoom(
	ctx context.Context, producer *sink.Producer, refused *sink.TooLargeError,
) error {
	if o.out.MakeRoom(refused) {
		return nil
	}
	o.monitor.Blocked(o.name, refused)
	if err := producer.Fence(ctx); err != nil {
		return err
	}
	var logged time.Time
	for began := time.Now(); ; {
		if time.Since(logged) >= blockedReminder {
			logged = time.Now()
			o.log.Error("blocked: nothing is lost or passed over, and clusterd goes on by itself when the "+
				"topic takes the record", "error", refused)
		}
		var settings kafka.TopicConfig
		err := kafka.Retry(ctx, o.log, "reading the settings of topic "+refused.Topic,
			func() (err error) {
				settings, err = o.client.TopicConfig(ctx, refused.Topic)
				return err
			})
		if err != nil {
			return err
		}
		if settings.LimitKnown {
			o.out.Limits[refused.Topic] = settings.MaxMessageBytes
			producer.SetLimit(refused.Topic, settings.MaxMessageBytes)
			o.out.Room = o.out.Limits[o.out.Topic]
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

// positions returns the offsets that the group has committed, and those to read on from: these,
// else the beginning.
func (o *owner) positions(ctx context.Context) (committed, next map[int]int64, err error) {
	err = kafka.Retry(ctx, o.log, "fetching committed offsets", func() (err error) {
		committed, err = consumer.Committed(ctx, o.client, o.source.Group, o.source.Topic, o.partitions)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	next = maps.Clone(committed)
	return committed, next, o.begin(ctx, o.source.Topic, o.partitions, next)
}

// begin lets those of a topic's partitions that have no offset in next begin at their first.
func (o *owner) begin(
	ctx context.Context, topic string, partitions []int, next map[int]int64,
) error {
	var fresh []int
	for _, p := range partitions {
		if _, ok := next[p]; !ok {
			fresh = append(fresh, p)
		}
	}
	return kafka.Retry(ctx, o.log, "listing offsets", func() error {
		first, err := o.client.Offsets(ctx, topic, fresh, kafka.First)
		maps.Copy(next, first)
		return err
	})
}

// newLog returns a reader of the source, which has this id, from the offsets next on.
func (o *owner) newLog(id string, next map[int]int64, maxValue int) *consumer.Log {
	log := consumer.NewLog(o.client, o.log, o.source.Topic, next, o.config.Batch.Bytes)
	log.MaxValue = maxValue
	log.OnPoll = func(positions []kafka.Position) { o.monitor.PolledInput(o.name, positions) }
	log.TopicID, log.Anew = id, replica.InputAnew
	log.Remedy = "set the offset of the group by hand (kafka-consumer-groups --reset-offsets), or " +
		replica.StartAnew
	log.Reset = replica.Reset(&o.config, o.source)
	return log
}

// newReading returns what makes batches of the source's records.
func (o *owner) newReading(items intake.Items) *intake.Reading {
	return &intake.Reading{Space: o.name, Monitor: o.monitor, Batch: o.config.Batch, Items: items}
}

// commit lets the transaction in hand finish when ctx ends, for a short while.
func (o *owner) commit(
	ctx context.Context, producer *sink.Producer, b *sink.Prepared,
) (sink.Written, error) {
	finish, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(commitGrace, cancel)
	})
	defer stop()
	written, err := producer.CommitPrepared(finish, b)
	if err == nil || errors.Is(err, sink.ErrFenced) {
		return written, err
	}
	return nil, fmt.Errorf("%w: %w", errAgain, err)
}
