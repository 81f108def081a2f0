package consumer

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
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

// ErrUnreadable is the error of a record batch that is damaged or in a format that is not known. One that a
// producer made so, with a right checksum around wrong contents, is no error: see [kafka.Unreadable].
var ErrUnreadable = errors.New("the record batch cannot be read")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batch is a record batch whose checksum is right, which says nothing of its contents: a broker takes from
// any producer what has as many records as offsets.
type batch struct {
	kmsg.RecordBatch
	raw []byte // all of it
}

// nextBatch takes the first record batch off a fetched set. The batch is nil where there is no
// whole one left: the limit of a fetch cuts the last one off anywhere.
func nextBatch(set []byte) (b *batch, rest []byte, err error) {
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
	case crc32.Checksum(set[attributesAt:size], castagnoli) != binary.BigEndian.Uint32(set[crcAt:]):
		return nil, nil, fmt.Errorf("%w: its checksum is wrong", ErrUnreadable)
	}
	b = &batch{raw: set[:size]}
	if err := b.ReadFrom(set[:size]); err != nil {
		return nil, nil, fmt.Errorf("%w: %v", ErrUnreadable, err)
	}
	// The broker sets it, and the checksum does not cover it.
	if b.FirstOffset < 0 || b.FirstOffset > math.MaxInt64-math.MaxInt32-1 {
		return nil, nil, fmt.Errorf("%w: it begins at offset %d", ErrUnreadable, b.FirstOffset)
	}
	return b, set[size:], nil
}

// last is the last offset of the batch, of which it has at least one.
func (b *batch) last() int64 { return b.FirstOffset + int64(max(0, b.LastOffsetDelta)) }

func (b *batch) attributes() protocol.Attributes { return protocol.Attributes(b.Attributes) }

// unpacker reads the records of batches one by one from a stream, so that nobody holds all that a
// batch becomes when it is decompressed. It is not safe for concurrent use.
type unpacker struct {
	limit  int // of a record's key, of its value, and of its headers in all
	codecs decompressor
	in     *bufio.Reader
	left   int   // bytes of the record that is being read
	err    error // the first that came, of the batch
}

func newUnpacker(limit int) *unpacker {
	return &unpacker{limit: limit, in: bufio.NewReaderSize(nil, 64<<10)}
}

func (u *unpacker) close() { u.codecs.close() }

// each calls do with the records of a batch, until it returns an error. From the first one on that cannot be
// read, the rest of the batch is one unreadable record. What it is depends on the batch alone.
//
// Offsets must ascend, and leave each record that is to come one of its own. So there is always an offset
// left for the rest, and if the batch has as many records as offsets, each record has the one that it should.
func (u *unpacker) each(b *batch, do func(kafka.Record) error) error {
	next, n := b.FirstOffset, int64(b.NumRecords)
	stream, err := u.codecs.open(b.attributes().Compression(), b.Records)
	if err == nil {
		defer stream.Close()
		u.in.Reset(stream)
	}
	u.err = err
	if n < 0 || n == 0 && len(b.Records) > 0 { // compaction leaves batches that have neither
		u.fail(fmt.Errorf("the batch claims %d records, and has %d bytes of them", n, len(b.Records)))
	}
	for i := int64(0); i < n && u.err == nil; i++ {
		r := u.record(b)
		if highest := b.last() - (n - 1 - i); u.err == nil && (r.Offset < next || r.Offset > highest) {
			u.fail(fmt.Errorf("it has offset %d, where %d to %d would do", r.Offset, next, highest))
		}
		if i == n-1 {
			u.end()
		}
		if u.err != nil {
			u.err = fmt.Errorf("record %d of %d: %w", i+1, n, u.err)
			break
		}
		if err := do(r); err != nil {
			return err
		}
		next = r.Offset + 1
	}
	if u.err == nil {
		return nil
	}
	return do(u.rest(b, next))
}

// rest is a batch of which the records from an offset on cannot be read.
func (u *unpacker) rest(b *batch, from int64) kafka.Record {
	raw := b.raw[:min(len(b.raw), u.limit+1)]
	return kafka.Record{
		Offset: from, Time: time.UnixMilli(b.FirstTimestamp), Value: bytes.Clone(raw), Cut: len(b.raw) - len(raw),
		Unreadable: &kafka.Unreadable{Last: b.last(), Reason: u.err.Error()},
	}
}

