// Package fields writes and reads values as bytes, one behind the other.
package fields

import (
	"encoding/binary"
	"math"
)

// A Reader takes values off the front of Rest, until one is not there: then it has failed, and
// returns zero values.
type Reader struct {
	Rest   []byte
	Failed bool
}

// Fail says that what was taken is none of what may be there.
func (r *Reader) Fail() { r.Failed, r.Rest = true, nil }

// Bytes takes n bytes. They are those of Rest.
func (r *Reader) Bytes(n uint64) []byte {
	if n > uint64(len(r.Rest)) {
		r.Fail()
		return nil
	}
	taken := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return taken
}

// Byte takes one byte.
func (r *Reader) Byte() byte {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Fixed64 takes a big-endian number of 8 bytes.
func (r *Reader) Fixed64() uint64 {
	if b := r.Bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Uvarint takes a number as [binary.AppendUvarint] writes it. It fails if that is above the limit.
func (r *Reader) Uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.Rest)
	if n <= 0 || v > limit {
		r.Fail()
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Varint takes a number as [binary.AppendVarint] writes it.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.Rest)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Text takes what [AppendText] has written.
func (r *Reader) Text() string { return string(r.Bytes(r.Uvarint(math.MaxInt))) }

// AppendText appends a text with its length before it.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
