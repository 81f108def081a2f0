//go:build unix

package state_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clusterd/clusterd/internal/space/state"
)

// others lays out what somebody else has put into a state folder before clusterd starts. victim is
// a file that nobody but its owner may change.
func TestOpenDirOfSomebodyElse(t *testing.T) {
	link := func(name string) func(dir, victim string) error {
		return func(dir, victim string) error { return os.Symlink(victim, filepath.Join(dir, name)) }
	}
	for _, test := range []struct {
		name   string
		lay    func(dir, victim string) error
		root   bool   // only root can lay it
		refuse string // empty: it works
		warn   bool
	}{
		{name: "empty", lay: func(string, string) error { return nil }},
		{
			name: "readable by others", lay: func(dir, _ string) error { return os.Chmod(dir, 0o755) },
			warn: true,
		},
		{
			name: "writable by the group", lay: func(dir, _ string) error { return os.Chmod(dir, 0o770) },
			warn: true,
		},
		{
			name: "writable by all", lay: func(dir, _ string) error { return os.Chmod(dir, 0o777) },
			warn: true,
		},
		{name: "link at lock", lay: link("lock"), refuse: "lock is neither a file nor a folder"},
		{name: "link at instance", lay: link("instance"), refuse: "instance is neither"},
		{name: "link at instance.next", lay: link("instance.next"), refuse: "instance.next is neither"},
		{name: "link at a space", lay: link("space-all"), refuse: "space-all is neither"},
		{name: "link within a space", lay: func(dir, victim string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "space-all"), 0o700),
				link("space-all/MANIFEST-000001")(dir, victim))
		}, refuse: "MANIFEST-000001 is neither"},
		{
			name: "link to nothing",
			lay: func(dir, _ string) error {
				return os.Symlink("/nothing/there",
					filepath.Join(dir, "lock"))
			}, refuse: "lock is neither",
		},
		{name: "link within the folder", lay: func(dir,
			_ string,
		) error {
			return os.Symlink("lock", filepath.Join(dir, "instance.next"))
		}, refuse: "instance.next is neither"},
		{
			name: "link to a folder",
			lay: func(dir, victim string) error {
				return os.Symlink(filepath.Dir(victim),
					filepath.Join(dir, "space-0"))
			}, refuse: "space-0 is neither",
		},
		{
			name: "pipe at instance",
			lay: func(dir, _ string) error {
				return syscall.Mkfifo(filepath.Join(dir, "instance"),
					0o600)
			},
			refuse: "instance is neither",
		},
		{
			name:   "pipe at lock",
			lay:    func(dir, _ string) error { return syscall.Mkfifo(filepath.Join(dir, "lock"), 0o600) },
			refuse: "lock is neither",
		},
		{name: "hard link at instance.next", lay: func(dir,
			victim string,
		) error {
			return os.Link(victim, filepath.Join(dir, "instance.next"))
		}},
		{name: "hard link at instance", lay: func(dir,
			victim string,
		) error {
			return os.Link(victim, filepath.Join(dir, "instance"))
		}},
		{
			name: "hard link at lock",
			lay:  func(dir, victim string) error { return os.Link(victim, filepath.Join(dir, "lock")) },
		},
		{name: "somebody else's", root: true, lay: func(dir,
			_ string,
		) error {
			return os.Chown(dir, 12345, 12345)
		}, refuse: "belongs to user 12345"},
		{name: "somebody else's file in it", root: true, lay: func(dir, _ string) error {
			name := filepath.Join(dir, "instance")
			return errors.Join(os.WriteFile(name, []byte("x"), 0o600), os.Chown(name, 12345, 12345))
		}, refuse: "instance belongs to user 12345"},
		{name: "somebody else's space", root: true, lay: func(dir, _ string) error {
			name := filepath.Join(dir, "space-all")
			return errors.Join(os.Mkdir(name, 0o700), os.Chown(name, 12345, 12345))
		}, refuse: "space-all belongs to user 12345"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.root && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			top := t.TempDir()
			dir, victim := filepath.Join(top, "state"), filepath.Join(top, "victim")
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(victim, []byte("precious"), 0o600),
				test.lay(dir, victim)); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			d, err := state.OpenDir(dir, slog.New(slog.NewTextHandler(&log, nil)))
			switch {
			case test.refuse != "" && (err == nil || !strings.HasPrefix(err.Error(), "state.dir: ") ||
				!strings.Contains(err.Error(), test.refuse)):
				t.Errorf("error = %v, want %q", err, test.refuse)
			case test.refuse == "" && err != nil:
				t.Error(err)
			case err == nil:
				if name, start := d.Instance(); name == "" || start != 1 {
					t.Errorf("instance %q, start %d", name, start)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
				if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("mode %v, %v", info.Mode(), err)
				}
			}
			if warned := strings.Contains(log.String(), "level=WARN"); warned != test.warn {
				t.Errorf("log %q, want a warning: %t", &log, test.warn)
			}
			if text, err := os.ReadFile(victim); string(text) != "precious" {
				t.Errorf("the file that is none of clusterd's holds %q, %v", text, err)
			}
		})
	}
}

// A link at state.dir itself is whose folder it is says: that is how a disk is put in place.
func TestOpenDirThroughALink(t *testing.T) {
	top := t.TempDir()
	disk, link := filepath.Join(top, "disk"), filepath.Join(top, "state")
	if err := errors.Join(os.Mkdir(disk, 0o700), os.Symlink(disk, link)); err != nil {
		t.Fatal(err)
	}
	d, err := state.OpenDir(link, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := state.OpenDir(disk, slog.New(slog.DiscardHandler)); err == nil ||
		!strings.Contains(err.Error(), "belongs to another clusterd that runs") {
		t.Errorf("a second one: %v", err)
	}
}
