package state

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
	memTableBytes = 32 << 20
	maxOpenFiles  = 256
	// noLimit turns Pebble's write stalls off: they last for ever where the disk is full. Apply waits
	// instead, and for failures as well.
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
	return o
}

// open makes the directory, locks it, and opens Pebble in it.
func (s *Store) open(o Options) (err error) {
	if err := o.FS.MkdirAll(s.dir, 0o700); err != nil {
		return s.health.advise("making", err)
	}
	// Locked before Pebble looks at it: a directory that is in use is not a damaged one.
	lock, err := pebble.LockDirectory(s.dir, o.FS)
	if err != nil {
		return s.health.advise("locking", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	s.lock = lock
	if err := removeLogs(o.FS, s.dir); err != nil {
		return s.health.explain("opening", err)
	}
	defer s.health.guard("opening")(&err)
	s.db, err = pebble.Open(s.dir, pebbleOptions(o, s.health, lock))
	return err
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
		DisableWAL:                  true, // the clusters topic is the log
		FormatMajorVersion:          pebble.FormatNewest,
		MaxOpenFiles:                maxOpenFiles,
		MemTableSize:                memTableBytes,
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
	// Most tombstones and founders that are looked up are not there.
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
