package files

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow is what zstd itself takes without being told otherwise (--long=27). What unpacks to
// very much holds no more than this; the lines that come out are bounded by whoever reads them.
const maxZstdWindow = 128 << 20

// An unpacker opens what is packed as a stream, and may hold what close gives back.
type unpacker func(file io.Reader) (stream io.Reader, close func(), err error)

// unpackerOf returns that of files with such a name, nil for none.
func unpackerOf(name string) unpacker {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		return func(file io.Reader) (io.Reader, func(), error) {
			stream, err := gzip.NewReader(bufio.NewReader(file))
			return stream, func() {}, err
		}
	case ".bz2":
		return func(file io.Reader) (io.Reader, func(), error) {
			return bzip2.NewReader(bufio.NewReader(file)), func() {}, nil
		}
	case ".zst":
		return func(file io.Reader) (io.Reader, func(), error) {
			stream, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1),
				zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
			if err != nil {
				return nil, nil, err
			}
			return stream, stream.Close, nil
		}
	}
	return nil
}

// An unpacked is a packed file that is opened when it is read, and closed at its end.
type unpacked struct {
	file   io.Reader
	open   unpacker
	stream io.Reader // nil: not begun
	free   func()
	failed error
}

// Read implements [io.Reader].
func (u *unpacked) Read(p []byte) (int, error) {
	if u.failed != nil {
		return 0, u.failed
	}
	if u.stream == nil {
		stream, free, err := u.open(u.file)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // an empty file is none that was packed
		}
		if err != nil {
			u.failed = err
			return 0, err
		}
		u.stream, u.free = stream, free
	}
	n, err := u.stream.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = errors.New("zstd: the window is larger than 128 MiB: pack it with --long=27 or less")
	}
	if err != nil {
		u.failed = err
		u.close()
	}
	return n, err
}

func (u *unpacked) close() {
	if u.free != nil {
		u.free()
		u.free = nil
	}
	if u.failed == nil {
		u.failed = io.EOF
	}
}

// A Kind says how a file holds articles.
type Kind int

// The kinds of files.
const (
	Lines Kind = iota // an article a line, or a JSON array of them
	CSV               // a row an article, behind a row with the names of the fields
	TSV               // the same, divided by tabs
	Text              // one text, if input.format is not text; else a text a line
)

func kindOf(name string) Kind {
	if unpackerOf(name) != nil {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return CSV
	case ".tsv":
		return TSV
	case ".txt":
		return Text
	}
	return Lines
}
