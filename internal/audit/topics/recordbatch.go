package topics

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/audit/wire"
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
	var waiting []*kgo.Record
	size := 0 // of their headers
	hand := func() error {
		if len(waiting) == 0 {
			return nil
		}
		err := r.handle.Records(waiting)
		waiting, size = nil, 0
		return err
	}
	next, err := r.records(b, p, func(k *kgo.Record) error {
		if k.Offset < from || k.Offset >= to {
			return nil
		}
		waiting = append(waiting, k)
		if size += wire.HeadersSize(k.Headers); size > fetchBytes {
			return hand()
		}
		return nil
	})
	if cap(r.encoded) > fetchBytes {
		r.encoded = nil // of a record that was compressed well
	}
	if err = cmp.Or(err, hand()); err != nil {
		return err
	}
	last := b.FirstOffset + int64(max(0, b.LastOffsetDelta))
	if first := max(next, from); first <= min(last, to-1) {
		return r.handle.Unreadable(p, first, min(last, to-1), b.NumRecords <= b.LastOffsetDelta)
	}
	return nil
}

// records calls do with the records of a batch that are written as the protocol has it, up to the
// first that is not, and returns the offset from which on the batch is not read. Offsets ascend,
// and leave room for those that come.
func (r *batchReader) records(
	b *kmsg.RecordBatch, p int32, do func(*kgo.Record) error,
) (next int64, err error) {
	next = b.FirstOffset
	in := b.Records
	if codec := kgo.CompressionCodecType(b.Attributes & 7); codec != 0 {
		if in, err = r.decompress.Decompress(in, codec); err != nil {
			return next, nil //nolint:nilerr // it is unreadable, which is told
		}
	}
	last := b.FirstOffset + int64(max(0, b.LastOffsetDelta))
	if b.NumRecords == 0 && len(in) == 0 {
		return last + 1, nil // compaction took them all
	}
	for left := int64(b.NumRecords) - 1; left >= 0; left-- {
		length, used := kbin.Varint(in)
		size := used + int(length)
		if used <= 0 || length < 0 || size > len(in) {
			break
		}
		var k kmsg.Record
		encoded := bounded(in[:size], r.handle.MaxHeaders)
		if k.ReadFrom(encoded) != nil {
			break
		}
		if r.encoded = k.AppendTo(r.encoded[:0]); !bytes.Equal(r.encoded, encoded) {
			break
		}
		at := b.FirstOffset + int64(k.OffsetDelta)
		if in = in[size:]; at < next || at > last-left || left == 0 && len(in) > 0 {
			break
		}
		if err := do(record(b, &k, r.topic, p, at)); err != nil {
			return next, err
		}
		next = at + 1
		if left == 0 {
			return last + 1, nil
		}
	}
	return next, nil
}

// bounded returns a record as it is if its headers do not exceed a size, else one with as many of
// them as just do. It returns nil if it cannot be read so far: a number of headers that are not
// there would get memory.
func bounded(record []byte, most int) []byte {
	in := kbin.Reader{Src: record}
	in.Varint()
	start := len(record) - len(in.Src)
	in.Int8()
	in.Varlong()
	in.Varint()
	in.VarintBytes()
	in.VarintBytes()
	at := len(record) - len(in.Src)
	n := in.Varint()
	first := len(record) - len(in.Src)
	if in.Ok() && wire.HeaderSize(0)*int(n)+len(in.Src) <= most {
		return record
	}
	for size, kept := 0, int32(0); kept < n && in.Ok(); kept++ {
		if size > most {
			body := slices.Concat(record[start:at], kbin.AppendVarint(nil, kept),
				record[first:len(record)-len(in.Src)])
			return append(kbin.AppendVarint(nil, int32(len(body))), body...)
		}
		size += wire.HeaderSize(len(in.VarintBytes()) + len(in.VarintBytes()))
	}
	if !in.Ok() {
		return nil
	}
	return record
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
