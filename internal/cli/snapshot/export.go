package snapshot

import (
	"bufio"
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

	"github.com/clusterd/clusterd/internal/space/state"
)

const (
	// atOnce is how many files are on their way at a time.
	atOnce = 4
	// abandoned is how old what has no manifest must be to count as left behind: another export may be
	// at work.
	abandoned = 24 * time.Hour
)

// A Source makes a directory, which is not there, a copy of a space's store.
type Source func(ctx context.Context, dir string) (state.Copy, error)

// Options are what an export takes from outside.
type Options struct {
	To      Target
	Scratch string // a directory for copies, best on the file system of the stores
	Version string // of clusterd
	Log     *slog.Logger
	Now     func() time.Time
}

// Export writes a snapshot of these spaces. After an error, what was written has no manifest.
func Export(ctx context.Context, sources []Source, o Options) (*Manifest, error) {
	now := o.Now().UTC()
	m := &Manifest{Format: format, Name: now.Format(nameLayout), Made: now, By: o.Version}
	scratch, err := os.MkdirTemp(o.Scratch, "export-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := os.RemoveAll(scratch); err != nil {
			o.Log.Warn("a copy that is not needed any more cannot be removed", "dir", scratch, "error", err)
		}
	}()
	if _, err := Read(ctx, o.To, m.Name); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("%s has a snapshot %s already", o.To, m.Name), err)
	}
	for i, source := range sources {
		dir := filepath.Join(scratch, fmt.Sprint(i))
		copied, err := source(ctx, dir)
		if err != nil {
			return nil, err
		}
		s := Space{Copy: copied}
		folder := m.Name + "/" + folderOf(copied.Identity.Space)
		if s.Files, err = putAll(ctx, o.To, folder, dir); err != nil {
			return nil, fmt.Errorf("writing snapshot %s: %w", m.Name, err)
		}
		m.Spaces = append(m.Spaces, s)
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	return m, putManifest(ctx, o.To, m, scratch)
}

func putManifest(ctx context.Context, to Target, m *Manifest, scratch string) error {
	data, err := m.seal()
	if err != nil {
		return err
	}
	path := filepath.Join(scratch, manifestName)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	if err := to.Put(ctx, m.Name+"/"+manifestName, path); err != nil {
		return fmt.Errorf("writing snapshot %s: %w", m.Name, err)
	}
	return nil
}

// putAll writes the files of a directory.
func putAll(ctx context.Context, to Target, folder, dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := make([]File, len(entries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, entry := range entries {
		group.Go(func() (err error) {
			path := filepath.Join(dir, entry.Name())
			if files[i], err = describe(path); err != nil {
				return err
			}
			return to.Put(ctx, folder+"/"+entry.Name(), path)
		})
	}
	return files, group.Wait()
}

func describe(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, bufio.NewReaderSize(f, 1<<20))
	return File{filepath.Base(path), n, hex.EncodeToString(h.Sum(nil))}, err
}

// Prune removes the snapshots of the same spaces as the one that is kept, but for the newest so
// many, and what was left behind by exports that did not end. It returns how many snapshots it
// removed. What it cannot read, it leaves.
func Prune(
	ctx context.Context, from Target, kept *Manifest, newest int, log *slog.Logger,
) (removed int, err error) {
	names, err := Names(ctx, from)
	if err != nil {
		return 0, err
	}
	found := 0
	for i := len(names) - 1; i >= 0; i-- {
		m, err := Read(ctx, from, names[i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if !old(names[i], kept.Made) {
				continue
			}
		case err != nil:
			log.Warn("a snapshot cannot be read, and is left as it is", "snapshot", names[i], "error", err)
			continue
		case !sameSpaces(m, kept):
			continue
		default:
			if found++; found <= newest {
				continue
			}
			removed++
		}
		if err := from.Remove(ctx, names[i], manifestName); err != nil {
			return removed, fmt.Errorf("removing snapshot %s: %w", names[i], err)
		}
	}
	return removed, nil
}

// old reports whether whoever began what has this name is not at it any more.
func old(name string, now time.Time) bool {
	began, err := time.Parse(nameLayout, name)
	return err == nil && now.Sub(began) > abandoned
}

// sameSpaces reports whether two snapshots are of the same group of the same Kafka cluster.
func sameSpaces(a, b *Manifest) bool {
	x, y := a.Spaces[0].Identity, b.Spaces[0].Identity
	return x.Kafka == y.Kafka && x.Clusters == y.Clusters && x.Input == y.Input && x.Group == y.Group
}
