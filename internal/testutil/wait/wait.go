// Package wait is for tests that wait for what goroutines and processes do: for a condition, or for
// what they say, which a [Buffer] keeps.
package wait

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// Timeout is how long a test waits for what must come. Only a test that fails waits as long: it is
// much longer than anything takes on a busy machine.
const Timeout = 2 * time.Minute

// Until waits until a condition holds, and fails the test when it does not within [Timeout].
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !holds(condition) {
		t.Fatalf("still waiting after %v for %s", Timeout, what)
	}
}

// holds waits until a condition holds, and reports whether it does in the end.
func holds(condition func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(Timeout); !condition(); <-tick.C {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// Buffer is a buffer that several goroutines may write to and read from. The zero value is ready.
type Buffer struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

// Write adds to the buffer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.Write(p)
}

// String returns all that was written so far.
func (b *Buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.String()
}

// WaitFor waits until text was written n times, and fails the test when it is not within
// [Timeout].
func (b *Buffer) WaitFor(t testing.TB, text string, n int) {
	t.Helper()
	if !holds(func() bool { return strings.Count(b.String(), text) >= n }) {
		t.Fatalf("after %v %q was not written %d times:\n%s", Timeout, text, n, b)
	}
}
