package recordbatch

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
)

// A Reader reads the records of batches one by one from a stream, so that nobody holds all that a
// batch becomes when it is decompressed. It is not safe for concurrent use.
type Reader struct {
	limit  int // of a record's key, of its value, and of its headers in all
	codecs decompressor
	in     *bufio.Reader
	left   int               // bytes of the record that is being read
	whole  []byte            // these, where they are in memory of the record's own; else nil
	names  map[string]string // of headers: most records have the same ones
	err    error             // the first that came, of the batch
}

// maxNames is how many names of headers a reader remembers.
const maxNames = 32

// NewReader returns a reader that cuts a record's key, its value, and its headers in all, to about
// limit bytes: see [kafka.Record]. Close it when done.
func NewReader(limit int) *Reader {
	return &Reader{
		limit: limit, in: bufio.NewReaderSize(nil, 64<<10), names: make(map[string]string),
	}
}

// Close frees what the reader holds.
func (r *Reader) Close() { r.codecs.close() }

// Each calls do with the records of a batch, until it returns an error. From the first one on that
// cannot be read, the rest of the batch is one unreadable record. What it is depends on the batch
// alone.
//
// Offsets must ascend, and leave each record that is to come one of its own. So there is always an
// offset left for the rest, and if the batch has as many records as offsets, each record has the
// one that it should.
func (r *Reader) Each(b *Batch, do func(kafka.Record) error) error {
	next, n := b.First(), int64(b.head.NumRecords)
	stream, err := r.codecs.open(b.codec(), b.head.Records)
	if err == nil {
		defer stream.Close()
		r.in.Reset(stream)
	}
	r.err = err
	if size := len(b.head.Records); n < 0 || n == 0 && size > 0 { // compaction leaves 0 of both
		r.fail(fmt.Errorf("the batch claims %d records, and has %d bytes of them", n, size))
	}
	for i := int64(0); i < n && r.err == nil; i++ {
		record := r.record(b)
		highest := b.Last() - (n - 1 - i)
		if at := record.Offset; r.err == nil && (at < next || at > highest) {
			r.fail(fmt.Errorf("it has offset %d, where %d to %d would do", at, next, highest))
		}
		if i == n-1 {
			r.end()
		}
		if r.err != nil {
			r.err = fmt.Errorf("record %d of %d: %w", i+1, n, r.err)
			break
		}
		if err := do(record); err != nil {
			return err
		}
		next = record.Offset + 1
	}
	if r.err == nil {
		return nil
	}
	return do(r.rest(b, next))
}

// rest returns a batch of which the records from an offset on cannot be read.
func (r *Reader) rest(b *Batch, from int64) kafka.Record {
	raw := b.raw[:min(len(b.raw), r.limit+1)]
	return kafka.Record{
		Offset: from, Time: time.UnixMilli(b.head.FirstTimestamp),
		Value: bytes.Clone(raw), Cut: len(b.raw) - len(raw),
		Unreadable: &kafka.Unreadable{Last: b.Last(), Reason: r.err.Error()},
	}
}

// What is wrong with a record.
var (
	errShort = errors.New("the data end within it")
	errParts = errors.New("its length does not agree with that of its parts")
	errLong  = errors.New("a number in it is too long")
)

func (r *Reader) record(b *Batch) kafka.Record {
	r.left, r.whole = binary.MaxVarintLen32, nil
	length := r.varint(32)
	if length < 0 {
		r.fail(errParts)
	}
	r.left = int(length)
	r.take()
	r.byte() // its attributes, of which there are none
	at := b.head.FirstTimestamp + r.varint(64)
	if b.head.Attributes&logAppendTime != 0 {
		at = b.head.MaxTimestamp
	}
	record := kafka.Record{Offset: b.First() + r.varint(32), Time: time.UnixMilli(at)}
	record.Key, _ = r.bytes()
	record.Value, record.Cut = r.bytes()
	record.Headers = r.headers()
	if r.left != 0 {
		r.fail(errParts)
	}
	return record
}

// take takes a record whole into memory where the buffer holds it, so that all its parts are in one
// piece of memory. Else they are read one by one.
func (r *Reader) take() {
	if r.err != nil || r.left > min(r.limit, r.in.Size()) {
		return
	}
	if all, err := r.in.Peek(r.left); err == nil {
		r.whole = append(make([]byte, 0, len(all)), all...)
		_, err = r.in.Discard(len(all))
		r.failShort(err)
	}
}

