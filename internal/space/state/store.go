package state

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/disk"
)

// cacheBytes is what the stores of an instance share: centres are in memory beside it, and the
// clusters that articles join were mostly joined a short while ago. It holds half a million
// clusters and their filters.
const cacheBytes = 128 << 20

// NewCache returns a cache for the stores of an instance. Release it when they are closed.
func NewCache() *disk.Cache { return disk.NewCache(cacheBytes) }

// Options are what a store takes from outside: those of its database, which the store gives its
// kind.
type Options = disk.Options

// A Store is the clusters of one space. But for Close, which ends it, its methods return the same
// error from the first failed write in the background on. It is not safe for concurrent use, but
// that one goroutine may call Get and Overdue beside another that calls Apply.
type Store struct {
	reader
	now func() time.Time
	db  *disk.DB

	writing sync.Mutex // held to write what was read before: by Apply and Overdue
	mu      sync.Mutex // of read and oldest
	read    locations
	oldest  map[string]int64 // by value: no expiry entry stands under an earlier time

	meta   Meta
	live   int
	erased []uint64 // the clusters to be scrubbed
	// erasedContact is whether the contacts are to be scrubbed, too.
	erasedContact bool
	// labelled are the clusters that have labels, in founding order; never written to
	labelled []singlepass.Centre
	marks    label.Tally // of all contacts
}

// Open opens the store in dir, and makes dir, for its owner alone, and an empty store where there
// is none. The error is [ErrDamaged], [ErrForeign], or what the system says.
func Open(dir string, identity Identity, o Options) (*Store, error) {
	o.Kind = disk.Kind{Name: "clusters", Damaged: ErrDamaged}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{
		now: o.Now, read: newLocations(), oldest: make(map[string]int64),
	}
	var err error
	if s.db, err = disk.Open(dir, o); err != nil {
		return nil, err
	}
	s.reader = reader{s.db.Reader, dir, identity}
	if err := s.load(); err != nil {
		return nil, errors.Join(err, s.db.Abandon())
	}
	return s, nil
}

// load reads what the store says of itself.
func (s *Store) load() error {
	value, ok, err := s.db.Get([]byte{metaKey})
	if err != nil {
		return err
	}
	if !ok {
		empty := true
		err := s.db.Scan(nil, nil, func(_, _ []byte) bool { empty = false; return false })
		if err == nil && !empty {
			err = fmt.Errorf("%w: %s has clusters, but no description of them", ErrDamaged, s.dir)
		}
		s.meta = Meta{}.Clone()
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
	s.meta, s.live = h.Meta.Clone(), h.Live
	return errors.Join(s.loadLabelled(), s.loadMarks(), s.opened())
}

// Meta returns what the last Apply wrote.
func (s *Store) Meta() Meta { return s.meta.Clone() }

// Len returns how many clusters there are.
func (s *Store) Len() int { return s.live }

// Marks counts the marks of contacts.
func (s *Store) Marks() label.Tally { return s.marks }

// loadMarks counts the marks that are stored.
func (s *Store) loadMarks() error {
	return s.Contacts(func(c *cluster.Contact) (more bool) {
		s.marks.Add(c.Name, nil, c.Marks)
		return true
	})
}

// Flush waits until all that was applied is on disk.
func (s *Store) Flush() error { return s.db.Flush() }

// Close writes to disk what is not there yet, so that nothing must be read again, and ends the
// store.
func (s *Store) Close() error { return s.db.Close() }

// Remove deletes the store in dir, if there is one. A half deleted one is damaged or empty.
func Remove(dir string) error {
	if err := disk.Remove(dir); err != nil {
		return fmt.Errorf("removing the clusters on disk, to read them from Kafka again: %w", err)
	}
	return nil
}

// OpenInMemory opens an empty store that is on no disk.
func OpenInMemory(identity Identity) (*Store, error) {
	return Open("clusters", identity, Options{FS: vfs.NewMem()})
}
