//go:build !race

package topics

import (
	"runtime"
	"slices"
	"testing"
)

// Headers take memory in proportion to how many of them may be kept, not to how many there are.
func TestManyHeadersTakeLittleMemory(t *testing.T) {
	const many = 4_000_000
	one := encoded(0, many, make([]byte, 2*many))
	none := encoded(0, many, slices.Concat([]byte{0}, varint(4*many), make([]byte, many)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, record := range [][]byte{one, none} {
		read(t, 64_000, record)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 3*many*4 {
		t.Errorf("%d bytes for %d headers", n, many)
	}
}
