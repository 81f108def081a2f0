package disk

import (
	"encoding/binary"
	"math"
)

// A Decoder takes values off the front of Rest, until one is not there: then it has failed, and
// returns zero values.
type Decoder struct {
	Rest   []byte
	Failed bool
}

// Fail says that what was taken is none of what may be there.
func (d *Decoder) Fail() { d.Failed, d.Rest = true, nil }

// Bytes takes n bytes. They are those of Rest.
func (d *Decoder) Bytes(n uint64) []byte {
	if n > uint64(len(d.Rest)) {
		d.Fail()
		return nil
	}
	taken := d.Rest[:n]
	d.Rest = d.Rest[n:]
	return taken
}

// Byte takes one byte.
func (d *Decoder) Byte() byte {
	if b := d.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Fixed64 takes a big-endian number of 8 bytes.
func (d *Decoder) Fixed64() uint64 {
	if b := d.Bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Uvarint takes a number as [binary.AppendUvarint] writes it. It fails if that is above the limit.
func (d *Decoder) Uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(d.Rest)
	if n <= 0 || v > limit {
		d.Fail()
		return 0
	}
	d.Rest = d.Rest[n:]
	return v
}

// Varint takes a number as [binary.AppendVarint] writes it.
func (d *Decoder) Varint() int64 {
	v, n := binary.Varint(d.Rest)
	if n <= 0 {
		d.Fail()
		return 0
	}
	d.Rest = d.Rest[n:]
	return v
}

// Text takes what [AppendText] has written.
func (d *Decoder) Text() string { return string(d.Bytes(d.Uvarint(math.MaxInt))) }

// AppendText appends a text with its length before it.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
