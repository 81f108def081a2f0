package audit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// A batchReader reads the input by record batches. A client gives records, and of a batch that some producer
// filled with anything it gives none, or jumps over others, or asks for it again and again.
type batchReader struct {
	*audit
	client     *kgo.Client
	topic      string
	decompress kgo.Decompressor
	again      []byte // what a record is when it is written again
	// take is given the records of a committed batch, as far as they can be read.
	take func([]*kgo.Record) error
	// rest is given the offsets of the records of a batch that cannot be read here, for one reason or another:
	// it is not for the audit to say that nobody can. Of a batch with fewer records than offsets, there may be
	// none at some of them.
	rest func(partition int32, first, last int64, gaps bool) error
}

// readBatches reads a span of a topic.
func (a *audit) readBatches(ctx context.Context, s span, take func([]*kgo.Record) error, rest func(partition int32, first, last int64, gaps bool) error) error {
	// From version 13 on, requests name topics by their ids.
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.Fetch), 12)
	client, err := kgo.NewClient(append(slices.Clone(a.connection), kgo.MaxVersions(versions))...)
	if err != nil {
		return err
	}
	defer client.Close()
	r := &batchReader{audit: a, client: client, topic: s.topic, decompress: kgo.DefaultDecompressor(), take: take, rest: rest}
	for _, p := range slices.Sorted(maps.Keys(s.to)) {
		if err := r.partition(ctx, p, s.from[p], s.to[p]); err != nil {
			return fmt.Errorf("reading %s/%d: %w", s.topic, p, err)
		}
	}
	return nil
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
func (r *batchReader) fetch(ctx context.Context, p int32, from int64) (*kmsg.FetchResponseTopicPartition, error) {
	topics, err := r.admin.ListTopics(ctx, r.topic)
	if err != nil {
		return nil, err
	}
	leader := topics[r.topic].Partitions[p]
	if err := cmp.Or(topics[r.topic].Err, leader.Err); err != nil {
		return nil, err
	}
	request := kmsg.NewPtrFetchRequest()
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes, request.IsolationLevel, request.SessionEpoch = 500, 1, math.MaxInt32, 1, -1
	topic, partition := kmsg.NewFetchRequestTopic(), kmsg.NewFetchRequestTopicPartition()
	partition.Partition, partition.FetchOffset, partition.PartitionMaxBytes = p, from, fetchBytes
	topic.Topic, topic.Partitions = r.topic, append(topic.Partitions, partition)
	request.Topics = append(request.Topics, topic)
	answer, err := r.client.Broker(int(leader.Leader)).RetriableRequest(ctx, request)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = fmt.Errorf("nothing came for %s, though there is something. Nothing is wrong with it that is known; run the audit again", silence)
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

// walk goes through the batches of a fetch, and says up to where it came. A transaction that was aborted
// reaches from its first offset, which the broker lists, to its control batch.
func (r *batchReader) walk(response *kmsg.FetchResponseTopicPartition, from, to int64) (int64, error) {
	listed := slices.SortedFunc(slices.Values(response.AbortedTransactions), func(a, b kmsg.FetchResponseTopicPartitionAbortedTransaction) int {
		return cmp.Compare(a.FirstOffset, b.FirstOffset)
	})
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

// firstBatch takes the first whole record batch off what was fetched; there may be none.
func firstBatch(in []byte) (b *kmsg.RecordBatch, rest []byte, err error) {
	const lengthAt, crcAt, checkedAt, shortest = 8, 17, 21, 61
	if len(in) < shortest {
		return nil, nil, nil
	}
	size := int64(int32(binary.BigEndian.Uint32(in[lengthAt:]))) + lengthAt + 4
	switch {
	case in[crcAt-1] != 2:
		return nil, nil, fmt.Errorf("a record batch of format %d, which is that of a Kafka before 0.11", in[crcAt-1])
	case size > int64(len(in)):
		return nil, nil, nil
	case size < shortest || crc32.Checksum(in[checkedAt:size], crc32.MakeTable(crc32.Castagnoli)) != binary.BigEndian.Uint32(in[crcAt:]):
		return nil, nil, fmt.Errorf("the record batch at offset %d is damaged", int64(binary.BigEndian.Uint64(in)))
	}
	b = new(kmsg.RecordBatch)
	return b, in[size:], b.ReadFrom(in[:size])
}

// batch hands on what is in a committed batch, between from and to.
func (r *batchReader) batch(b *kmsg.RecordBatch, p int32, from, to int64) error {
	records, next := r.records(b, p)
	if cap(r.again) > fetchBytes {
		r.again = nil // of a record that was packed well
	}
	records = slices.DeleteFunc(records, func(k *kgo.Record) bool { return k.Offset < from || k.Offset >= to })
	if len(records) > 0 {
		if err := r.take(records); err != nil {
			return err
		}
	}
	last := b.FirstOffset + int64(max(0, b.LastOffsetDelta))
	if first := max(next, from); first <= min(last, to-1) {
		return r.rest(p, first, min(last, to-1), b.NumRecords <= b.LastOffsetDelta)
	}
	return nil
}

// records are those of a batch that are written as a producer in its right mind writes them, up to the first
// that is not, and the offset from which on the batch is not read. Offsets ascend, and leave room for those that
// come.
func (r *batchReader) records(b *kmsg.RecordBatch, p int32) (records []*kgo.Record, next int64) {
	next = b.FirstOffset
	in := b.Records
	if codec := kgo.CompressionCodecType(b.Attributes & 7); codec != 0 {
		var err error
		if in, err = r.decompress.Decompress(in, codec); err != nil {
			return nil, next
		}
	}
	last := b.FirstOffset + int64(max(0, b.LastOffsetDelta))
	if b.NumRecords == 0 && len(in) == 0 {
		return nil, last + 1 // compaction took them all
	}
	for left := int64(b.NumRecords) - 1; left >= 0; left-- {
		length, used := kbin.Varint(in)
		size := used + int(length)
		if used <= 0 || length < 0 || size > len(in) {
			break
		}
		var k kmsg.Record
		if k.ReadFrom(in[:size]) != nil {
			break
		}
		if r.again = k.AppendTo(r.again[:0]); !bytes.Equal(r.again, in[:size]) {
			break
		}
		at := b.FirstOffset + int64(k.OffsetDelta)
		if in = in[size:]; at < next || at > last-left || left == 0 && len(in) > 0 {
			break
		}
		records = append(records, record(b, &k, r.topic, p, at))
		next = at + 1
		if left == 0 {
			return records, last + 1
		}
	}
	return records, next
}

// record is what the client would make of it.
func record(b *kmsg.RecordBatch, k *kmsg.Record, topic string, p int32, at int64) *kgo.Record {
	const logAppendTime = 1 << 3
	written := b.FirstTimestamp + k.TimestampDelta64
	if b.Attributes&logAppendTime != 0 {
		written = b.MaxTimestamp
	}
	r := &kgo.Record{
		Topic: topic, Partition: p, Offset: at, Timestamp: time.UnixMilli(written), Key: k.Key, Value: k.Value,
		ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch, LeaderEpoch: b.PartitionLeaderEpoch,
	}
	for _, h := range k.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return r
}
