// Package recordbatch is the format in which Kafka keeps records, version 2: batches with a
// checksum, compressed or not. Records go in, a batch for a produce request comes out; the batches
// of a fetched set go in, and records come out of them, one by one. It sends nothing.
//
// https://kafka.apache.org/documentation/#recordbatch
package recordbatch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The places in an encoded batch.
const (
	lengthAt     = 8  // of what comes after the length
	magicAt      = 16 // the version of the format, in older ones too
	crcAt        = 17
	attributesAt = 21 // the checksum covers everything from here
	producerIDAt = 43
	epochAt      = 51
	sequenceAt   = 53
	recordsAt    = 61
)

// logAppendTime is the attribute of a batch whose records have the broker's time.
const logAppendTime = 1 << 3

// ErrUnreadable is the error of a batch that is damaged or in a format that is not known. One that
// a producer made so, with a right checksum around wrong contents, is no error: see
// [kafka.Unreadable].
var ErrUnreadable = errors.New("the record batch cannot be read")

func checksum(data []byte) uint32 {
	return crc32.Checksum(data[attributesAt:], crc32.MakeTable(crc32.Castagnoli))
}

// A Batch is a batch whose checksum is right, which says nothing of its contents: a broker takes
// from any producer what has as many records as offsets.
type Batch struct {
	head kmsg.RecordBatch
	raw  []byte // all of it
}

// Next takes the first batch off a fetched set. The batch is nil where there is no whole one left:
// the limit of a fetch cuts the last one off anywhere.
func Next(set []byte) (b *Batch, rest []byte, err error) {
	if len(set) <= magicAt {
		return nil, nil, nil
	}
	if magic := set[magicAt]; magic != 2 {
		return nil, nil, fmt.Errorf("%w: it has format %d, and only 2, that of Kafka 0.11 and later, "+
			"is known", ErrUnreadable, magic)
	}
	size := lengthAt + 4 + int(int32(binary.BigEndian.Uint32(set[lengthAt:])))
	switch {
	case size < recordsAt:
		return nil, nil, fmt.Errorf("%w: it has %d bytes", ErrUnreadable, size)
	case size > len(set):
		return nil, nil, nil
	case checksum(set[:size]) != binary.BigEndian.Uint32(set[crcAt:]):
		return nil, nil, fmt.Errorf("%w: its checksum is wrong", ErrUnreadable)
	}
	b = &Batch{raw: set[:size]}
	if err := b.head.ReadFrom(b.raw); err != nil {
		return nil, nil, fmt.Errorf("%w: %v", ErrUnreadable, err)
	}
	// The broker sets it, and the checksum does not cover it.
	if first := b.First(); first < 0 || first > math.MaxInt64-math.MaxInt32-1 {
		return nil, nil, fmt.Errorf("%w: it begins at offset %d", ErrUnreadable, first)
	}
	return b, set[size:], nil
}

// First returns the first offset of the batch.
func (b *Batch) First() int64 { return b.head.FirstOffset }

// Last returns the last offset of the batch, of which it has at least one.
func (b *Batch) Last() int64 { return b.First() + int64(max(0, b.head.LastOffsetDelta)) }

// Records returns how many records the batch says that it has, from 0 on.
func (b *Batch) Records() int { return max(0, int(b.head.NumRecords)) }

// ProducerID returns the id of the producer that wrote the batch, -1 for none.
func (b *Batch) ProducerID() int64 { return b.head.ProducerID }

// Transactional reports whether the batch belongs to a transaction.
func (b *Batch) Transactional() bool { return b.attributes().Transactional() }

// Control reports whether the batch is the control record that ends a transaction.
func (b *Batch) Control() bool { return b.attributes().Control() }

func (b *Batch) attributes() protocol.Attributes { return protocol.Attributes(b.head.Attributes) }

func (b *Batch) codec() compress.Compression { return b.attributes().Compression() }
