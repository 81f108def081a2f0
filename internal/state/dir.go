package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Dir is the folder of an instance's state, locked against other instances: the stores of its spaces,
// and the name of its last membership in the consumer group.
type Dir struct {
	path string
	lock *flock.Flock
}

// OpenDir makes the folder at path, readable by its owner alone, and locks it. The error says so where
// another process has it.
func OpenDir(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("state.dir: %w", err)
	}
	lock := flock.New(filepath.Join(path, "lock"), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("state.dir: locking %s: %w", path, err)
	}
	if !locked {
		return nil, fmt.Errorf("state.dir: %s belongs to another clusterd that runs: give each instance a folder of its own", path)
	}
	return &Dir{path: path, lock: lock}, nil
}

// Close gives the folder free.
func (d *Dir) Close() error { return d.lock.Close() }

// Space is the folder for the store of a space.
func (d *Dir) Space(name string) string { return filepath.Join(d.path, "space-"+name) }

// Member is the id of the member of the consumer group that this instance was last, empty if it left.
func (d *Dir) Member() (string, error) {
	id, err := os.ReadFile(d.memberFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("state.dir: %w", err)
	}
	return string(id), nil
}

// SetMember notes the id of the member of the consumer group that this instance is, empty for none. It is
// not synced to disk: after the machine's crash the group's session timeout has to do.
func (d *Dir) SetMember(id string) error {
	// Renaming is atomic: a file that is half written would expel nobody.
	next := d.memberFile() + ".next"
	if err := os.WriteFile(next, []byte(id), 0o600); err != nil {
		return fmt.Errorf("state.dir: %w", err)
	}
	if err := os.Rename(next, d.memberFile()); err != nil {
		return fmt.Errorf("state.dir: %w", err)
	}
	return nil
}

func (d *Dir) memberFile() string { return filepath.Join(d.path, "member") }
