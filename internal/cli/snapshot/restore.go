package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/space/disk"
	"github.com/clusterd/clusterd/internal/space/state"
)

const (
	// tries is how often a file is asked for that does not come as it should.
	tries = 4
	pause = time.Second // before the second, and twice as long before each further one
	// nextSuffix ends the name of the directory in which a store is put together.
	nextSuffix = ".next"
)

// ErrOccupied is the error of a directory that has clusters already.
var ErrOccupied = errors.New("it has clusters already")

// Vacant looks whether no space of the snapshot is in the directory of an instance.
func Vacant(m *Manifest, dir *state.Dir) error {
	for _, s := range m.Spaces {
		path := dir.Space(s.Identity.Space)
		entries, err := os.ReadDir(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(entries) > 0 {
			return fmt.Errorf("%s: %w", path, ErrOccupied)
		}
	}
	return nil
}

// Restore makes the stores of a snapshot those of an instance, in place of what it has. Nothing is
// replaced before all files of all spaces have come and are as the manifest says. A store is then
// there as it was or as it is to be, whenever the process ends.
func Restore(
	ctx context.Context, from Target, m *Manifest, dir *state.Dir, log *slog.Logger,
) error {
	for _, s := range m.Spaces {
		next := dir.Space(s.Identity.Space) + nextSuffix
		if err := os.RemoveAll(next); err != nil { // of one that did not end
			return err
		}
		defer func() {
			if err := os.RemoveAll(next); err != nil {
				log.Warn("what is not needed any more cannot be removed", "dir", next, "error", err)
			}
		}()
		if err := fetch(ctx, from, m.Name, &s, next, log); err != nil {
			return fmt.Errorf("snapshot %s of %s: %w", m.Name, from, err)
		}
		if err := state.Verify(next, s.Copy, state.Options{Log: log}); err != nil {
			return fmt.Errorf("snapshot %s of %s: its files are as they were written, and yet: %w", m.Name,
				from, err)
		}
	}
	for _, s := range m.Spaces {
		path := dir.Space(s.Identity.Space)
		if err := replace(path+nextSuffix, path); err != nil {
			return err
		}
	}
	return nil
}

// fetch puts a store together in dir.
func fetch(
	ctx context.Context, from Target, name string, s *Space, dir string, log *slog.Logger,
) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, f := range s.Files {
		group.Go(func() error {
			return fetchFile(ctx, from, name+"/"+folderOf(s.Identity.Space)+"/"+f.Name, f, dir, log)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return disk.SyncDir(dir)
}

// fetchFile asks for a file until it has come as it should, or has not several times.
func fetchFile(
	ctx context.Context, from Target, name string, f File, dir string, log *slog.Logger,
) error {
	wait := pause
	for try := 1; ; try++ {
		err := copyFile(ctx, from, name, f, filepath.Join(dir, f.Name))
		if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) ||
			ctx.Err() != nil || try == tries {
			return err
		}
		log.Warn("a file of the snapshot did not come; trying again", "file", name, "error", err)
		select {
		case <-time.After(wait):
			wait *= 2
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// copyFile makes a local file of one of the snapshot, and compares the two by size and checksum.
func copyFile(ctx context.Context, from Target, name string, f File, path string) error {
	r, err := from.Get(ctx, name)
	if err != nil {
		return err
	}
	defer r.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	h := sha256.New()
	buffer := make([]byte, 1<<20)
	n, err := io.CopyBuffer(onlyWriter{io.MultiWriter(to, h)}, io.LimitReader(r, f.Size+1), buffer)
	if err := errors.Join(err, context.Cause(ctx), to.Sync(), to.Close()); err != nil {
		return err
	}
	switch found := hex.EncodeToString(h.Sum(nil)); {
	case n > f.Size:
		return fmt.Errorf("%w: %s has more than the %d bytes of its manifest", ErrDamaged, name, f.Size)
	case n < f.Size:
		return fmt.Errorf("%w: %s has %d bytes, and had %d", ErrDamaged, name, n, f.Size)
	case found != f.SHA256:
		return fmt.Errorf("%w: %s has the checksum %s, and had %s", ErrDamaged, name, found, f.SHA256)
	}
	return nil
}

// onlyWriter hides what else a writer can do, so that the buffer is used.
type onlyWriter struct{ io.Writer }

// replace puts a directory in the place of another, if that is there. Where the system can exchange
// the two, there is always one of them.
func replace(next, path string) error {
	if _, err := os.Lstat(path); err == nil {
		err = exchange(next, path)
		if errors.Is(err, errors.ErrUnsupported) {
			if err = os.RemoveAll(path); err == nil {
				err = os.Rename(next, path)
			}
		}
		return errors.Join(err, disk.SyncDir(filepath.Dir(path)))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(os.Rename(next, path), disk.SyncDir(filepath.Dir(path)))
}
