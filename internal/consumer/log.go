// Package consumer takes records from Kafka: who in the group owns which partitions, from which
// offsets, and the committed records themselves, in order. Partitions go in, chunks of records
// come out. It knows nothing of what is in them.
//
// kafka-go's Reader is not used: it returns records of aborted transactions, and skips or
// rewinds where clusterd must stop.
package consumer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/fetch"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
)

const (
	// fetchWait is how long a broker may hold a fetch back while it has nothing new.
	fetchWait = 500 * time.Millisecond
	// fetchTimeout is how long to wait for a fetch. It doubles, up to slowFetchTimeout, where that was
	// not enough: a slow network takes longer for a full fetch, and a broker that hangs is not to be
	// waited for.
	fetchTimeout     = fetchWait + kafka.RequestTimeout
	slowFetchTimeout = time.Minute
	// missingLimit is how long a topic may be unknown, as while a broker starts, before it
	// counts as deleted.
	missingLimit = 30 * time.Second
	// damageTries is how often a damaged record batch is fetched: once more helps if it was damaged on
	// the way.
	damageTries = 4
	// readCommitted is the isolation level that stops at the last stable offset.
	readCommitted = 1
)

// ErrOffsetOutOfRange is the error of a position that the partition does not hold: its records
// were deleted before they were read, or the topic was recreated.
var ErrOffsetOutOfRange = errors.New("offset out of range")

// ErrRecreated is the error of a topic that is not the one that was read before, though it has the
// same name: its offsets are those of other records.
var ErrRecreated = errors.New("the topic is another one than before")

// A Chunk is a run of committed records of one partition, and the offset to go on from. Records may
// be empty: control records and aborted ones move a position too. What is unreadable of a record
// batch is one record, see [kafka.Unreadable].
type Chunk struct {
	Partition int
	Records   []kafka.Record
	Next      int64
}

// A Log reads the committed records of some partitions of one topic. It is not safe for
// concurrent use.
type Log struct {
	// MaxValue, if it is set before Read, is how large a value may be, in bytes. Of a larger one only
	// the first MaxValue+1 come, and [kafka.Record.Cut] says how many do not. Keys, and headers in
	// all, are cut there too. Without it, a small record batch can decompress to a value of 2 GiB.
	MaxValue int
	// OnPoll, if it is set before Read, is called whenever a fetch came back, with records or without,
	// from several goroutines. It is told where the partitions stand that were asked for, before what
	// was fetched is handed over.
	OnPoll func([]kafka.Position)
	// TopicID, if it is set before Read, is that of the topic. With another one Read ends with
	// [ErrRecreated]. Empty: the topic that is there at the first fetch.
	TopicID string
	// Remedy, if it is set before Read, is what to do where records that are wanted are gone or
	// damaged, for errors. Anew is what to do where the topic is gone or another one; empty: the same.
	Remedy, Anew string
	// Reset, if it is set before Read, returns the command that has a partition read on from the first
	// record that is there, for errors. Without it there is none.
	Reset func(partition int) string

	client   *kafka.Client
	topic    string
	next     map[int]int64
	maxBytes int
	timeout  atomic.Int64 // of a fetch, a time.Duration
	retries  *kafka.RetryLogger
	watch    positions
}

// NewLog returns a reader that begins at the offsets next, by partition. maxBytes bounds what one
// fetch of a leader returns, though a single larger record batch still comes whole, and at how many
// bytes of records in memory a chunk ends.
func NewLog(
	client *kafka.Client, log *slog.Logger, topic string, next map[int]int64, maxBytes int,
) *Log {
	l := &Log{
		Remedy: "start anew",
		client: client, topic: topic, next: maps.Clone(next), maxBytes: maxBytes,
		retries: kafka.NewRetryLogger(log, "reading topic "+topic),
		watch: positions{
			log: log, topic: topic, long: client.LongOpen, open: make(map[int]*opened),
		},
	}
	l.timeout.Store(int64(fetchTimeout))
	return l
}

