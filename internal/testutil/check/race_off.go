//go:build !race

package check

// Race reports whether the race detector is on. Repeating a test under it finds no race that was
// not found before.
const Race = false
