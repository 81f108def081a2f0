package state_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/space/state"
)

func TestForeign(t *testing.T) {
	disk := vfs.NewMem()
	s, m := open(t, disk), newModel()
	if err := m.apply(s, 1, []cluster.Cluster{founded(1, 100)}, nil); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	for name, change := range map[string]func(*state.Identity){
		"kafka":    func(i *state.Identity) { i.Kafka = "other" },
		"clusters": func(i *state.Identity) { i.Clusters = "other" },
		"input":    func(i *state.Identity) { i.Input = "other" },
		"group":    func(i *state.Identity) { i.Group = "other" },
		"space":    func(i *state.Identity) { i.Space = "other" },
		"pipeline": func(i *state.Identity) { i.Pipeline = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			other := identity()
			change(&other)
			s, err := state.Open(dir, other, options(disk))
			if !errors.Is(err, state.ErrForeign) || s != nil || !strings.Contains(err.Error(), "other") {
				t.Errorf("Open = %v, want it to be foreign, and why", err)
			}
		})
	}
	s = open(t, disk) // it is left as it was
	m.check(t, s)
	closeStore(t, s)
}

func TestInUse(t *testing.T) {
	for name, disk := range map[string]vfs.FS{"memory": vfs.NewMem(), "disk": vfs.Default} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "space-all")
			first, err := state.Open(dir, identity(), options(disk))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := state.Open(dir, identity(), options(disk)); err == nil || refused(err) {
				t.Errorf("a second Open = %v, want an error, but not one that has the store removed", err)
			}
			closeStore(t, first)
		})
	}
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "space-all")
	for range 2 {
		cache := state.NewCache()
		s, err := state.Open(dir, identity(), state.Options{Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		if m := newModel(); m.apply(s, 1, []cluster.Cluster{founded(1, 1)}, nil) != nil || s.Len() != 1 {
			t.Fatalf("%d clusters, want 1", s.Len())
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("mode = %v, %v, want 0700", info.Mode(), err)
		}
		closeStore(t, s)
		cache.Release()
		if err := state.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v, want no folder any more", err)
		}
	}
	if err := state.Remove(filepath.Join(dir, "never", "there")); err != nil {
		t.Errorf("removing what is not there: %v", err)
	}
}

func TestFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := state.Open(filepath.Join(file, "space"), identity(), state.Options{})
	if err == nil || refused(err) || !strings.Contains(err.Error(), file) {
		t.Errorf("error = %v, want one that names %s", err, file)
	}
}

// A description in another format, or none at all, is refused.
func TestOtherFormat(t *testing.T) {
	for name, tt := range map[string]struct {
		old, new string
		want     error
	}{
		"another version": {`{"version":2`, `{"version":1`, state.ErrForeign},
		"no JSON":         {`{"version":2`, `["version":2`, state.ErrDamaged},
		"another type":    {`"live":1`, `"live":{`, state.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			disk := vfs.NewMem()
			s, m := open(t, disk), newModel()
			if err := m.apply(s, 1, []cluster.Cluster{founded(1, 100)}, nil); err != nil {
				t.Fatal(err)
			}
			closeStore(t, s)
			rewriteHeader(t, disk,
				func(value []byte) []byte { return bytes.Replace(value, []byte(tt.old), []byte(tt.new), 1) })
			if _, err := state.Open(dir, identity(), options(disk)); !errors.Is(err, tt.want) {
				t.Errorf("error = %v, want %v", err, tt.want)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		disk := vfs.NewMem()
		s, m := open(t, disk), newModel()
		if err := m.apply(s, 1, []cluster.Cluster{founded(1, 100)}, nil); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		rewriteHeader(t, disk, func([]byte) []byte { return nil })
		if _, err := state.Open(dir, identity(), options(disk)); !errors.Is(err, state.ErrDamaged) {
			t.Errorf("error = %v, want it to be damaged", err)
		}
	})
}
