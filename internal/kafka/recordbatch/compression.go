package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/compress/gzip"
)

const (
	// maxZstdWindow is what Kafka's own clients accept, and the most that zstd's highest level
	// asks for. Its default level asks for 2 MiB.
	maxZstdWindow = 128 << 20
	// maxSnappyRatio is more than snappy can reach: three bytes stand for at most 64.
	maxSnappyRatio = 22
)

// fastGzip takes half the time of the default level, for a tenth more bytes.
var fastGzip = &gzip.Codec{Level: 1}

// compressTo appends raw, as the codec makes it, to out.
func compressTo(out *bytes.Buffer, by compress.Compression, raw []byte) error {
	if by == compress.None {
		out.Write(raw)
		return nil
	}
	codec := by.Codec()
	if by == compress.Gzip {
		codec = fastGzip
	}
	w := codec.NewWriter(out)
	if _, err := w.Write(raw); err != nil {
		return err
	}
	return w.Close()
}

var errSnappy = errors.New("snappy: corrupt input")

// A decompressor opens compressed bytes as a stream. What it holds of it is bounded: gzip 32 KiB,
// lz4 8 MiB, zstd its window, snappy a block, which is the whole batch where the writer made one of
// it. It is not safe for concurrent use.
type decompressor struct{ zstd *zstd.Decoder }

// open returns a stream that must be closed before the next is opened.
func (d *decompressor) open(codec compress.Compression, data []byte) (io.ReadCloser, error) {
	switch codec {
	case compress.None:
		return io.NopCloser(bytes.NewReader(data)), nil
	case compress.Gzip, compress.Lz4:
		return codec.Codec().NewReader(bytes.NewReader(data)), nil
	case compress.Snappy:
		return io.NopCloser(newSnappyReader(data)), nil
	case compress.Zstd:
		return d.openZstd(data)
	default:
		return nil, fmt.Errorf("compression %d is unknown", codec)
	}
}

// openZstd opens zstd. It is not left to kafka-go, which sets no limit to the window.
func (d *decompressor) openZstd(data []byte) (io.ReadCloser, error) {
	if d.zstd == nil {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
		d.zstd = decoder
	}
	return io.NopCloser(d.zstd), d.zstd.Reset(bytes.NewReader(data))
}

func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// A snappyReader decodes what snappy-java reads: a head and then blocks of 32 KiB, as it writes
// them, one such stream after another; or what others write, a single block. It is not left to
// kafka-go, which trusts the lengths that the data claim.
type snappyReader struct {
	data   []byte // still to be decoded
	framed bool
	block  []byte // the last one decoded
	rest   []byte // of it, still to be read
}

// snappyHead is how many bytes begin a framed stream: a mark, and two versions.
const snappyHead = 16

func framed(data []byte) bool {
	return len(data) >= snappyHead && string(data[:8]) == "\x82SNAPPY\x00"
}

func newSnappyReader(data []byte) *snappyReader {
	return &snappyReader{data: data, framed: framed(data)}
}

func (s *snappyReader) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if len(s.data) == 0 {
			return 0, io.EOF
		}
		if err := s.decode(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *snappyReader) decode() error {
	encoded := s.data
	s.data = nil
	if framed(encoded) {
		s.data = encoded[snappyHead:]
		return nil
	}
	if s.framed {
		if len(encoded) < 4 || uint64(binary.BigEndian.Uint32(encoded)) > uint64(len(encoded)-4) {
			return errSnappy
		}
		end := 4 + int(binary.BigEndian.Uint32(encoded))
		encoded, s.data = encoded[4:end], encoded[end:]
	}
	n, err := snappy.DecodedLen(encoded)
	if err != nil {
		return err
	}
	if n > maxSnappyRatio*len(encoded) {
		return errSnappy
	}
	s.block, err = snappy.Decode(s.block[:cap(s.block)], encoded)
	s.rest = s.block
	return err
}
