package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
)

// A directory that is not there yet is looked at where it will be made.
func TestExisting(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		dir: dir, filepath.Join(dir, "a"): dir, filepath.Join(dir, "a", "b"): dir,
	} {
		if got := existing(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// A state that cannot be written, or does not fit, is a failure; the doctor leaves nothing behind.
func TestDisk(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, dir string
		bytes     int
		found, do string
	}{
		{"no directory", file, 0, "not a directory", "change state.dir"},
		{"too small", dir, 1 << 60, "and wants 1073741825.0 GiB", "lower serve.bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := examination{config: config.Default()}
			e.config.State.Dir, e.config.Serve.Bytes = tt.dir, tt.bytes
			e.checkDisk()
			wantOne(t, e.report.Checks, Failure, tt.found, tt.do)
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want the file alone", left, err)
	}
}
