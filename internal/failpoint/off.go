//go:build !failpoints

package failpoint

// Hit reports that the program is at a point. It returns nil.
func Hit(string) error { return nil }

// Seeded reports whether a bug is seeded: never.
func Seeded(string) bool { return false }
