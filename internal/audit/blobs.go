package audit

import (
	"bufio"
	"fmt"
	"os"
)

// blobs is a temporary file of sketches, one after the other.
type blobs struct {
	file   *os.File
	buffer *bufio.Writer
	end    int64
}

func newBlobs(dir string) (*blobs, error) {
	file, err := os.CreateTemp(dir, "sketches-")
	if err != nil {
		return nil, fmt.Errorf("making a temporary file: %w", err)
	}
	return &blobs{file: file, buffer: bufio.NewWriterSize(file, 1<<18)}, nil
}

// put appends a sketch with this digest, unless it is empty.
func (b *blobs) put(digest uint64, made string) (sketch, error) {
	s := sketch{Digest: digest, At: b.end, Bytes: int32(len(made))}
	b.end += int64(len(made))
	if _, err := b.buffer.WriteString(made); err != nil {
		return sketch{}, fmt.Errorf("writing a temporary file: %w", err)
	}
	return s, nil
}

// flush makes what was put ready for get. Nothing may be put after it.
func (b *blobs) flush() error {
	if err := b.buffer.Flush(); err != nil {
		return fmt.Errorf("writing a temporary file: %w", err)
	}
	return nil
}

func (b *blobs) get(s sketch) (string, error) {
	made := make([]byte, s.Bytes)
	if _, err := b.file.ReadAt(made, s.At); err != nil {
		return "", fmt.Errorf("reading a temporary file: %w", err)
	}
	return string(made), nil
}

// close gives the file back. Its folder goes with it.
func (b *blobs) close() {
	_ = b.file.Close() // nothing is kept of it
}
