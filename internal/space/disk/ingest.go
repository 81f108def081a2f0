package disk

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"golang.org/x/sync/errgroup"
)

// An Entry is a key and its value.
type Entry struct{ Key, Value []byte }

// Ingest adds entries whose keys are not in the database, in tables of which none overlaps another:
// faster than by batches, since they go to disk once, sorted, and not by way of memory. It sorts
// the tables. All are there when it returns, and on disk; after an error and after a crash, all or
// none.
func (d *DB) Ingest(ctx context.Context, tables ...[]Entry) error {
	if err := d.health.check(); err != nil {
		return err
	}
	paths := make([]string, 0, len(tables))
	defer func() {
		for _, path := range paths {
			_ = d.fs.Remove(path) // Pebble has moved it away, unless something failed
		}
	}()
	var writing errgroup.Group
	for i, entries := range tables {
		if len(entries) == 0 {
			continue
		}
		path := d.fs.PathJoin(d.dir, fmt.Sprintf("ingest-%d.tmp", i))
		paths = append(paths, path)
		writing.Go(func() error { return d.writeTable(path, entries) })
	}
	if err := writing.Wait(); err != nil {
		return d.health.explain("writing to", err)
	}
	if len(paths) == 0 {
		return nil
	}
	if err := d.db.Ingest(ctx, paths); err != nil {
		return d.health.explain("writing to", err)
	}
	return d.awaitCompaction()
}

// writeTable writes sorted entries to a file of Pebble's format.
func (d *DB) writeTable(path string, entries []Entry) (err error) {
	slices.SortFunc(entries, func(a, b Entry) int { return bytes.Compare(a.Key, b.Key) })
	file, err := d.fs.Create(path, "clusterd-ingest")
	if err != nil {
		return err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(file),
		d.options.MakeWriterOptions(0, d.db.TableFormat()))
	for i := 0; i < len(entries) && err == nil; i++ {
		err = w.Set(entries[i].Key, entries[i].Value)
	}
	return cmp.Or(err, w.Close())
}

// awaitCompaction waits where reads would have to look into very many tables.
func (d *DB) awaitCompaction() error {
	for d.db.Metrics().Levels[0].Sublevels >= maxSublevels {
		if err := d.health.await(d.health.compacted); err != nil {
			return err
		}
	}
	return nil
}
