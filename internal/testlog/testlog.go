// Package testlog is for tests that look at what goroutines and processes say while they run: a
// [Buffer] takes it in, and [Patience] is how long to wait for it.
package testlog

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// Patience is how long a test waits for what must come. Only a test that fails waits as long: it is much
// longer than anything takes on a busy machine.
const Patience = 2 * time.Minute

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

// String is all that was written so far.
func (b *Buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.String()
}

// WaitFor waits until text was written n times, and fails the test when it is not within [Patience].
func (b *Buffer) WaitFor(t testing.TB, text string, n int) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(Patience); strings.Count(b.String(), text) < n; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("after %v %q was not written %d times:\n%s", Patience, text, n, b)
		}
	}
}
