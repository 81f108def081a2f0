// Package consumer takes records from Kafka: who in the group owns which partitions, from which
// offsets, and the committed records themselves, in order. Partitions go in, chunks of records
// come out. It knows nothing of what is in them.
//
// kafka-go's Reader is not used: it returns records of aborted transactions, and skips or
// rewinds where clusterd must stop.
package consumer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"slices"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/kafka"
)

const (
	// fetchWait is how long a broker may hold a fetch back while it has nothing new.
	fetchWait = 500 * time.Millisecond
	// fetchTimeout leaves a broker time to read a fetch's data from disk and to send it.
	fetchTimeout = fetchWait + 30*time.Second
	// missingLimit is how long a topic may be unknown, as while a broker starts, before it
	// counts as deleted.
	missingLimit = 30 * time.Second
	// readCommitted is the isolation level that stops at the last stable offset.
	readCommitted = 1
)

// ErrOffsetOutOfRange is the error of a position that the partition does not hold: its records
// were deleted before they were read, or the topic was made anew.
var ErrOffsetOutOfRange = errors.New("offset out of range")

// Chunk is a run of committed records of one partition, and the offset to go on from. Records
// may be empty: control records and aborted ones move a position too.
type Chunk struct {
	Partition int
	Records   []kafka.Record
	Next      int64
}

// Log reads the committed records of some partitions of one topic. It is not safe for
// concurrent use.
type Log struct {
	client   *kafka.Client
	topic    string
	next     map[int]int64
	maxBytes int
	trouble  *kafka.Trouble
}

// NewLog makes a reader that begins at the offsets next, by partition. maxBytes bounds what one
// fetch returns; a single larger record batch is still returned whole.
func NewLog(client *kafka.Client, log *slog.Logger, topic string, next map[int]int64, maxBytes int) *Log {
	return &Log{
		client: client, topic: topic, next: maps.Clone(next), maxBytes: maxBytes,
		trouble: kafka.NewTrouble(log, "reading topic "+topic),
	}
}

// Read sends chunks to out until ctx ends or an error comes that waiting does not mend, which it
// returns. Each partition's records come in order; partitions with different leaders are read
// side by side. A slow receiver slows the reading: nothing is buffered but the chunks being sent.
func (l *Log) Read(ctx context.Context, out chan<- Chunk) error {
	var missingSince time.Time
	for {
		err := l.readLeaders(ctx, out)
		missing := errors.Is(err, kafka.ErrNoTopic) || kafka.NoTopic(err)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !missing && !kafka.Transient(err):
			return kafka.Explain(err)
		case !missing:
			missingSince = time.Time{}
		case missingSince.IsZero():
			missingSince = time.Now()
		case time.Since(missingSince) > missingLimit:
			return fmt.Errorf("topic %s does not exist any more: if it was deleted on purpose, start anew with "+
				"another input.group and another output.clusters_topic (%w)", l.topic, err)
		}
		if err := l.trouble.Wait(ctx, err); err != nil {
			return err
		}
	}
}

