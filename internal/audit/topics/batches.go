package topics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// A batchReader reads record batches. A client gives records, and of a batch that some producer
// filled with anything it gives none, or jumps over others, or asks for it again and again.
type batchReader struct {
	*Client
	client     *kgo.Client
	admin      *kadm.Client // of that client: who names the leader must know it, too
	topic      string
	decompress kgo.Decompressor
	encoded    []byte // a record as it is written
	handle     BatchHandler
}

// A BatchHandler is called with what committed record batches hold.
type BatchHandler struct {
	// MaxHeaders is how much headers of a record may be, by [wire.HeadersSize]: what comes behind the
	// first that exceed it is left out. Each header takes two bytes at least, and compresses well.
	MaxHeaders int
	// Records is called with records of a batch, as far as they can be read.
	Records func([]*kgo.Record) error
	// Unreadable is called with the offsets of the records of a batch that cannot be read here, for
	// whatever reason: that does not say that nobody can. Of a batch with fewer records than offsets,
	// which has gaps, there may be no record at some of them.
	Unreadable func(partition int32, first, last int64, gaps bool) error
}

// ReadBatches reads the committed records of a span by record batches, one partition after the
// other.
func (c *Client) ReadBatches(ctx context.Context, s Span, handle BatchHandler) error {
	// From version 13 on, requests name topics by their ids.
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.Fetch), 12)
	client, err := kgo.NewClient(append(slices.Clone(c.options), kgo.MaxVersions(versions))...)
	if err != nil {
		return err
	}
	defer client.Close()
	r := &batchReader{
		Client: c, client: client, admin: kadm.NewClient(client), topic: s.Topic,
		decompress: kgo.DefaultDecompressor(), handle: handle,
	}
	for _, p := range slices.Sorted(maps.Keys(s.To)) {
		if err := r.partition(ctx, p, s.From[p], s.To[p]); err != nil {
			return fmt.Errorf("reading %s/%d: %w", s.Topic, p, err)
		}
	}
	return nil
}

// ReadAny reads as [Client.ReadBatches] does, of a topic to which anybody may write: it calls do
// with each record that can be read, and returns how many these are. Of MaxHeaders see
// [BatchHandler].
func (c *Client) ReadAny(
	ctx context.Context, s Span, maxHeaders int, do func(*kgo.Record) error,
) (n int64, err error) {
	err = c.ReadBatches(ctx, s, BatchHandler{
		MaxHeaders: maxHeaders,
		Records: func(records []*kgo.Record) (err error) {
			for i := 0; i < len(records) && err == nil; i++ {
				n++
				err = do(records[i])
			}
			return err
		},
		Unreadable: func(int32, int64, int64, bool) error { return nil },
	})
	return n, err
}

// partition reads the offsets from (first) to (behind the last).
func (r *batchReader) partition(ctx context.Context, p int32, from, to int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel) // until something comes
	defer quiet.Stop()
	for from < to {
		response, err := r.fetch(ctx, p, from)
		if err != nil && !kerr.IsRetriable(err) {
			return err
		}
		next := from
		if err == nil {
			if next, err = r.walk(response, from, to); err != nil {
				return err
			}
		}
		if next > from {
			from = next
			quiet.Reset(silence)
		}
	}
	return nil
}

// fetch asks the partition's leader once.
func (r *batchReader) fetch(
	ctx context.Context, p int32, from int64,
) (*kmsg.FetchResponseTopicPartition, error) {
	topics, err := r.admin.ListTopics(ctx, r.topic)
	if err != nil {
		return nil, err
	}
	leader := topics[r.topic].Partitions[p]
	if err := cmp.Or(topics[r.topic].Err, leader.Err); err != nil {
		return nil, err
	}
	request := kmsg.NewPtrFetchRequest()
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = 500, 1, math.MaxInt32
	request.IsolationLevel, request.SessionEpoch = 1, -1
	topic, partition := kmsg.NewFetchRequestTopic(), kmsg.NewFetchRequestTopicPartition()
	partition.Partition, partition.FetchOffset, partition.PartitionMaxBytes = p, from, fetchBytes
	topic.Topic, topic.Partitions = r.topic, append(topic.Partitions, partition)
	request.Topics = append(request.Topics, topic)
	answer, err := r.client.Broker(int(leader.Leader)).RetriableRequest(ctx, request)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = fmt.Errorf("nothing came for %s, though there is something. "+
				"Nothing is wrong with it that is known; run the audit again", silence)
		}
		return nil, err
	}
	response := answer.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(response.ErrorCode); err != nil {
		return nil, err
	}
	for i := range response.Topics {
		for j := range response.Topics[i].Partitions {
			found := &response.Topics[i].Partitions[j]
			return found, kerr.ErrorForCode(found.ErrorCode)
		}
	}
	return nil, errors.New("the answer to a fetch has no partition")
}

// walk goes through the batches of a fetch, and returns the offset up to which it came. A
// transaction that was aborted reaches from its first offset, which the broker lists, to its
// control batch.
func (r *batchReader) walk(
	response *kmsg.FetchResponseTopicPartition, from, to int64,
) (int64, error) {
	type transaction = kmsg.FetchResponseTopicPartitionAbortedTransaction
	listed := slices.SortedFunc(slices.Values(response.AbortedTransactions),
		func(a, b transaction) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	aborted := make(map[int64]bool) // by producer
	start, seen := from, false
	for in := response.RecordBatches; from < to; seen = true {
		b, rest, err := firstBatch(in)
		if err != nil {
			return from, err
		}
		if b == nil {
			if seen && from == start {
				from++ // what was there has been compacted away
			}
			return from, nil
		}
		in = rest
		for len(listed) > 0 && listed[0].FirstOffset <= b.FirstOffset {
			aborted[listed[0].ProducerID] = true
			listed = listed[1:]
		}
		const transactional, control = 1 << 4, 1 << 5
		switch {
		case b.Attributes&control != 0:
			delete(aborted, b.ProducerID)
		case b.Attributes&transactional != 0 && aborted[b.ProducerID]:
		default:
			if err := r.batch(b, response.Partition, from, to); err != nil {
				return from, err
			}
		}
		last := b.FirstOffset + int64(max(0, b.LastOffsetDelta))
		r.advance(max(0, min(last+1, to)-max(from, b.FirstOffset)))
		from = max(from, last+1)
	}
	return from, nil
}
