package state

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func openDir(t *testing.T, path string) (name string, start int) {
	t.Helper()
	d, err := OpenDir(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return d.Instance()
}

// An instance has the same name at each start, and another one than others.
func TestInstance(t *testing.T) {
	dir := t.TempDir()
	name, start := openDir(t, dir)
	if name == "" || start != 1 {
		t.Errorf("at first %q, start %d", name, start)
	}
	if again, start := openDir(t, dir); again != name || start != 2 {
		t.Errorf("%q, start %d; want %q, start 2", again, start, name)
	}
	if other, _ := openDir(t, t.TempDir()); other == name {
		t.Errorf("two instances are called %q", name)
	}
}

// A file that says nothing, as after a crash of the machine, makes it another instance.
func TestInstanceWithoutAName(t *testing.T) {
	for _, text := range []string{
		"", "{", "null", `{"starts": 7}`, `{"instance": 1}`,
		`{"instance": "one", "starts": -1}`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "instance"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		name, start := openDir(t, dir)
		if name == "" || start != 1 {
			t.Errorf("%q: %q, start %d", text, name, start)
		}
		if again, _ := openDir(t, dir); again != name {
			t.Errorf("%q: %q, then %q", text, name, again)
		}
	}
}