// readLeaders reads from every leader side by side until one of them fails: then the layout may
// have changed, and the caller asks for it again.
func (l *Log) readLeaders(ctx context.Context, out chan<- Chunk) error {
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
	group, ctx := errgroup.WithContext(ctx)
	results := make(chan Chunk)
	for _, partitions := range byLeader {
		next := make(map[int]int64, len(partitions))
		for _, p := range partitions {
			next[p] = l.next[p]
		}
		group.Go(func() error { return l.readLeader(ctx, partitions, next, results) })
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

func (l *Log) readLeader(ctx context.Context, partitions []int, next map[int]int64, results chan<- Chunk) error {
	for {
		chunks, err := l.fetch(ctx, partitions, next)
		if err != nil {
			return err
		}
		l.trouble.Over()
		for _, chunk := range chunks {
			select {
			case results <- chunk:
				next[chunk.Partition] = chunk.Next
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		// Only for the first partition with data does a broker send a record batch that is larger
		// than its share: begin with another one each time, so that none starves.
		partitions = append(partitions[1:], partitions[0])
	}
}

// fetch asks one leader once, for all of its partitions.
func (l *Log) fetch(ctx context.Context, partitions []int, next map[int]int64) ([]Chunk, error) {
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
	response, err := kafka.DoWithin[*fetch.Response](ctx, l.client, &fetch.Request{
		ReplicaID: -1, MaxWaitTime: int32(fetchWait.Milliseconds()), MinBytes: 1, MaxBytes: math.MaxInt32,
		IsolationLevel: readCommitted, SessionEpoch: -1, Topics: []fetch.RequestTopic{topic},
	}, fetchTimeout)
	if err != nil {
		return nil, err
	}
	if err := kafka.Code(response.ErrorCode); err != nil {
		return nil, fmt.Errorf("reading %s: %w", l.topic, err)
	}
	var chunks []Chunk
	for _, t := range response.Topics {
		for i := range t.Partitions {
			chunk, err := l.chunk(&t.Partitions[i], next[int(t.Partitions[i].Partition)])
			if err != nil {
				return nil, err
			}
			if chunk.Next > next[chunk.Partition] {
				chunks = append(chunks, chunk)
			}
		}
	}
	return chunks, nil
}

func (l *Log) chunk(p *fetch.ResponsePartition, next int64) (Chunk, error) {
	partition := int(p.Partition)
	switch err := kafka.Code(p.ErrorCode); {
	case errors.Is(err, kafkago.OffsetOutOfRange):
		return Chunk{}, fmt.Errorf("%w: %s/%d holds offsets %d to %d, and %d is wanted: records were deleted before they were read, or the "+
			"topic was made anew. Nothing was skipped. To go on, set the offset of the group by hand "+
			"(kafka-consumer-groups --reset-offsets), or start anew with another input.group and another output.clusters_topic",
			ErrOffsetOutOfRange, l.topic, partition, p.LogStartOffset, p.HighWatermark, next)
	case err != nil:
		return Chunk{}, fmt.Errorf("reading %s/%d at offset %d: %w", l.topic, partition, next, err)
	}
	chunk, err := committed(l.topic, partition, next, p.RecordSet.Records, p.AbortedTransactions)
	if err != nil {
		return Chunk{}, fmt.Errorf("reading %s/%d at offset %d: %w", l.topic, partition, next, err)
	}
	return chunk, nil
}

// committed takes the records from offset next on out of a fetched set, without those of aborted
// transactions: a transaction's records lie between its first offset, which the broker lists,
// and its control record.
func committed(topic string, partition int, next int64, set protocol.RecordReader, transactions []fetch.ResponseTransaction) (Chunk, error) {
	chunk := Chunk{Partition: partition, Next: next}
	if set == nil {
		return chunk, nil
	}
	batches := []protocol.RecordReader{set}
	if stream, ok := set.(*protocol.RecordStream); ok {
		batches = stream.Records
	}
	transactions = slices.SortedFunc(slices.Values(transactions), func(a, b fetch.ResponseTransaction) int {
		return int(max(-1, min(1, a.FirstOffset-b.FirstOffset)))
	})
	aborted := make(map[int64]bool) // by producer id: its records are being dropped
	for _, batch := range batches {
		// Before a control record too: where a fetch begins at it, it ends a transaction that the
		// broker lists though nothing of it is in the set.
		if b, ok := batch.(interface{ Offset() int64 }); ok {
			for len(transactions) > 0 && transactions[0].FirstOffset <= b.Offset() {
				aborted[transactions[0].ProducerID] = true
				transactions = transactions[1:]
			}
		}
		drop := false
		switch b := batch.(type) {
		case *protocol.ControlBatch:
			delete(aborted, b.ProducerID)
			drop = true
		case *protocol.RecordBatch:
			drop = b.Attributes.Transactional() && aborted[b.ProducerID]
		}
		if err := chunk.take(topic, batch, drop); err != nil {
			return Chunk{}, err
		}
	}
	if chunk.Next == next && len(batches) > 0 {
		// Everything at and after next in these batches was compacted away.
		chunk.Next++
	}
	return chunk, nil
}

// take moves over the records of a batch, and keeps those at and after the position unless they
// are to be dropped.
func (c *Chunk) take(topic string, batch protocol.RecordReader, drop bool) error {
	for {
		r, err := batch.ReadRecord()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		key, err := readAll(r.Key)
		if err != nil {
			return err
		}
		value, err := readAll(r.Value)
		if err != nil {
			return err
		}
		if r.Offset < c.Next {
			continue
		}
		c.Next = r.Offset + 1
		if !drop {
			c.Records = append(c.Records, kafka.Record{
				Topic: topic, Partition: c.Partition, Offset: r.Offset, Time: r.Time, Key: key, Value: value, Headers: r.Headers,
			})
		}
	}
}

// readAll copies b out of kafka-go's pages and gives them back. A nil b stays nil, an empty one
// empty: they mean different things.
func readAll(b protocol.Bytes) ([]byte, error) {
	if b == nil {
		return nil, nil
	}
	defer b.Close()
	data := make([]byte, b.Len())
	_, err := io.ReadFull(b, data)
	return data, err
}
