package recordbatch

import (
	"bytes"
	"encoding/binary"
	"sync"
	"time"

	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
)

const (
	// recordOverhead is the most that a record takes beside its key, value and headers, and
	// headerOverhead a header beside its own; both are variable-length numbers in the main.
	recordOverhead = 64
	headerOverhead = 16
	// batchOverhead is the most that a batch takes beside its records: its head, and what
	// compression adds to bytes that do not compress.
	batchOverhead = 1 << 10
)

// RecordSize returns how many bytes a record takes in a batch, at most, before compression.
func RecordSize(r *kafka.Record) int {
	size := recordOverhead + len(r.Key) + len(r.Value)
	for i := range r.Headers {
		size += headerOverhead + len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return size
}

// Size returns how many bytes a record takes as a batch of its own, at most.
func Size(r *kafka.Record) int {
	size := batchOverhead + RecordSize(r)
	return size + size/256
}

// Room returns how many bytes of records, by [RecordSize], fit into a batch of at most limit bytes.
func Room(limit int) int { return limit - limit/128 - batchOverhead }

// A Writer encodes batches of idempotent producers, compressed by one codec. It is safe for
// concurrent use.
//
// kafka-go's own encoder leaves producer id, epoch and sequence out, and takes a reader of each key
// and value.
type Writer struct {
	codec   compress.Compression
	scratch sync.Pool // of *bytes.Buffer: a batch's records before and after they are compressed
}

// NewWriter returns a writer that compresses by the codec of a name: none, gzip, snappy, lz4 or
// zstd.
func NewWriter(codec string) (*Writer, error) {
	w := &Writer{}
	if err := w.codec.UnmarshalText([]byte(codec)); err != nil {
		return nil, err
	}
	return w, nil
}

// An Origin says who writes a batch, by which a broker knows it again.
type Origin struct {
	ProducerID int64
	Epoch      int16
	Sequence   int32 // of the batch's first record
	// Alone says that the batch is in no transaction.
	Alone bool
}

// Encode returns a batch of the records, of which there is at least one. Records without a time get
// the time now. [Stamp] has to follow, since nobody takes a batch without it.
func (w *Writer) Encode(records []*kafka.Record, now time.Time) ([]byte, error) {
	raw, ok := w.scratch.Get().(*bytes.Buffer)
	if !ok {
		raw = new(bytes.Buffer)
	}
	defer w.scratch.Put(raw)
	raw.Reset()
	first := timestamp(records[0], now)
	last := first
	for i, r := range records {
		at := timestamp(r, now)
		last = max(last, at)
		raw.Grow(RecordSize(r))
		raw.Write(appendRecord(raw.AvailableBuffer(), r, at-first, int64(i)))
	}

	packed, ok := w.scratch.Get().(*bytes.Buffer)
	if !ok {
		packed = new(bytes.Buffer)
	}
	defer w.scratch.Put(packed)
	packed.Reset()
	packed.Write(make([]byte, recordsAt))
	if err := compressTo(packed, w.codec, raw.Bytes()); err != nil {
		return nil, err
	}
	data := bytes.Clone(packed.Bytes())
	head := kmsg.RecordBatch{
		FirstOffset: 0, // the broker's to say
		Length:      int32(len(data) - lengthAt - 4), PartitionLeaderEpoch: -1, Magic: 2,
		Attributes:      int16(w.codec),
		LastOffsetDelta: int32(len(records) - 1), FirstTimestamp: first, MaxTimestamp: last,
		NumRecords: int32(len(records)),
	}
	head.AppendTo(data[:0])
	return data, nil
}

// Stamp writes into an encoded batch who writes it. What was stamped may be stamped again.
func Stamp(batch []byte, from Origin) {
	attributes := binary.BigEndian.Uint16(batch[attributesAt:]) | uint16(protocol.Transactional)
	if from.Alone {
		attributes &^= uint16(protocol.Transactional)
	}
	binary.BigEndian.PutUint16(batch[attributesAt:], attributes)
	binary.BigEndian.PutUint64(batch[producerIDAt:], uint64(from.ProducerID))
	binary.BigEndian.PutUint16(batch[epochAt:], uint16(from.Epoch))
	binary.BigEndian.PutUint32(batch[sequenceAt:], uint32(from.Sequence))
	binary.BigEndian.PutUint32(batch[crcAt:], checksum(batch))
}

func timestamp(r *kafka.Record, now time.Time) int64 {
	if r.Time.IsZero() {
		return now.UnixMilli()
	}
	return r.Time.UnixMilli()
}

// appendRecord appends a record, whose time and offset are counted from the batch's first.
func appendRecord(b []byte, r *kafka.Record, time, offset int64) []byte {
	size := 1 + varintSize(time) + varintSize(offset) + bytesSize(r.Key) + bytesSize(r.Value) +
		varintSize(int64(len(r.Headers)))
	for i := range r.Headers {
		h := &r.Headers[i]
		size += varintSize(int64(len(h.Key))) + len(h.Key) + bytesSize(h.Value)
	}
	b = binary.AppendVarint(b, int64(size))
	b = append(b, 0) // attributes, of which there are none
	b = binary.AppendVarint(b, time)
	b = binary.AppendVarint(b, offset)
	b = appendBytes(b, r.Key)
	b = appendBytes(b, r.Value)
	b = binary.AppendVarint(b, int64(len(r.Headers)))
	for i := range r.Headers {
		h := &r.Headers[i]
		b = append(binary.AppendVarint(b, int64(len(h.Key))), h.Key...)
		b = appendBytes(b, h.Value)
	}
	return b
}

// appendBytes appends a length and so many bytes; nil has the length -1.
func appendBytes(b, data []byte) []byte {
	if data == nil {
		return binary.AppendVarint(b, -1)
	}
	return append(binary.AppendVarint(b, int64(len(data))), data...)
}

func bytesSize(data []byte) int {
	if data == nil {
		return varintSize(-1)
	}
	return varintSize(int64(len(data))) + len(data)
}

// varintSize returns how many bytes binary.AppendVarint takes for n.
func varintSize(n int64) int {
	u, size := uint64(n<<1^n>>63), 1
	for ; u >= 0x80; u >>= 7 {
		size++
	}
	return size
}
