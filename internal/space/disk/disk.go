// Package disk opens databases on local disk, in Pebble, that are caches of topics in Kafka.
// Batches of changes go in; single values, and all between two keys, come out.
//
// There is no log beside the data, since the topic is the log. After a crash a database is what it
// was after some batch: which one, a batch says itself, by a checkpoint that is in it. A database
// that cannot be used is removed and made anew from its topic.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/clusterd/clusterd/internal/failpoint"
)

const (
	// memTableBytes is how much a database has in memory at most, to be written at once, unless its
	// options say otherwise. Half of it may be there alone, to be read from Kafka again after a crash.
	memTableBytes = 32 << 20
	// flushInterval is for how long it may. It takes another FlushIfDue to begin a flush.
	flushInterval = 15 * time.Second
	// maxSublevels is how many tables a read may have to look into before compaction has to catch up.
	maxSublevels = 12
)

// A Kind is what the values of a database are, for its errors.
type Kind struct {
	Name    string // "clusters"
	Damaged error  // of what is there and cannot be read
}

// Options are what a database takes from outside. But for the Kind, the zero value of each will do.
type Options struct {
	Kind     Kind
	FS       vfs.FS           // nil: the disk
	Cache    *Cache           // nil: a small one of its own
	Log      *slog.Logger     // nil: nothing is logged
	Now      func() time.Time // nil: the wall clock
	MemTable int              // bytes; 0: as many as clusters take
	// Fatal is called by a goroutine of Pebble's own that cannot go on, and must not return. nil:
	// panic, which ends the process.
	Fatal func(error)
}

// A Cache is memory for what was read from disk, to be shared by databases.
type Cache struct{ cache *pebble.Cache }

// NewCache returns a cache of so many bytes. Release it when its databases are closed.
func NewCache(bytes int64) *Cache { return &Cache{pebble.NewCache(bytes)} }

// Release gives the memory back.
func (c *Cache) Release() { c.cache.Unref() }

// A DB is a database. But for Close, which ends it, its methods return the same error from the
// first failed write in the background on. Those of its Reader are safe for concurrent use, the
// others are not.
type DB struct {
	Reader
	db   *pebble.DB
	dir  string
	fs   vfs.FS
	lock io.Closer
	// options are those of Pebble that tables are written by.
	options *pebble.Options
	now     func() time.Time

	batchBytes int             // of the last batch, as which the next one is expected
	flushBytes int             // from how many bytes on a flush is due
	unflushed  int             // bytes written since a flush was last begun
	flushed    time.Time       // when that was
	flushing   <-chan struct{} // closed when it is done; nil before the first
}

// A Batch is changes that are made all or none.
type Batch = pebble.Batch

// Batch returns an empty batch of changes. Close it when done.
func (d *DB) Batch() *Batch { return d.db.NewBatchWithSize(d.batchBytes) }

// Commit writes a batch, to memory: it is on disk after the next flush. After an error the change
// is in memory or not, and nothing can be done but Close.
func (d *DB) Commit(b *pebble.Batch) error {
	if err := d.health.check(); err != nil {
		return err
	}
	n := b.Len()
	if err := b.Commit(pebble.NoSync); err != nil {
		return d.health.explain("writing to", err)
	}
	d.unflushed += n
	d.batchBytes = n
	return nil
}

// FlushIfDue begins a flush when enough has come together, and waits where the disk cannot keep up,
// so that memory is bounded. Pebble would wait for ever for a disk that is full.
func (d *DB) FlushIfDue() error {
	if d.unflushed < d.flushBytes && d.now().Sub(d.flushed) < flushInterval {
		return nil
	}
	if err := d.health.await(d.flushing); err != nil {
		return err
	}
	if err := d.awaitCompaction(); err != nil {
		return err
	}
	return d.beginFlush()
}

func (d *DB) beginFlush() (err error) {
	if err := failpoint.Hit(failpoint.BeforeFlush); err != nil {
		return d.health.explain("writing to", err)
	}
	if d.flushing, err = d.db.AsyncFlush(); err != nil {
		return d.health.explain("writing to", err)
	}
	d.unflushed, d.flushed = 0, d.now()
	return nil
}

// Flush waits until all that was committed is on disk.
func (d *DB) Flush() error {
	if err := d.health.check(); err != nil {
		return err
	}
	if d.unflushed > 0 {
		if err := d.beginFlush(); err != nil {
			return err
		}
	}
	return d.health.await(d.flushing)
}

// CopyTo makes dir, which must not be there, a database that holds all that was committed, if that
// was anything since the database was opened. What does not change any more is linked, where dir is
// on the same file system, and else copied.
func (d *DB) CopyTo(dir string) (err error) {
	if err := d.Flush(); err != nil {
		return err
	}
	defer d.health.guard("copying")(&err)
	if err := d.db.Checkpoint(dir); err != nil {
		return err
	}
	return removeLogs(d.fs, dir)
}

// Scrub writes all that was committed to disk, and removes there what was once under some ranges of
// keys and is no longer, if no snapshot needs it. Each range is from its first key to before its
// second.
func (d *DB) Scrub(ranges ...[2][]byte) (err error) {
	if err := d.Flush(); err != nil {
		return err
	}
	ctx := context.Background() //nolint:forbidigo // it is short, and would have to begin anew
	defer d.health.guard("scrubbing")(&err)
	for _, r := range ranges {
		if err := d.db.Compact(ctx, r[0], r[1], false); err != nil {
			return err
		}
	}
	return nil
}

// Size returns how many bytes the database takes on disk, and in memory until the next flush.
func (d *DB) Size() int64 { return int64(d.db.Metrics().DiskSpaceUsage()) + int64(d.unflushed) }

// Close writes to disk what is not there yet, so that nothing must be read again, and ends the
// database.
func (d *DB) Close() error { return errors.Join(d.Flush(), d.Abandon()) }

// Abandon ends the database, without what is not on disk yet.
func (d *DB) Abandon() error {
	if err := errors.Join(d.db.Close(), d.lock.Close()); err != nil {
		return d.health.explain("closing", err)
	}
	return nil
}

// Remove deletes the database in dir, if there is one. A half deleted one is damaged or empty.
func Remove(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := SyncDir(filepath.Dir(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// SyncDir makes last which files and directories a directory has, where the system needs that.
func SyncDir(path string) error {
	d, err := vfs.Default.OpenDir(path)
	if err != nil {
		return err
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
