package spill

import (
	"bufio"
	"fmt"
	"os"
)

// Blobs is a temporary file of byte strings, one after the other.
type Blobs struct {
	file   *os.File
	buffer *bufio.Writer
	end    int64
}

// A Ref says where a byte string is among [Blobs].
type Ref struct {
	At    int64
	Bytes int32
}

// NewBlobs makes an empty file.
func NewBlobs(d *Dir) (*Blobs, error) {
	file, err := d.create("blobs")
	if err != nil {
		return nil, err
	}
	return &Blobs{file: file, buffer: bufio.NewWriterSize(file, 1<<18)}, nil
}

// Put appends a byte string.
func (b *Blobs) Put(blob string) (Ref, error) {
	ref := Ref{At: b.end, Bytes: int32(len(blob))}
	b.end += int64(len(blob))
	if _, err := b.buffer.WriteString(blob); err != nil {
		return Ref{}, fmt.Errorf("writing a temporary file: %w", err)
	}
	return ref, nil
}

// Flush makes what was put ready for Get. Nothing may be put after it.
func (b *Blobs) Flush() error {
	if err := b.buffer.Flush(); err != nil {
		return fmt.Errorf("writing a temporary file: %w", err)
	}
	return nil
}

// Get reads a byte string.
func (b *Blobs) Get(ref Ref) (string, error) {
	blob := make([]byte, ref.Bytes)
	if _, err := b.file.ReadAt(blob, ref.At); err != nil {
		return "", fmt.Errorf("reading a temporary file: %w", err)
	}
	return string(blob), nil
}
