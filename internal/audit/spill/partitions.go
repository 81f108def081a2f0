package spill

import (
	"iter"
	"maps"
	"slices"
)

// Partitions keeps rows by partition and offset: a [Table] for each partition.
type Partitions[T any] struct {
	dir      *Dir
	from, to map[int32]int64 // of each partition, the first offset and the one behind the last
	tables   map[int32]*Table[T]
}

// NewPartitions returns empty tables for the offsets of each partition from (first) to (behind the
// last). It keeps the maps.
func NewPartitions[T any](d *Dir, from, to map[int32]int64) *Partitions[T] {
	return &Partitions[T]{dir: d, from: from, to: to, tables: make(map[int32]*Table[T])}
}

// Put keeps the row of an offset. If there is one already, it stays, and Put reports false, as it
// does of an offset that is not within its partition.
func (p *Partitions[T]) Put(partition int32, offset int64, row T) (fresh bool, err error) {
	if t, err := p.table(partition, offset); t == nil || err != nil {
		return false, err
	}
	return p.tables[partition].Put(offset-p.from[partition], row)
}

// Set keeps the row of an offset, instead of one that is there. It keeps none of an offset that is
// not within its partition.
func (p *Partitions[T]) Set(partition int32, offset int64, row T) error {
	if t, err := p.table(partition, offset); t == nil || err != nil {
		return err
	}
	return p.tables[partition].Set(offset-p.from[partition], row)
}

// table returns that of a partition, or nil for an offset that is not within it.
func (p *Partitions[T]) table(partition int32, offset int64) (t *Table[T], err error) {
	if offset < p.from[partition] || offset >= p.to[partition] {
		return nil, nil
	}
	if t = p.tables[partition]; t == nil {
		if t, err = NewTable[T](p.dir); err != nil {
			return nil, err
		}
		p.tables[partition] = t
	}
	return t, nil
}

// Get returns the row of an offset, if there is one.
func (p *Partitions[T]) Get(partition int32, offset int64) (row T, ok bool, err error) {
	t, n := p.tables[partition], offset-p.from[partition]
	if t == nil || n < 0 {
		return row, false, nil
	}
	return t.Get(n)
}

// All returns the partitions that have a row, ascending.
func (p *Partitions[T]) All() []int32 { return slices.Sorted(maps.Keys(p.tables)) }

// Offsets returns the offsets of a partition that have a row, ascending.
func (p *Partitions[T]) Offsets(partition int32) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for n := range p.tables[partition].set.All() {
			if !yield(p.from[partition] + n) {
				return
			}
		}
	}
}

// Each calls do with the rows of a partition by ascending offset.
func (p *Partitions[T]) Each(partition int32, do func(T)) error {
	t := p.tables[partition]
	for rows := t.Reader(); rows.n < t.end; {
		row, ok, err := rows.Next()
		if err != nil {
			return err
		}
		if ok {
			do(row)
		}
	}
	return nil
}
