package topics

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// firstBatch splits the first whole record batch from what was fetched. There may be none.
func firstBatch(in []byte) (b *kmsg.RecordBatch, rest []byte, err error) {
	const lengthAt, crcAt, checkedAt, shortest = 8, 17, 21, 61
	if len(in) < shortest {
		return nil, nil, nil
	}
	size := int64(int32(binary.BigEndian.Uint32(in[lengthAt:]))) + lengthAt + 4
	switch {
	case in[crcAt-1] != 2:
		return nil, nil, fmt.Errorf(
			"a record batch of format %d, which is that of a Kafka before 0.11", in[crcAt-1])
	case size > int64(len(in)):
		return nil, nil, nil
	case size < shortest || checksum(in[checkedAt:size]) != binary.BigEndian.Uint32(in[crcAt:]):
		return nil, nil, fmt.Errorf(
			"the record batch at offset %d is damaged", int64(binary.BigEndian.Uint64(in)))
	}
	b = new(kmsg.RecordBatch)
	return b, in[size:], b.ReadFrom(in[:size])
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// batch hands on what is in a committed batch, between from and to.
func (r *batchReader) batch(b *kmsg.RecordBatch, p int32, from, to int64) error {
	records, next := r.records(b, p)
	if cap(r.encoded) > fetchBytes {
		r.encoded = nil // of a record that was compressed well
	}
	records = slices.DeleteFunc(records, func(k *kgo.Record) bool {
		return k.Offset < from || k.Offset >= to
	})
	if len(records) > 0 {
		if err := r.handle.Records(records); err != nil {
			return err
		}
	}
	last := b.FirstOffset + int64(max(0, b.LastOffsetDelta))
	if first := max(next, from); first <= min(last, to-1) {
		return r.handle.Unreadable(p, first, min(last, to-1), b.NumRecords <= b.LastOffsetDelta)
	}
	return nil
}

// records returns those of a batch that are written as the protocol has it, up to the first that
// is not, and the offset from which on the batch is not read. Offsets ascend, and leave room for
// those that come.
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
		if r.encoded = k.AppendTo(r.encoded[:0]); !bytes.Equal(r.encoded, in[:size]) {
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

// record returns what the client would make of it.
func record(b *kmsg.RecordBatch, k *kmsg.Record, topic string, p int32, at int64) *kgo.Record {
	const logAppendTime = 1 << 3
	written := b.FirstTimestamp + k.TimestampDelta64
	if b.Attributes&logAppendTime != 0 {
		written = b.MaxTimestamp
	}
	r := &kgo.Record{
		Topic: topic, Partition: p, Offset: at,
		Timestamp: time.UnixMilli(written), Key: k.Key, Value: k.Value,
		ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch, LeaderEpoch: b.PartitionLeaderEpoch,
	}
	for _, h := range k.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return r
}