// Read sends chunks to out until ctx ends or an error comes that waiting does not mend, which it
// returns. Each partition's records come in order; partitions with different leaders are read
// side by side. A slow receiver slows the reading: nothing is buffered but what was fetched and
// the chunk being sent.
func (l *Log) Read(ctx context.Context, out chan<- Chunk) error {
	var missingSince time.Time
	tries := make(map[damagedError]int)
	for {
		err := l.readLeaders(ctx, out)
		missing := errors.Is(err, kafka.ErrNoTopic) || kafka.NoTopic(err)
		var damaged damagedError
		if errors.As(err, &damaged) {
			tries[damaged]++
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case tries[damaged] > 0 && tries[damaged] < damageTries: // again
		case !missing && !kafka.Retriable(err):
			return kafka.Explain(err)
		case !missing:
			missingSince = time.Time{}
		case missingSince.IsZero():
			missingSince = time.Now()
		case time.Since(missingSince) > missingLimit:
			return fmt.Errorf("topic %s does not exist any more: if it was deleted on purpose, %s (%w)",
				l.topic, l.anew(), err)
		}
		if err := l.retries.Wait(ctx, err); err != nil {
			return err
		}
	}
}

// damagedError is [recordbatch.ErrUnreadable] at a place. It is comparable.
type damagedError struct {
	partition int
	offset    int64
	text      string
}

func (e damagedError) Error() string { return e.text }
func (e damagedError) Unwrap() error { return recordbatch.ErrUnreadable }

// readLeaders reads from every leader side by side until one of them fails: then the layout may
// have changed, and the caller asks for it again.
func (l *Log) readLeaders(ctx context.Context, out chan<- Chunk) error {
	if err := l.identify(ctx); err != nil {
		return err
	}
	leaders, err := l.client.Leaders(ctx, l.topic)
	if err != nil {
		return err
	}
	byLeader := make(map[int][]int)
	for _, partition := range slices.Sorted(maps.Keys(l.next)) {
		leader, ok := leaders[partition]
		if !ok {
			return fmt.Errorf("partition %s/%d: %w", l.topic, partition, kafkago.UnknownTopicOrPartition)
		}
		byLeader[leader] = append(byLeader[leader], partition)
	}
	group, reading := errgroup.WithContext(ctx)
	results := make(chan Chunk)
	for _, partitions := range byLeader {
		next := make(map[int]int64, len(partitions))
		for _, p := range partitions {
			next[p] = l.next[p]
		}
		group.Go(func() error { return l.readLeader(reading, partitions, next, results) })
	}
	finished := make(chan error, 1)
	go func() { finished <- group.Wait() }()
	for {
		select {
		case chunk := <-results:
			select {
			case out <- chunk:
				// Only what was handed over counts as read.
				l.next[chunk.Partition] = chunk.Next
			case <-ctx.Done():
			}
		case err := <-finished:
			return err
		}
	}
}

// identify makes sure that the topic is the one that was read before.
func (l *Log) identify(ctx context.Context) error {
	ids, err := l.client.TopicIDs(ctx, l.topic)
	if err != nil {
		return err
	}
	switch id, ok := ids[l.topic]; {
	case !ok:
		return fmt.Errorf("topic %s: %w", l.topic, kafka.ErrNoTopic)
	case l.TopicID == "":
		l.TopicID = id
	case id != "" && id != l.TopicID:
		return fmt.Errorf("%w: topic %s was deleted and created again: its id was %s and is %s. Nothing "+
			"of the new one was read. To go on, %s", ErrRecreated, l.topic, l.TopicID, id, l.anew())
	}
	return nil
}

