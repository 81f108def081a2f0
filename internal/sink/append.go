package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
)

// ErrUnknown is the error of records that may have been written or not: the brokers did not answer
// in time.
var ErrUnknown = errors.New("it is not known whether it was written")

const (
	// appendTimeout is for how long records are sent again that no broker has acknowledged.
	appendTimeout = 15 * time.Second
	// gatherBytes is how much goes into one round of requests, about.
	gatherBytes = 1 << 20
	// maxQueued is how many callers wait at most to be taken.
	maxQueued = 256
)

// An Appender writes records outside of transactions. Each is written once, however often it has to
// be sent, and acknowledged by all replicas in sync. What comes while a round of requests is under
// way goes with the next, so one caller alone waits for nobody, and many share their requests.
//
// [Appender.Run] does the work; Append is safe for concurrent use.
type Appender struct {
	producer *Producer // without a transactional id
	queue    chan *appended
}

// An appended is records of one caller.
type appended struct {
	records []kafka.Record
	done    chan outcome
}

// An outcome is what became of them.
type outcome struct {
	offsets []int64
	err     error
}

// NewAppender returns an appender that writes nothing yet. Compression is as in [Settings].
func NewAppender(client *kafka.Client, log *slog.Logger, compression string) (*Appender, error) {
	p, err := NewProducer(client, log, Settings{Compression: compression})
	if err != nil {
		return nil, err
	}
	p.limits = make(map[string]int)
	return &Appender{p, make(chan *appended, maxQueued)}, nil
}

// Append writes records, which name their topics and partitions, and returns their offsets. Those
// of one call that are for one partition keep their order. The error is a [TooLargeError] of a
// record that its topic does not take, and then nothing is written; [ErrUnknown], as when ctx ends;
// or one that says what to do.
func (a *Appender) Append(ctx context.Context, records []kafka.Record) ([]int64, error) {
	task := &appended{records, make(chan outcome, 1)}
	select {
	case a.queue <- task:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to write to Kafka: %w", a.late(ctx)) // nothing was written
	}
	select {
	case o := <-task.done:
		return o.offsets, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnknown, a.late(ctx))
	}
}

// late returns why it took so long: what failed last and is tried again, if anything has.
func (a *Appender) late(ctx context.Context) error {
	if failed := a.producer.failed.Load(); failed != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), kafka.Explain(*failed))
	}
	return ctx.Err()
}

// Run writes what is appended, until ctx ends.
func (a *Appender) Run(ctx context.Context) {
	for {
		select {
		case first := <-a.queue:
			a.write(ctx, a.gather(first))
		case <-ctx.Done():
			return
		}
	}
}

// gather returns what has come together by now.
func (a *Appender) gather(first *appended) []*appended {
	tasks, size := []*appended{first}, sizeOf(first)
	for size < gatherBytes {
		select {
		case task := <-a.queue:
			tasks, size = append(tasks, task), size+sizeOf(task)
		default:
			return tasks
		}
	}
	return tasks
}

func sizeOf(task *appended) (size int) {
	for i := range task.records {
		size += recordbatch.RecordSize(&task.records[i])
	}
	return size
}

// write writes the records of several callers, and tells each what became of its own.
func (a *Appender) write(ctx context.Context, tasks []*appended) {
	ctx, cancel := context.WithTimeout(ctx, appendTimeout)
	defer cancel()
	var all []kafka.Record
	var taken []*appended
	for _, task := range tasks {
		if err := a.fits(ctx, task.records); err != nil {
			task.done <- outcome{err: kafka.Explain(err)}
			continue
		}
		taken, all = append(taken, task), append(all, task.records...)
	}
	for i := range all {
		all[i].Offset = -1
	}
	err := a.send(ctx, all)
	if err != nil {
		// What was sent may be in the log or not. Under another id no number is expected.
		a.producer.producerID = -1
	}
	for _, task := range taken {
		n := len(task.records)
		task.done <- outcomeOf(all[:n], err)
		all = all[n:]
	}
}

// outcomeOf returns what became of one caller's records, of which those that are written have
// offsets.
func outcomeOf(records []kafka.Record, err error) outcome {
	offsets := make([]int64, len(records))
	for i := range records {
		switch offsets[i] = records[i].Offset; {
		case offsets[i] >= 0:
		case kafka.Fatal(err):
			return outcome{err: kafka.Explain(err)}
		case err == nil:
			return outcome{err: fmt.Errorf("%w: the broker has it, and does not say where", ErrUnknown)}
		default:
			return outcome{err: fmt.Errorf("%w: %w", ErrUnknown, kafka.Explain(err))}
		}
	}
	return outcome{offsets: offsets}
}

// send writes records, and sets their offsets.
func (a *Appender) send(ctx context.Context, records []kafka.Record) error {
	if len(records) == 0 {
		return nil
	}
	p := a.producer
	if p.producerID < 0 {
		if err := a.begin(ctx); err != nil {
			return err
		}
	}
	rounds, err := p.encode(records)
	if err != nil {
		return err
	}
	p.stamp(rounds)
	var mutex sync.Mutex // leaders answer side by side
	for _, round := range rounds {
		err := p.sendAll(ctx, round, func(b recordBatch, first int64) {
			mutex.Lock()
			defer mutex.Unlock()
			for i, r := range b.records {
				r.Offset = first + int64(i)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// begin gets a producer id, under which the broker expects the numbers of records from 0 on.
func (a *Appender) begin(ctx context.Context) error {
	p := a.producer
	return kafka.Retry(ctx, p.log, "asking for a producer id", func() error {
		p.producerID, p.epoch = -1, -1
		if err := p.init(ctx); err != nil {
			return fmt.Errorf("asking for a producer id: %w", err)
		}
		return nil
	})
}

// fits returns an error if a topic does not take one of these records. What it takes is asked once,
// and again where a record seems to be too large.
func (a *Appender) fits(ctx context.Context, records []kafka.Record) error {
	p := a.producer
	for _, r := range records {
		size := Size(r)
		if size <= p.limits[r.Topic] {
			continue
		}
		settings, err := p.client.TopicConfig(ctx, r.Topic)
		if err != nil {
			return err
		}
		if p.limits[r.Topic] = settings.MaxMessageBytes; size > settings.MaxMessageBytes {
			return &TooLargeError{Partition: Partition{r.Topic, r.Partition}, Key: r.Key, Size: size}
		}
	}
	return nil
}
