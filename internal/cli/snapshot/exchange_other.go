//go:build !linux

package snapshot

import "errors"

// exchange is what only Linux does.
func exchange(_, _ string) error { return errors.ErrUnsupported }
