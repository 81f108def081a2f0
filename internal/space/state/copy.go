package state

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Copy says of what a copy of a store is, and how far it is.
type Copy struct {
	Identity Identity `json:"identity"`
	Clusters int      `json:"clusters"` // how many
	Meta     Meta     `json:"meta"`
}

// CopyTo makes dir, which must not be there, a store that holds what this one does. What does not
// change any more is linked, where dir is on the same file system, and else copied.
func (s *Store) CopyTo(dir string) (Copy, error) {
	// Pebble copies an empty list of tables where nothing was written since it was opened.
	if err := s.rewrite(); err != nil {
		return Copy{}, err
	}
	if _, err := s.scrubAll(); err != nil {
		return Copy{}, err
	}
	if err := s.db.CopyTo(dir); err != nil {
		return Copy{}, err
	}
	return s.describe(), nil
}

// rewrite writes once more what the store says of itself.
func (s *Store) rewrite() error {
	c := change{Store: s, batch: s.db.Batch(), live: s.live}
	defer func() { _ = c.batch.Close() }() // it only gives memory back
	if err := c.describe(s.meta); err != nil {
		return err
	}
	return s.db.Commit(c.batch)
}

func (s *Store) describe() Copy { return Copy{s.identity, s.live, s.Meta()} }

// Verify opens the store in dir, and compares what it says of itself with what it should. The error
// is [ErrDamaged], [ErrForeign], or what the system says.
func Verify(dir string, want Copy, o Options) error {
	s, err := Open(dir, want.Identity, o)
	if err != nil {
		return err
	}
	found, err := json.Marshal(s.describe())
	wanted, failed := json.Marshal(want)
	if err = errors.Join(err, failed); err == nil && string(found) != string(wanted) {
		err = fmt.Errorf("%w: %s says of itself %s, and should %s", ErrDamaged, dir, found, wanted)
	}
	return errors.Join(err, s.Close())
}
