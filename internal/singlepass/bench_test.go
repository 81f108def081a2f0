package singlepass

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// eachSize runs f as a sub-benchmark on indexes of distance 3 filled with uniform
// fingerprints, whose Seqs are 0 to size-1.
func eachSize(b *testing.B, f func(b *testing.B, r *rand.Rand, index Index, have []uint64)) {
	b.Helper()
	for _, kind := range []struct {
		name  string
		build func(distance int) Index
		sizes []int
	}{
		{"btree", NewBTree, []int{10_000, 100_000, 1_000_000}},
		{"linear", NewLinear, []int{10_000}},
	} {
		for _, size := range kind.sizes {
			b.Run(fmt.Sprintf("%s/%d", kind.name, size), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, uint64(size)))
				have := make([]uint64, size)
				for i := range have {
					have[i] = r.Uint64()
				}
				before := heapInUse()
				index := kind.build(3)
				for seq, fingerprint := range have {
					index.Insert(Centre{fingerprint, uint64(seq)})
				}
				perCentre := float64(heapInUse()-before) / float64(size)
				b.ReportAllocs()
				f(b, r, index, have)
				b.ReportMetric(perCentre, "bytes/centre")
				runtime.KeepAlive(index)
			})
		}
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkNearest asks for near-duplicates of known centres (up to 3 bits off) and
// for new fingerprints in turn.
func BenchmarkNearest(b *testing.B) {
	eachSize(b, func(b *testing.B, r *rand.Rand, index Index, have []uint64) {
		for near := false; b.Loop(); near = !near {
			query := r.Uint64()
			if near {
				query = flipped(r, have[query%uint64(len(have))], 3)
			}
			index.Nearest(query)
		}
	})
}

// BenchmarkInsertRemove puts a new centre in and takes an old one out, so that the size stays.
func BenchmarkInsertRemove(b *testing.B) {
	eachSize(b, func(b *testing.B, r *rand.Rand, index Index, have []uint64) {
		seq := uint64(len(have))
		for b.Loop() {
			at := seq % uint64(len(have))
			index.Remove(Centre{have[at], seq - uint64(len(have))})
			have[at] = r.Uint64()
			index.Insert(Centre{have[at], seq})
			seq++
		}
	})
}

// BenchmarkAssign is a stream of one article a millisecond, every other one near an
// article of the last minute; its metric says how many centres are live.
func BenchmarkAssign(b *testing.B) {
	const window = 200 * time.Second
	r := rand.New(rand.NewPCG(2, 2))
	recent := make([]uint64, 60_000)
	space := NewSpace(NewBTree(3), window)
	at := int64(0)
	assign := func() {
		fingerprint := r.Uint64()
		if at%2 == 1 {
			fingerprint = flipped(r, recent[fingerprint%uint64(len(recent))], 1)
		}
		recent[at%int64(len(recent))] = fingerprint
		space.Assign(fingerprint, at)
		at++
	}
	for at < 2*window.Milliseconds() {
		assign()
	}
	b.ReportAllocs()
	for b.Loop() {
		assign()
	}
	b.ReportMetric(float64(space.Len()), "centres")
}
