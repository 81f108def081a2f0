// Package golden holds what tests made to files that say what it should be, and rewrites those
// files when the tests are run with -update.
package golden

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Check holds got to the file at path, or writes it there with -update.
func Check(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) == string(want) {
		return
	}
	if !utf8.Valid(got) {
		got = fmt.Appendf(nil, "%d bytes", len(got))
	}
	t.Errorf("%s differs; see the change with -update and git diff; got:\n%s", path, got)
}

// Picture writes a picture to path with -update. Without, it wants one to be there, and does not
// compare them: what a browser draws differs from machine to machine.
func Picture(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
