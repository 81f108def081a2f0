//go:build race

package check

// Race reports whether the race detector is on. What one goroutine does takes some ten times as
// long under it, and repeating it finds no race that was not found before.
const Race = true
