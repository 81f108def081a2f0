package consumer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
)

// The places in an encoded record batch. https://kafka.apache.org/documentation/#recordbatch
const (
	lengthAt     = 8  // of what comes after the length
	magicAt      = 16 // the version of the format, in older ones too
	crcAt        = 17
	attributesAt = 21 // the checksum covers everything from here
	recordsAt    = 61
)

// logAppendTime is the attribute of a batch whose records have the broker's time.
const logAppendTime protocol.Attributes = 1 << 3

// ErrUnreadable is the error of a record batch that is damaged or in a format that is not known.
var ErrUnreadable = errors.New("the record batch cannot be read")

// nextBatch takes the first record batch off a fetched set. The batch is nil where there is no
// whole one left: the limit of a fetch cuts the last one off anywhere.
func nextBatch(set []byte) (batch *kmsg.RecordBatch, rest []byte, err error) {
	if len(set) <= magicAt {
		return nil, nil, nil
	}
	if magic := set[magicAt]; magic != 2 {
		return nil, nil, fmt.Errorf("%w: it has format %d, and only 2, that of Kafka 0.11 and later, is known", ErrUnreadable, magic)
	}
	size := lengthAt + 4 + int(int32(binary.BigEndian.Uint32(set[lengthAt:])))
	switch {
	case size < recordsAt:
		return nil, nil, fmt.Errorf("%w: it has %d bytes", ErrUnreadable, size)
	case size > len(set):
		return nil, nil, nil
	case crc32.Checksum(set[attributesAt:size], crc32.MakeTable(crc32.Castagnoli)) != binary.BigEndian.Uint32(set[crcAt:]):
		return nil, nil, fmt.Errorf("%w: its checksum is wrong", ErrUnreadable)
	}
	batch = new(kmsg.RecordBatch)
	if err := batch.ReadFrom(set[:size]); err != nil {
		return nil, nil, fmt.Errorf("%w: %v", ErrUnreadable, err)
	}
	if batch.LastOffsetDelta < 0 || batch.NumRecords < 0 || batch.NumRecords-1 > batch.LastOffsetDelta {
		return nil, nil, fmt.Errorf("%w: it claims %d records up to %d after its first", ErrUnreadable, batch.NumRecords, batch.LastOffsetDelta)
	}
	return batch, set[size:], nil
}

// attributes are kafka-go's name for what a batch is.
func attributes(b *kmsg.RecordBatch) protocol.Attributes { return protocol.Attributes(b.Attributes) }

// unpacker reads the records of batches one by one from a stream, so that nobody holds all that a
// batch becomes when it is decompressed. It is not safe for concurrent use.
type unpacker struct {
	limit  int // of a record's key, of its value, and of its headers in all
	codecs decompressor
	in     *bufio.Reader
	err    error // the first that came
}

func newUnpacker(limit int) *unpacker {
	return &unpacker{limit: limit, in: bufio.NewReaderSize(nil, 64<<10)}
}

func (u *unpacker) close() { u.codecs.close() }

// each calls do with the records of a batch, until it returns an error.
func (u *unpacker) each(b *kmsg.RecordBatch, do func(kafka.Record) error) error {
	stream, err := u.codecs.open(attributes(b).Compression(), b.Records)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrUnreadable, err)
	}
	defer stream.Close()
	u.in.Reset(stream)
	u.err = nil
	for range b.NumRecords {
		r := u.record(b)
		if u.err != nil {
			// Not with %w: an early end is for once not an interrupted connection.
			return fmt.Errorf("%w: %v", ErrUnreadable, u.err)
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) record(b *kmsg.RecordBatch) kafka.Record {
	u.varint()                // its length: its parts say theirs
	_, err := u.in.ReadByte() // its attributes, of which there are none
	u.fail(err)
	at, delta := b.FirstTimestamp+u.varint(), u.varint()
	if attributes(b)&logAppendTime != 0 {
		at = b.MaxTimestamp
	}
	if delta < 0 || delta > int64(b.LastOffsetDelta) {
		u.fail(fmt.Errorf("a record is %d after the first of at most %d", delta, b.LastOffsetDelta))
	}
	r := kafka.Record{Offset: b.FirstOffset + delta, Time: time.UnixMilli(at)}
	r.Key, _ = u.bytes()
	r.Value, r.Cut = u.bytes()
	r.Headers = u.headers()
	return r
}

// headers leaves out those beyond the limit.
func (u *unpacker) headers() []kafka.Header {
	var headers []kafka.Header
	size := 0
	for n := u.varint(); n > 0 && u.err == nil; n-- {
		key, _ := u.bytes()
		value, _ := u.bytes()
		if size += headerOverhead + len(key) + len(value); size <= u.limit {
			headers = append(headers, kafka.Header{Key: string(key), Value: value})
		}
	}
	return headers
}

// bytes reads a length and so many bytes: nil for a length below zero. Of more than the limit it
// keeps one byte too many, so that whoever has the same limit sees that it was exceeded, and says how
// many it has left out.
func (u *unpacker) bytes() (kept []byte, cut int) {
	n := u.varint()
	if n < 0 || u.err != nil {
		return nil, 0
	}
	if n > math.MaxInt32 {
		u.fail(fmt.Errorf("a part of a record claims %d bytes", n))
		return nil, 0
	}
	if cut = int(n) - u.limit - 1; cut < 0 {
		cut = 0
	}
	kept = make([]byte, int(n)-cut)
	_, err := io.ReadFull(u.in, kept)
	u.fail(err)
	_, err = u.in.Discard(cut)
	u.fail(err)
	return kept, cut
}

func (u *unpacker) varint() int64 {
	if u.err != nil {
		return 0
	}
	n, err := binary.ReadVarint(u.in)
	u.fail(err)
	return n
}

func (u *unpacker) fail(err error) {
	if u.err == nil {
		u.err = err
	}
}
