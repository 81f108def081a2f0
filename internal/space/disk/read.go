package disk

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// A Reader reads a database as it is, or a [Snapshot] as it was. It is safe for concurrent use.
type Reader struct {
	reader pebble.Reader
	health *health
}

// Get returns the value of a key, and whether there is one.
func (r Reader) Get(key []byte) (value []byte, ok bool, err error) {
	if err := r.health.check(); err != nil {
		return nil, false, err
	}
	defer r.health.guard("reading")(&err)
	found, closer, err := r.reader.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return append([]byte{}, found...), true, closer.Close()
}

// Scan hands on what is stored under the keys in [from, to), in order, until each has enough; a nil
// bound is none. Key and value are valid until each returns.
func (r Reader) Scan(from, to []byte, each func(key, value []byte) (more bool)) error {
	return r.iterate(from, to, func(i *pebble.Iterator) {
		for ok := i.First(); ok && each(i.Key(), i.Value()); ok = i.Next() {
		}
	})
}

// ScanBack does what Scan does, in descending order.
func (r Reader) ScanBack(from, to []byte, each func(key, value []byte) (more bool)) error {
	return r.iterate(from, to, func(i *pebble.Iterator) {
		for ok := i.Last(); ok && each(i.Key(), i.Value()); ok = i.Prev() {
		}
	})
}

func (r Reader) iterate(from, to []byte, over func(*pebble.Iterator)) (err error) {
	if err := r.health.check(); err != nil {
		return err
	}
	defer r.health.guard("reading")(&err)
	i, err := r.reader.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return err
	}
	over(i)
	return i.Close() // it says what went wrong on the way
}

// A Snapshot is a database as it was when the snapshot was taken, whatever is written since.
type Snapshot struct {
	Reader
	snapshot *pebble.Snapshot
}

// Snapshot returns the database as it is now. What it holds is not given free before it is closed;
// and it must be closed before the database is.
func (d *DB) Snapshot() *Snapshot {
	s := d.db.NewSnapshot()
	return &Snapshot{Reader{s, d.health}, s}
}

// Close ends the snapshot.
func (s *Snapshot) Close() error { return s.snapshot.Close() }