func (l *Log) readLeader(
	ctx context.Context, partitions []int, next map[int]int64, results chan<- Chunk,
) error {
	limit := l.MaxValue
	if limit == 0 {
		limit = math.MaxInt32
	}
	reader := recordbatch.NewReader(limit)
	defer reader.Close()
	for {
		fetched, err := l.fetch(ctx, partitions, next)
		if err != nil {
			return err
		}
		l.retries.Succeeded()
		l.polled(fetched, next)
		for _, p := range fetched {
			c := newCutter(l.topic, int(p.Partition), next[int(p.Partition)], l.maxBytes, reader)
			c.send = func(chunk Chunk) error {
				select {
				case results <- chunk:
					next[chunk.Partition] = chunk.Next
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			err := c.committed(p.RecordBatches, p.AbortedTransactions)
			if errors.Is(err, recordbatch.ErrUnreadable) {
				err = damagedError{int(p.Partition), c.chunk.Next, fmt.Sprintf("%v. Nothing was skipped, "+
					"and fetching it %d times did not help: it is damaged in "+
					"the broker's log. To go on without it, %s", err, damageTries, l.Remedy)}
			}
			if err != nil {
				return fmt.Errorf("reading %s/%d at offset %d: %w", l.topic, p.Partition, c.chunk.Next, err)
			}
		}
		// Only for the first partition with data does a broker send a record batch that is larger
		// than its share: begin with another one each time, so that none starves.
		partitions = append(partitions[1:], partitions[0])
	}
}

// polled reports where the partitions stand after a fetch.
func (l *Log) polled(fetched []kmsg.FetchResponseTopicPartition, next map[int]int64) {
	now, positions := time.Now(), make([]kafka.Position, 0, len(fetched))
	for i := range fetched {
		positions = append(positions, l.watch.at(now, &fetched[i], next[int(fetched[i].Partition)]))
	}
	if l.OnPoll != nil {
		l.OnPoll(positions)
	}
}

// fetch asks one leader once, for all of its partitions.
func (l *Log) fetch(
	ctx context.Context, partitions []int, next map[int]int64,
) ([]kmsg.FetchResponseTopicPartition, error) {
	topic := fetch.RequestTopic{Topic: l.topic}
	// Each partition has a share, instead of a limit for all: where that limit cuts a response
	// short, the embedded broker does not list the aborted transactions.
	share := max(1, l.maxBytes/len(partitions))
	for _, p := range partitions {
		topic.Partitions = append(topic.Partitions, fetch.RequestPartition{
			Partition: int32(p), CurrentLeaderEpoch: -1, FetchOffset: next[p], LogStartOffset: -1,
			PartitionMaxBytes: int32(share),
		})
	}
	limit, began := time.Duration(l.timeout.Load()), time.Now()
	response, err := kafka.DoWithin[*kafka.FetchResponse](ctx, l.client,
		&kafka.FetchRequest{TopicID: l.fetchID(), Request: fetch.Request{
			ReplicaID: -1, MaxWaitTime: int32(fetchWait.Milliseconds()), MinBytes: 1,
			MaxBytes:       math.MaxInt32,
			IsolationLevel: readCommitted, SessionEpoch: -1, Topics: []fetch.RequestTopic{topic},
		}}, limit)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		l.timeout.Store(int64(min(2*limit, slowFetchTimeout)))
	case err == nil && time.Since(began) < fetchTimeout/2:
		l.timeout.Store(int64(fetchTimeout))
	}
	if err != nil {
		return nil, err
	}
	if err := kafka.Code(response.ErrorCode); err != nil {
		return nil, fmt.Errorf("reading %s: %w", l.topic, err)
	}
	var fetched []kmsg.FetchResponseTopicPartition
	for _, t := range response.Topics {
		for _, p := range t.Partitions {
			if err := l.check(&p, next[int(p.Partition)]); err != nil {
				return nil, err
			}
			fetched = append(fetched, p)
		}
	}
	return fetched, nil
}

// anew returns what to do where the topic is gone or another one.
func (l *Log) anew() string { return cmp.Or(l.Anew, l.Remedy) }

// fetchID returns the id by which to fetch, empty for by name.
func (l *Log) fetchID() string {
	if !l.client.FetchesByID() {
		return ""
	}
	return l.TopicID
}

func (l *Log) check(p *kmsg.FetchResponseTopicPartition, next int64) error {
	switch err := kafka.Code(p.ErrorCode); {
	case errors.Is(err, kafkago.OffsetOutOfRange):
		holds := fmt.Sprintf("holds offsets %d to %d", p.LogStartOffset, p.HighWatermark)
		if p.HighWatermark < 0 { // Apache Kafka says neither then
			holds = "holds others"
		}
		remedy := l.Remedy
		if l.Reset != nil {
			remedy = fmt.Sprintf("if the topic was deleted and created again, %s. Else go on with the "+
				"first record that is there: stop all instances, and run (%s)", l.anew(),
				l.Reset(int(p.Partition)))
		}
		return fmt.Errorf("%w: %s/%d %s, and %d is wanted: records were deleted before they were read, "+
			"or the offset was set beyond the end, or the topic was deleted and created again. Nothing was "+
			"skipped. What to do: %s", ErrOffsetOutOfRange, l.topic, p.Partition, holds, next, remedy)
	case err != nil:
		return fmt.Errorf("reading %s/%d at offset %d: %w", l.topic, p.Partition, next, err)
	}
	return nil
}
