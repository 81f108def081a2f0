package wait

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

// CopyDir returns a copy of a directory, as a crash would leave it. While it is made, a store that
// works may delete a file that was just listed: then it is made again.
func CopyDir(t testing.TB, from string) (to string) {
	t.Helper()
	Until(t, "a copy of "+from, func() bool {
		to = t.TempDir()
		err := os.CopyFS(to, os.DirFS(from))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	})
	return to
}