// What is wrong with a record.
var (
	errShort = errors.New("the data end within it")
	errParts = errors.New("its length does not agree with that of its parts")
	errLong  = errors.New("a number in it is too long")
)

func (u *unpacker) record(b *batch) kafka.Record {
	u.left = binary.MaxVarintLen32
	length := u.varint(32)
	if length < 0 {
		u.fail(errParts)
	}
	u.left = int(length)
	u.byte() // its attributes, of which there are none
	at := b.FirstTimestamp + u.varint(64)
	if b.attributes()&logAppendTime != 0 {
		at = b.MaxTimestamp
	}
	r := kafka.Record{Offset: b.FirstOffset + u.varint(32), Time: time.UnixMilli(at)}
	r.Key, _ = u.bytes()
	r.Value, r.Cut = u.bytes()
	r.Headers = u.headers()
	if u.left != 0 {
		u.fail(errParts)
	}
	return r
}

// end makes sure that no bytes come after the last record. That the compressed data do not end as they should
// is no matter any more.
func (u *unpacker) end() {
	if _, err := u.in.ReadByte(); err == nil {
		u.fail(errors.New("it is the last, and more bytes come after it"))
	}
}

// headers leaves out those beyond the limit.
func (u *unpacker) headers() []kafka.Header {
	n := u.varint(32)
	if n < 0 || 2*n > int64(u.left) { // each has two lengths
		u.fail(fmt.Errorf("it claims %d headers", n))
	}
	var headers []kafka.Header
	for size := 0; n > 0 && u.err == nil; n-- {
		key, _ := u.bytes()
		if key == nil {
			u.fail(errors.New("a header has no key"))
		}
		value, _ := u.bytes()
		h := kafka.Header{Key: string(key), Value: value}
		if size += kafka.HeaderMemory(&h); size <= u.limit {
			headers = append(headers, h)
		}
	}
	return headers
}

// bytes reads a length and so many bytes: nil for a length below zero. Of more than the limit it
// keeps one byte too many, so that whoever has the same limit sees that it was exceeded, and says how
// many it has left out.
func (u *unpacker) bytes() (kept []byte, cut int) {
	n := int(u.varint(32))
	if n > u.left {
		u.fail(errParts)
	}
	if n < 0 || u.err != nil {
		return nil, 0
	}
	u.left -= n
	cut = max(0, n-u.limit-1)
	kept = u.read(n - cut)
	u.failShort(u.discard(cut))
	return kept, cut
}

// believed is how many bytes a record may claim and be given at once, before they are there.
const believed = 1 << 20

func (u *unpacker) read(n int) []byte {
	kept := make([]byte, min(n, believed))
	_, err := io.ReadFull(u.in, kept)
	for err == nil && len(kept) < n {
		more := min(n-len(kept), len(kept))
		kept = slices.Grow(kept, more)[:len(kept)+more]
		_, err = io.ReadFull(u.in, kept[len(kept)-more:])
	}
	u.failShort(err)
	return kept
}

func (u *unpacker) discard(n int) error {
	_, err := u.in.Discard(n)
	return err
}

// varint reads a number of so many bits. It may be written longer than it need be, but not longer than such a
// number can be.
func (u *unpacker) varint(bits int) int64 {
	var n uint64
	for shift := 0; ; shift += 7 {
		c := u.byte()
		if u.err != nil {
			return 0
		}
		if bits-shift < 8 && c>>(bits-shift) != 0 {
			u.fail(errLong)
			return 0
		}
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int64(n>>1) ^ -int64(n&1)
		}
	}
}

func (u *unpacker) byte() byte {
	if u.left == 0 {
		u.fail(errParts)
	}
	if u.err != nil {
		return 0
	}
	u.left--
	c, err := u.in.ReadByte()
	u.failShort(err)
	return c
}

func (u *unpacker) failShort(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errShort
	}
	u.fail(err)
}

func (u *unpacker) fail(err error) {
	if u.err == nil {
		u.err = err
	}
}
