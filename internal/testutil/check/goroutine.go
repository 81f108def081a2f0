package check

import "testing"

// OneGoroutine says that one goroutine does all that a test does, beside no other test. It skips
// the test under the race detector, which finds nothing in it and takes ten times as long.
func OneGoroutine(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("one goroutine does all, so that there is no race to find")
	}
}
