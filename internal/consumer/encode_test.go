package consumer

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/segmentio/kafka-go/compress"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// parts are an encoded record before its length is put in front of it.
type parts struct {
	time, delta int64
	key, value  []byte
	headers     []byte // their number first
	attributes  byte
}

// record returns an encoded record of the offset delta, with the value v, which change may spoil.
func record(delta int64, change ...func(*parts)) []byte {
	p := parts{delta: delta, value: sized("v"), headers: varint(0), key: varint(-1)}
	for _, c := range change {
		c(&p)
	}
	return sized(string(slices.Concat([]byte{p.attributes}, varint(p.time), varint(p.delta), p.key,
		p.value, p.headers)))
}

func varint(n int64) []byte { return binary.AppendVarint(nil, n) }

// sized returns s after its length.
func sized(s string) []byte { return append(varint(int64(len(s))), s...) }

// padded returns a number in so many bytes, more than it needs.
func padded(n int64, size int) []byte {
	encoded := varint(n)
	for len(encoded) < size {
		encoded[len(encoded)-1] |= 0x80
		encoded = append(encoded, 0)
	}
	return encoded
}

// records returns encoded records of the offset deltas.
func records(deltas ...int64) []byte {
	var encoded []byte
	for _, d := range deltas {
		encoded = append(encoded, record(d)...)
	}
	return encoded
}

// with is a change of a part of a record.
func withKey(encoded []byte) func(*parts) { return func(p *parts) { p.key = encoded } }

func withValue(encoded []byte) func(*parts) { return func(p *parts) { p.value = encoded } }

func withHeaders(encoded []byte) func(*parts) { return func(p *parts) { p.headers = encoded } }

func withTime(delta int64) func(*parts) { return func(p *parts) { p.time = delta } }

// gzips are used again and again: each takes long to make.
var gzips = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// deflated returns data as one member of a gzip stream.
func deflated(data []byte) []byte {
	var buffer bytes.Buffer
	w := gzips.Get().(*gzip.Writer)
	defer gzips.Put(w)
	w.Reset(&buffer)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return buffer.Bytes()
}

// framed4 returns data as one lz4 frame.
func framed4(data []byte) []byte {
	var buffer bytes.Buffer
	w := compress.Lz4.Codec().NewWriter(&buffer)
	_, _ = w.Write(data)
	_ = w.Close()
	return buffer.Bytes()
}

// zstandard returns data as one zstd frame.
func zstandard(data []byte) []byte { return zstdWriter().EncodeAll(data, nil) }

// wideZstd returns a frame that asks for a window of 2 GiB.
func wideZstd(data []byte) []byte {
	head := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3}
	block := binary.LittleEndian.AppendUint32(nil, uint32(len(data))<<3|1)[:3] // raw, the last
	return slices.Concat(head, block, data)
}

// odd returns a batch whose checksum is right, of n records at offset 10 and later. Where n or the
// last delta is not what it should be, the batch is reported as unreadable.
func odd(
	codec compress.Compression, n int, records []byte, change ...func(*kmsg.RecordBatch),
) []byte {
	b := kmsg.RecordBatch{
		FirstOffset: 10, Attributes: int16(codec), LastOffsetDelta: int32(n - 1), NumRecords: int32(n),
		ProducerID:     -1,
		FirstTimestamp: 1_700_000_000_000, MaxTimestamp: 1_700_000_000_001, Records: records,
	}
	for _, c := range change {
		c(&b)
	}
	return seal(b)
}

func lastDelta(n int32) func(*kmsg.RecordBatch) {
	return func(b *kmsg.RecordBatch) { b.LastOffsetDelta = n }
}
