package singlepass

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// What contacts take of memory, for each centre that has one, and what it takes to find the oldest
// centre that has one: each a contact of its own, and all the same.
func BenchmarkContactIndex(b *testing.B) {
	const centres = 1_000_000
	for name, contact := range map[string]func(i int) string{
		"one each":   func(i int) string { return fmt.Sprintf("name:alexis%d", i) },
		"all of one": func(int) string { return "name:alexis17" },
	} {
		b.Run(name, func(b *testing.B) {
			before := liveHeap()
			x := newContactIndex(new(sync.Mutex), nil)
			for i := range centres {
				x.insert(Centre{
					Fingerprint: Fingerprint{Contacts: NewContacts([]string{contact(i)})}, Seq: uint64(i),
				})
			}
			bytes := float64(liveHeap()-before) / centres
			i := 0
			for b.Loop() {
				if _, ok := x.oldest(contact(i%centres), nil); !ok {
					b.Fatal("a contact is lost")
				}
				i++
			}
			b.ReportMetric(bytes, "B/centre")
		})
	}
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
