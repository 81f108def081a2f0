package disk

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	maxOpenFiles = 256
	// noLimit turns Pebble's write stalls off: they last for ever where the disk is full. FlushIfDue
	// waits instead, and for failures as well.
	noLimit = 1 << 20
)

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MemTable == 0 {
		o.MemTable = memTableBytes
	}
	return o
}

// Open opens the database in dir, and makes dir, for its owner alone, and an empty one where there
// is none. The error is [Kind.Damaged], or what the system says.
func Open(dir string, o Options) (_ *DB, err error) {
	o = o.withDefaults()
	h := newHealth(dir, o)
	if err := o.FS.MkdirAll(dir, 0o700); err != nil {
		return nil, h.advise("making", err)
	}
	// Locked before Pebble looks at it: a directory that is in use is not a damaged one.
	lock, err := pebble.LockDirectory(dir, o.FS)
	if err != nil {
		return nil, h.advise("locking", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	if err := removeLogs(o.FS, dir); err != nil {
		return nil, h.explain("opening", err)
	}
	d := &DB{
		dir: dir, fs: o.FS, lock: lock, options: pebbleOptions(o, h, lock), now: o.Now,
		flushBytes: o.MemTable / 2, flushed: o.Now(),
	}
	d.options.EnsureDefaults()
	defer h.guard("opening")(&err)
	if d.db, err = pebble.Open(dir, d.options); err != nil {
		return nil, err
	}
	d.Reader = Reader{d.db, h}
	if err := d.checkSequence(); err != nil {
		return nil, errors.Join(err, d.db.Close())
	}
	return d, nil
}

var errNoSequence = errors.New("its manifest was cut: it lacks the last sequence number")

// checkSequence returns an error if the next change would not count as newer than those in the
// tables. A manifest that was cut behind its first record has all tables, but not the last sequence
// number (createManifest in Pebble's version_set.go). Readers would not see all entries then, and a
// compaction would end the process.
func (d *DB) checkSequence() error {
	b := d.db.NewBatch()
	defer b.Close()
	// It changes nothing, and gets the next sequence number.
	if err := errors.Join(b.LogData(nil, nil), d.db.Apply(b, pebble.NoSync)); err != nil {
		return err
	}
	levels, err := d.db.SSTables()
	if err != nil {
		return err
	}
	for _, tables := range levels {
		for i := range tables {
			if tables[i].LargestSeqNum >= b.SeqNum() {
				return errNoSequence
			}
		}
	}
	return nil
}

// removeLogs removes the logs that Pebble makes although it is to write none. It would replay them,
// flush what was not in them, and begin to compact; and crash when opening fails while it does
// that.
func removeLogs(disk vfs.FS, dir string) error {
	names, err := disk.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".log") {
			if err := disk.Remove(disk.PathJoin(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func pebbleOptions(o Options, h *health, lock *pebble.Lock) *pebble.Options {
	p := &pebble.Options{
		FS:                          syncedFolders{o.FS, h},
		Lock:                        lock,
		Logger:                      h,
		EventListener:               h.listener(),
		DisableWAL:                  true, // a topic is the log
		FormatMajorVersion:          pebble.FormatNewest,
		MaxOpenFiles:                maxOpenFiles,
		MemTableSize:                uint64(o.MemTable),
		MemTableStopWritesThreshold: noLimit,
		L0StopWritesThreshold:       noLimit,
		CompactionConcurrencyRange:  func() (lower, upper int) { return 1, 1 },
		// Compactions are a tenth of what an article costs where most found clusters: later and larger
		// ones are fewer. A look-up has filters in front of what waits.
		L0CompactionThreshold: 8,
		LBaseMaxBytes:         256 << 20,
	}
	if o.Cache != nil {
		p.Cache = o.Cache.cache
	}
	// Most of what is looked up is not there.
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return p
}

// syncedFolders is a file system on which a directory that cannot be synced is fatal. It is so to
// Pebble, but by a panic in a goroutine of its own.
type syncedFolders struct {
	vfs.FS
	health *health
}

// OpenDir opens a directory.
func (f syncedFolders) OpenDir(name string) (vfs.File, error) {
	dir, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return syncedFolder{dir, f.health}, nil
}

type syncedFolder struct {
	vfs.File
	health *health
}

// Sync returns if it succeeds.
func (f syncedFolder) Sync() error {
	if err := f.File.Sync(); err != nil {
		f.health.Fatalf("syncing the folder: %s", err)
	}
	return nil
}
