//go:build !long

package check

// Long reports whether tests go through all that they could, even where it takes long. Without the
// build tag long they take a part of it.
const Long = false
