package state

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// A Dir is the directory of an instance's state, locked against other instances: the stores of its
// spaces, and its name.
type Dir struct {
	path     string
	root     *os.Root // through which no link leads out
	lock     *flock.Flock
	instance instanceFile
}

// OpenDir makes the directory at path, readable by its owner alone, and locks it. The error says so
// where another process has it.
//
// A directory that is there must be the user's that clusterd runs as, or root's, and so must all be
// that is in it, files and directories alone: a link that somebody has put there would have
// clusterd write to what it leads to. Where others may read or write the directory, that is mended,
// with a warning.
func OpenDir(path string, log *slog.Logger) (_ *Dir, err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("state.dir: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("state.dir: %w", err)
	}
	defer func() {
		if err != nil {
			_ = root.Close() // nothing was written through it
		}
	}()
	if err := keepToOwner(path, root, log); err != nil {
		return nil, fmt.Errorf("state.dir: %w", err)
	}
	lock := flock.New(filepath.Join(path, "lock"), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("state.dir: locking %s: %w", path, err)
	}
	if !locked {
		return nil, fmt.Errorf("state.dir: %s belongs to another clusterd that runs: give each "+
			"instance a folder of its own", path)
	}
	d := &Dir{path: path, root: root, lock: lock}
	if err := d.countStart(); err != nil {
		_ = lock.Close() // it is given free with the process at the latest
		return nil, fmt.Errorf("state.dir: %w", err)
	}
	return d, nil
}

// keepToOwner makes the directory its owner's alone, and refuses what somebody else may have put
// into it. From then on nobody else can.
func keepToOwner(path string, root *os.Root, log *slog.Logger) error {
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	if err := trusted(path, info); err != nil {
		return err
	}
	const others = 0o077
	if mode := info.Mode().Perm(); mode&others != 0 {
		if err := root.Chmod(".", mode&^others); err != nil {
			return fmt.Errorf("%s may be read or written by others (mode %04o), and that cannot be "+
				"changed: %w. Name a folder in it, which clusterd makes", path, mode, err)
		}
		log.Warn("state.dir could be read or written by others; it is for its owner alone now", "dir",
			path, "mode_was", fmt.Sprintf("%04o", mode))
	}
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = entry.Info()
		}
		switch {
		// gone meanwhile: another clusterd is at work, which the lock finds out
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		return trusted(filepath.Join(path, name), info)
	})
}

// trusted refuses what clusterd has not made, or what somebody else could have.
func trusted(path string, info fs.FileInfo) error {
	if !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a file nor a folder but %s, which clusterd does not make: "+
			"remove it", path, info.Mode().Type())
	}
	if owner, ok := stranger(info); ok {
		return fmt.Errorf("%s belongs to user %d, and clusterd runs as user %d: give it to that user "+
			"(chown -R), or name another folder", path, owner, os.Geteuid())
	}
	return nil
}

// Close releases the directory.
func (d *Dir) Close() error { return errors.Join(d.lock.Close(), d.root.Close()) }

// Space returns the directory for the store of a space.
func (d *Dir) Space(name string) string { return filepath.Join(d.path, "space-"+name) }

// instanceFile is where an instance keeps its name and how often it was started.
type instanceFile struct {
	Instance string `json:"instance"`
	Starts   int    `json:"starts"`
}

const (
	instanceName = "instance"
	nextInstance = "instance.next"
)

// Instance returns the name of the instance that has this directory, made up at the first start and
// the same ever after, and how many times the directory was opened. The lock proves that whoever
// opened it before is dead. The count is not synced to disk: after the machine's crash it may be
// too low by a few.
func (d *Dir) Instance() (name string, start int) { return d.instance.Instance, d.instance.Starts }

// countStart reads the instance's name, or makes one up, and counts this start.
func (d *Dir) countStart() error {
	data, err := d.root.ReadFile(instanceName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A file that cannot be read is like none: the members of its instance time out by themselves.
	if json.Unmarshal(data, &d.instance) != nil || d.instance.Instance == "" || d.instance.Starts < 0 {
		d.instance = instanceFile{Instance: rand.Text()}
	}
	d.instance.Starts++
	if data, err = json.Marshal(d.instance); err != nil {
		return err
	}
	return d.replace(instanceName, nextInstance, data)
}

// replace writes a file under the name next, and renames it, which is atomic: no file is ever half
// written.
func (d *Dir) replace(name, next string, data []byte) error {
	// A new file each time: what is at this name, a link of whatever kind, is taken away and never
	// written to.
	if err := d.root.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := d.root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.root.Rename(next, name)
}
