package audit

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// A table is an array of entries of one fixed size in a temporary file, by number. Entries may come in
// any order and leave holes: what stands where is known from the number alone, so nothing is sorted.
type table[T any] struct {
	file *os.File
	size int    // bytes of an entry
	set  bitmap // the numbers that have an entry
	end  int64  // the highest of them plus 1
	row  []byte
}

// newTable makes an empty table in the folder dir. T must be of fixed size, as encoding/binary has it.
func newTable[T any](dir string) (*table[T], error) {
	file, err := os.CreateTemp(dir, "table-")
	if err != nil {
		return nil, fmt.Errorf("making a temporary file: %w", err)
	}
	var entry T
	size := binary.Size(entry)
	return &table[T]{file: file, size: size, set: make(bitmap), row: make([]byte, size)}, nil
}

// put writes entry n. If there is one already, it stays, and put reports false.
func (t *table[T]) put(n int64, entry T) (bool, error) {
	if !t.set.add(n) {
		return false, nil
	}
	t.end = max(t.end, n+1)
	if _, err := binary.Encode(t.row, binary.LittleEndian, &entry); err != nil {
		return false, err
	}
	if _, err := t.file.WriteAt(t.row, n*int64(t.size)); err != nil {
		return false, fmt.Errorf("writing a temporary file: %w", err)
	}
	return true, nil
}

// get reads entry n, if there is one.
func (t *table[T]) get(n int64) (entry T, ok bool, err error) {
	if !t.set.has(n) {
		return entry, false, nil
	}
	if _, err := t.file.ReadAt(t.row, n*int64(t.size)); err != nil {
		return entry, false, fmt.Errorf("reading a temporary file: %w", err)
	}
	_, err = binary.Decode(t.row, binary.LittleEndian, &entry)
	return entry, true, err
}

// reader reads the entries from number 0 on, one after the other, holes included. Nothing may be put
// meanwhile.
func (t *table[T]) reader() *reader[T] {
	return &reader[T]{table: t, buffer: bufio.NewReaderSize(io.NewSectionReader(t.file, 0, t.end*int64(t.size)), 1<<18)}
}

// close gives the file back. Its folder goes with all of them.
func (t *table[T]) close() {
	_ = t.file.Close() // nothing is kept of it
}

// A reader goes through a table.
type reader[T any] struct {
	table  *table[T]
	buffer *bufio.Reader
	n      int64
}

// next is the entry of the next number, if it has one.
func (r *reader[T]) next() (entry T, ok bool, err error) {
	n := r.n
	r.n++
	if n >= r.table.end {
		return entry, false, nil
	}
	if _, err := io.ReadFull(r.buffer, r.table.row); err != nil {
		return entry, false, fmt.Errorf("reading a temporary file: %w", err)
	}
	if !r.table.set.has(n) {
		return entry, false, nil
	}
	_, err = binary.Decode(r.table.row, binary.LittleEndian, &entry)
	return entry, true, err
}
