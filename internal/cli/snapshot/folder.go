package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/clusterd/clusterd/internal/space/disk"
)

// folder is a directory of the local disk, or one that is mounted.
type folder string

func (f folder) String() string { return string(f) }

func (f folder) path(name string) (string, error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return "", fmt.Errorf("%q is no name of a file in %s", name, f)
	}
	return filepath.Join(string(f), local), nil
}

// Put writes beside the name and renames.
func (f folder) Put(ctx context.Context, name, path string) error {
	to, err := f.path(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	next, err := os.CreateTemp(filepath.Dir(to), ".next-")
	if err != nil {
		return err
	}
	_, err = io.Copy(next, from)
	if err = errors.Join(err, next.Sync(), next.Close(), context.Cause(ctx)); err == nil {
		err = os.Rename(next.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return disk.SyncDir(filepath.Dir(to))
}

func (f folder) Get(_ context.Context, name string) (io.ReadCloser, error) {
	path, err := f.path(name)
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

func (f folder) Folders(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

func (f folder) Remove(_ context.Context, name, first string) error {
	path, err := f.path(name)
	if err != nil {
		return err
	}
	err = os.Remove(filepath.Join(path, first))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = os.RemoveAll(path)
	}
	return err
}
