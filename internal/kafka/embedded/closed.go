package embedded

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
)

// closedFile is there when the broker was closed in good order. It has the sizes of the files
// then: a clusterd that does not know of it may have worked on them since.
const closedFile = "clusterd.closed"

// markClosed notes that nothing needs to be recovered, when all is on the disk.
func markClosed(dir string) error {
	folders, err := partitionFolders(dir)
	if err != nil {
		return err
	}
	for _, folder := range append(folders, filepath.Join(dir, "partitions"), dir) {
		if err := syncDir(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	sizes, err := sizesOf(dir)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(sizes)
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(dir, closedFile), raw); err != nil {
		return err
	}
	return syncDir(dir)
}

// sizesOf returns the sizes of the files to which kfake appends.
func sizesOf(dir string) (map[string]int64, error) {
	var names []string
	for _, pattern := range []string{"*.log", filepath.Join("partitions", "*", "*.dat")} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	sizes := make(map[string]int64)
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return nil, err
		}
		sizes[filepath.ToSlash(relative)] = info.Size()
	}
	return sizes, nil
}

// wasClosed reports whether the broker was closed in good order, or has never run, and notes that
// it runs now.
func wasClosed(dir string) (bool, error) {
	if ran, err := isThere(filepath.Join(dir, "meta.json")); !ran || err != nil {
		return true, err
	}
	name := filepath.Join(dir, closedFile)
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		// A clusterd without such a file has closed it if kfake has left this one.
		return isThere(filepath.Join(dir, "session_state.json"))
	}
	if err != nil {
		return false, err
	}
	sizes, err := sizesOf(dir)
	if err != nil {
		return false, err
	}
	var noted map[string]int64
	closed := json.Unmarshal(raw, &noted) == nil && maps.Equal(noted, sizes)
	if err := os.Remove(name); err != nil {
		return false, err
	}
	return closed, syncDir(dir)
}