// end makes sure that no bytes come after the last record. That the compressed data do not end as
// they should is no matter any more.
func (r *Reader) end() {
	if _, err := r.in.ReadByte(); err == nil {
		r.fail(errors.New("it is the last, and more bytes come after it"))
	}
}

// headers reads the headers of a record, up to the first that is beyond the limit. What follows
// is not looked at: a header takes two bytes, and of a batch that compresses well a few kilobytes
// become fifty million of them.
func (r *Reader) headers() []kafka.Header {
	n := r.varint(32)
	if n < 0 || 2*n > int64(r.left) { // each has two lengths
		r.fail(fmt.Errorf("it claims %d headers", n))
	}
	var headers []kafka.Header
	for size := 0; n > 0 && r.err == nil; n-- {
		key, _ := r.bytes()
		if key == nil {
			r.fail(errors.New("a header has no key"))
		}
		value, _ := r.bytes()
		h := kafka.Header{Key: r.name(key), Value: value}
		if size += kafka.HeaderMemory(&h); size > r.limit {
			r.skip()
			break
		}
		headers = append(headers, h)
	}
	return headers
}

// skip passes over the rest of a record.
func (r *Reader) skip() {
	if r.whole == nil {
		r.failShort(r.discard(r.left))
	}
	r.left, r.whole = 0, nil
}

// name returns the name of a header.
func (r *Reader) name(key []byte) string {
	if known, ok := r.names[string(key)]; ok {
		return known
	}
	name := string(key)
	if len(r.names) < maxNames && len(name) <= maxNames {
		r.names[name] = name
	}
	return name
}

// bytes reads a length and so many bytes: nil for a length below zero. Of more than the limit it
// keeps one byte too many, so that whoever has the same limit sees that it was exceeded, and
// returns how many it has left out.
func (r *Reader) bytes() (kept []byte, cut int) {
	n := int(r.varint(32))
	if n > r.left {
		r.fail(errParts)
	}
	if n < 0 || r.err != nil {
		return nil, 0
	}
	r.left -= n
	if r.whole != nil {
		kept, r.whole = r.whole[:n:n], r.whole[n:]
		return kept, 0
	}
	cut = max(0, n-r.limit-1)
	kept = r.read(n - cut)
	r.failShort(r.discard(cut))
	return kept, cut
}

// trustedLength is how many bytes a record may claim and get memory for before they are there.
const trustedLength = 1 << 20

func (r *Reader) read(n int) []byte {
	kept := make([]byte, min(n, trustedLength))
	_, err := io.ReadFull(r.in, kept)
	for err == nil && len(kept) < n {
		more := min(n-len(kept), len(kept))
		kept = slices.Grow(kept, more)[:len(kept)+more]
		_, err = io.ReadFull(r.in, kept[len(kept)-more:])
	}
	r.failShort(err)
	return kept
}

func (r *Reader) discard(n int) error {
	_, err := r.in.Discard(n)
	return err
}

// varint reads a number of so many bits. It may be written longer than it need be, but not longer
// than such a number can be.
func (r *Reader) varint(bits int) int64 {
	if len(r.whole) > 0 && r.whole[0] < 0x80 { // nearly all are one byte
		c := int64(r.whole[0])
		r.whole, r.left = r.whole[1:], r.left-1
		return c>>1 ^ -(c & 1)
	}
	var n uint64
	for shift := 0; ; shift += 7 {
		c := r.byte()
		if r.err != nil {
			return 0
		}
		if bits-shift < 8 && c>>(bits-shift) != 0 {
			r.fail(errLong)
			return 0
		}
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int64(n>>1) ^ -int64(n&1)
		}
	}
}

func (r *Reader) byte() byte {
	if r.left == 0 {
		r.fail(errParts)
	}
	if r.err != nil {
		return 0
	}
	r.left--
	if r.whole != nil {
		c := r.whole[0]
		r.whole = r.whole[1:]
		return c
	}
	c, err := r.in.ReadByte()
	r.failShort(err)
	return c
}

func (r *Reader) failShort(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errShort
	}
	r.fail(err)
}

func (r *Reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}
