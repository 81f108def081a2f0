package state

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/clusterd/clusterd/internal/article"
)

// A Cache is memory for what was read from disk, to be shared by stores.
type Cache struct{ cache *pebble.Cache }

// cacheBytes is what the stores of an instance share: centres are in memory beside it, and the
// clusters that articles join were mostly joined a short while ago. It holds half a million
// clusters and their filters.
const cacheBytes = 128 << 20

// NewCache returns a cache. Release it when its stores are closed.
func NewCache() *Cache { return &Cache{pebble.NewCache(cacheBytes)} }

// Release gives the memory back.
func (c *Cache) Release() { c.cache.Unref() }

// Options are what a store takes from outside. The zero value of each will do.
type Options struct {
	FS    vfs.FS           // nil: the disk
	Cache *Cache           // nil: a small one of its own
	Log   *slog.Logger     // nil: nothing is logged
	Now   func() time.Time // nil: the wall clock
	// Fatal is called by a goroutine of Pebble's own that cannot go on, and must not return. nil:
	// panic, which ends the process.
	Fatal func(error)
}

// A Store is the clusters of one space. But for Close, which ends it, its methods return the same
// error from the first failed write in the background on. It is not safe for concurrent use.
type Store struct {
	dir      string
	identity Identity
	now      func() time.Time
	lock     io.Closer
	db       *pebble.DB
	health   *health

	meta   Meta
	live   int
	read   map[uint64]location // by seq: the clusters that were read since the last Apply
	oldest int64               // no expiry entry stands under an earlier time

	unflushed int             // bytes written since a flush was last begun
	flushed   time.Time       // when that was
	flushing  <-chan struct{} // closed when it is done; nil before the first
}

// A location is where a cluster is stored, beside its seq.
type location struct {
	founder article.Address
	entry   int64 // the time under which its expiry entry stands
}

// Open opens the store in dir, and makes dir, for its owner alone, and an empty store where there
// is none. The error is [ErrDamaged], [ErrForeign], or what the system says.
func Open(dir string, identity Identity, o Options) (*Store, error) {
	o = o.withDefaults()
	s := &Store{
		dir: dir, identity: identity, now: o.Now, health: newHealth(dir, o),
		read: make(map[uint64]location), oldest: math.MinInt64, flushed: o.Now(),
	}
	if err := s.open(o); err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(err, s.abandon())
	}
	return s, nil
}

// load reads what the store says of itself.
func (s *Store) load() error {
	value, ok, err := s.get([]byte{metaKey})
	if err != nil {
		return err
	}
	if !ok {
		empty := true
		err := s.scan(nil, nil, func(_, _ []byte) bool { empty = false; return false })
		if err == nil && !empty {
			err = fmt.Errorf("%w: %s has clusters, but no description of them", ErrDamaged, s.dir)
		}
		s.meta = Meta{}.clone()
		return err
	}
	h, err := decodeHeader(value)
	if err != nil {
		return err
	}
	if h.Identity != s.identity {
		return fmt.Errorf("%w: %s has those of %+v, and this is %+v", ErrForeign, s.dir, h.Identity,
			s.identity)
	}
	s.meta, s.live = h.Meta.clone(), h.Live
	return nil
}

// Meta returns what the last Apply wrote.
func (s *Store) Meta() Meta { return s.meta.clone() }

// Len returns how many clusters there are.
func (s *Store) Len() int { return s.live }

// Close writes to disk what is not there yet, so that nothing must be read again, and ends the
// store.
func (s *Store) Close() error {
	return errors.Join(s.Flush(), s.abandon())
}

// abandon ends the store.
func (s *Store) abandon() error {
	if err := errors.Join(s.db.Close(), s.lock.Close()); err != nil {
		return s.health.explain("closing", err)
	}
	return nil
}

// Remove deletes the store in dir, if there is one. A half deleted one is damaged or empty.
func Remove(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing the clusters on disk, to read them from Kafka again: %w", err)
	}
	parent, err := vfs.Default.OpenDir(filepath.Dir(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing the clusters on disk: %w", err)
	}
	if err := errors.Join(parent.Sync(), parent.Close()); err != nil {
		return fmt.Errorf("removing the clusters on disk: %s: %w", dir, err)
	}
	return nil
}

// OpenInMemory opens an empty store that is on no disk.
func OpenInMemory(identity Identity) (*Store, error) {
	return Open("clusters", identity, Options{FS: vfs.NewMem()})
}
