package spill

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// A Table is an array of rows of one fixed size in a temporary file. Rows may come in any order and
// leave holes: the number alone gives a row's place in the file, so nothing is sorted.
type Table[T any] struct {
	file *os.File
	size int    // bytes of a row
	set  Bitmap // the numbers that have a row
	end  int64
	row  []byte
}

// NewTable makes an empty table. T must be of fixed size, as encoding/binary has it.
func NewTable[T any](d *Dir) (*Table[T], error) {
	file, err := d.create("table")
	if err != nil {
		return nil, err
	}
	var row T
	size := binary.Size(row)
	return &Table[T]{file: file, size: size, set: make(Bitmap), row: make([]byte, size)}, nil
}

// End returns the highest number that has a row plus 1.
func (t *Table[T]) End() int64 { return t.end }

// Put writes row n. If there is one already, it stays, and Put reports false.
func (t *Table[T]) Put(n int64, row T) (bool, error) {
	if t.set.Has(n) {
		return false, nil
	}
	return true, t.Set(n, row)
}

// Set writes row n, over the one that is there.
func (t *Table[T]) Set(n int64, row T) error {
	t.set.Add(n)
	t.end = max(t.end, n+1)
	if _, err := binary.Encode(t.row, binary.LittleEndian, &row); err != nil {
		return err
	}
	if _, err := t.file.WriteAt(t.row, n*int64(t.size)); err != nil {
		return fmt.Errorf("writing a temporary file: %w", err)
	}
	return nil
}

// Get reads row n, if there is one.
func (t *Table[T]) Get(n int64) (row T, ok bool, err error) {
	if !t.set.Has(n) {
		return row, false, nil
	}
	if _, err := t.file.ReadAt(t.row, n*int64(t.size)); err != nil {
		return row, false, fmt.Errorf("reading a temporary file: %w", err)
	}
	_, err = binary.Decode(t.row, binary.LittleEndian, &row)
	return row, true, err
}

// Reader returns a reader of the rows from number 0 on. Nothing may be put meanwhile.
func (t *Table[T]) Reader() *Reader[T] {
	all := io.NewSectionReader(t.file, 0, t.end*int64(t.size))
	return &Reader[T]{table: t, buffer: bufio.NewReaderSize(all, 1<<18)}
}

// A Reader goes through a table, holes included.
type Reader[T any] struct {
	table  *Table[T]
	buffer *bufio.Reader
	n      int64
}

// Next returns the row of the next number, if it has one.
func (r *Reader[T]) Next() (row T, ok bool, err error) {
	n := r.n
	r.n++
	if n >= r.table.end {
		return row, false, nil
	}
	if _, err := io.ReadFull(r.buffer, r.table.row); err != nil {
		return row, false, fmt.Errorf("reading a temporary file: %w", err)
	}
	if !r.table.set.Has(n) {
		return row, false, nil
	}
	_, err = binary.Decode(r.table.row, binary.LittleEndian, &row)
	return row, true, err
}
