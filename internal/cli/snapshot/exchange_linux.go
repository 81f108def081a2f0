package snapshot

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// exchange gives each of two directories the name of the other, in one step. The error is
// [errors.ErrUnsupported] where the file system cannot.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	if err != nil {
		return fmt.Errorf("exchanging %s and %s: %w", a, b, err)
	}
	return nil
}
