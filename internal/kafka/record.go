package kafka

import (
	"bytes"
	"slices"
	"time"
	"unsafe"
)

// A Record is a Kafka record, read or to be written.
type Record struct {
	Topic     string
	Partition int
	Offset    int64     // of a record that was read
	Time      time.Time // of a record to be written: zero for now
	Key       []byte    // nil: none
	Value     []byte    // nil: none (a tombstone)
	Headers   []Header
	// Cut is how many bytes of the value of a record that was read were left out, since it is too
	// large.
	Cut int
	// Unreadable is nil but where this stands for records that cannot be read: from Offset on, and
	// the value is the whole record batch as it came.
	Unreadable *Unreadable
}

// An Unreadable says that the rest of a record batch cannot be read.
type Unreadable struct {
	Last   int64  // the last offset of the batch
	Reason string // for a person
}

// Next returns the offset behind the record.
func (r *Record) Next() int64 {
	if r.Unreadable != nil {
		return r.Unreadable.Last + 1
	}
	return r.Offset + 1
}

// Clone returns a copy of the record that shares no memory with it.
func (r *Record) Clone() Record {
	c := *r
	c.Key, c.Value, c.Headers = bytes.Clone(r.Key), bytes.Clone(r.Value), slices.Clone(r.Headers)
	for i := range c.Headers {
		c.Headers[i].Value = bytes.Clone(c.Headers[i].Value)
	}
	return c
}

// What a record and a header take in memory beside their bytes, about.
const (
	recordOverhead = int(unsafe.Sizeof(Record{})) + 16
	headerOverhead = int(unsafe.Sizeof(Header{})) + 24
)

// Memory returns about how many bytes of memory the record holds.
func (r *Record) Memory() int {
	n := recordOverhead + len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += HeaderMemory(&r.Headers[i])
	}
	if r.Unreadable != nil {
		n += int(unsafe.Sizeof(Unreadable{})) + len(r.Unreadable.Reason)
	}
	return n
}

// HeaderMemory returns about how many bytes of memory a header holds.
func HeaderMemory(h *Header) int { return headerOverhead + len(h.Key) + len(h.Value) }

// A Header is a header of a [Record].
type Header struct {
	Key   string
	Value []byte
}
