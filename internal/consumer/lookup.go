package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/fetch"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
)

// A Gone says why a record is not at its place any more; empty: it is.
type Gone string

// Why records are gone.
const (
	ByRetention  Gone = "retention"  // the topic begins behind it, or was made anew
	ByCompaction Gone = "compaction" // the topic has others around it
	Unreadable   Gone = "unreadable" // it is in a record batch that cannot be read
)

// A Place is where a record is in a topic.
type Place struct {
	Partition int
	Offset    int64
}

// A Found is a record, or why there is none.
type Found struct {
	Record kafka.Record
	Gone   Gone
}

const (
	// lookupBytes is about how much one look-up fetches. A larger record batch comes whole.
	lookupBytes = 64 << 10
	// lookups is how many partitions are asked side by side.
	lookups = 4
)

// Lookup returns the records at some places of a topic. It fetches one record batch after the
// other, which other places may be in, too. Values are cut as by [Log.MaxValue]. What passes is
// waited for until ctx ends.
func Lookup(
	ctx context.Context, client *kafka.Client, log *slog.Logger, topic string, places []Place,
	maxValue int,
) (map[Place]Found, error) {
	wanted := make(map[int][]int64)
	for _, p := range places {
		wanted[p.Partition] = append(wanted[p.Partition], p.Offset)
	}
	all := make(map[Place]Found, len(places))
	var mutex sync.Mutex // of all
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookups)
	for partition, offsets := range wanted {
		slices.Sort(offsets)
		group.Go(func() error {
			l := lookup{
				client: client, topic: topic, partition: partition, left: slices.Compact(offsets),
				reader: recordbatch.NewReader(maxValue), found: make(map[Place]Found),
			}
			defer l.reader.Close()
			for len(l.left) > 0 {
				err := kafka.Retry(ctx, log, "reading records of topic "+topic,
					func() error { return l.next(ctx) })
				if err != nil {
					return err
				}
			}
			mutex.Lock()
			defer mutex.Unlock()
			maps.Copy(all, l.found)
			return nil
		})
	}
	return all, group.Wait()
}

// A lookup is that of one partition.
type lookup struct {
	client    *kafka.Client
	topic     string
	partition int
	left      []int64 // the offsets that are not settled, ascending
	reader    *recordbatch.Reader
	found     map[Place]Found
}

// settle says what is at the first of the offsets that are left.
func (l *lookup) settle(f Found) {
	l.found[Place{l.partition, l.left[0]}] = f
	l.left = l.left[1:]
}

// next fetches once, and settles at least one offset.
func (l *lookup) next(ctx context.Context) error {
	response, err := kafka.Do[*kafka.FetchResponse](ctx, l.client,
		&kafka.FetchRequest{Request: fetch.Request{
			ReplicaID: -1, MaxBytes: lookupBytes, SessionEpoch: -1,
			Topics: []fetch.RequestTopic{{
				Topic: l.topic, Partitions: []fetch.RequestPartition{{
					Partition: int32(l.partition), CurrentLeaderEpoch: -1, FetchOffset: l.left[0],
					LogStartOffset: -1, PartitionMaxBytes: lookupBytes,
				}},
			}},
		}})
	if err == nil {
		err = kafka.Code(response.ErrorCode)
	}
	if err != nil {
		return err
	}
	for _, t := range response.Topics {
		for i := range t.Partitions {
			return l.take(&t.Partitions[i])
		}
	}
	return fmt.Errorf("reading %s/%d: %w", l.topic, l.partition, kafkago.UnknownTopicOrPartition)
}

// take settles what a fetched set has.
func (l *lookup) take(p *kmsg.FetchResponseTopicPartition) error {
	switch err := kafka.Code(p.ErrorCode); {
	case errors.Is(err, kafkago.OffsetOutOfRange):
		l.settle(Found{Gone: ByRetention})
		return nil
	case err != nil:
		return fmt.Errorf("reading %s/%d at offset %d: %w", l.topic, l.partition, l.left[0], err)
	case l.left[0] >= p.HighWatermark:
		l.settle(Found{Gone: ByRetention})
		return nil
	}
	before := len(l.left)
	for set := p.RecordBatches; len(l.left) > 0; {
		batch, rest, err := recordbatch.Next(set)
		if err != nil {
			l.settle(Found{Gone: Unreadable})
			return nil
		}
		if batch == nil {
			break
		}
		if err := l.read(batch); err != nil {
			return err
		}
		set = rest
	}
	if len(l.left) == before { // there is nothing at it or behind it
		l.settle(Found{Gone: ByCompaction})
	}
	return nil
}

// errEnough ends the reading of a batch.
var errEnough = errors.New("the rest is not wanted")

// read settles the offsets up to the end of a batch.
func (l *lookup) read(batch *recordbatch.Batch) error {
	if batch.Last() < l.left[0] {
		return nil
	}
	var err error
	if !batch.Control() { // the mark of a transaction is no record
		err = l.reader.Each(batch, l.record(batch.Last()))
	}
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	for len(l.left) > 0 && l.left[0] <= batch.Last() {
		l.settle(Found{Gone: ByCompaction})
	}
	return nil
}

// record returns what settles the offsets up to each record of a batch, which ends at last.
func (l *lookup) record(last int64) func(kafka.Record) error {
	return func(r kafka.Record) error {
		for len(l.left) > 0 && l.left[0] < r.Offset {
			l.settle(Found{Gone: ByCompaction})
		}
		for len(l.left) > 0 && l.left[0] < r.Next() {
			found := Found{Record: r}
			if r.Unreadable != nil {
				found = Found{Gone: Unreadable}
			}
			found.Record.Topic, found.Record.Partition = l.topic, l.partition
			l.settle(found)
		}
		if len(l.left) == 0 || l.left[0] > last {
			return errEnough
		}
		return nil
	}
}
