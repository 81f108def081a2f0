package singlepass

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

var large = flag.Int("centres", 1_000_000, "centres in the largest index of a benchmark; 10000000 need 2 GB and some minutes")

// randomCentres returns uniform ones, whose Seqs are 0 to size-1.
func randomCentres(r *rand.Rand, size int) []Centre {
	all := make([]Centre, size)
	for i := range all {
		all[i] = Centre{r.Uint64(), uint64(i)}
	}
	return all
}

func insert(index Index, centres []Centre) {
	for _, c := range centres {
		index.Insert(c)
	}
}

// eachSize runs f as a sub-benchmark on indexes of distance 3, with the centres in them.
func eachSize(b *testing.B, f func(b *testing.B, r *rand.Rand, index Index, have []Centre)) {
	b.Helper()
	for _, kind := range []struct {
		name  string
		index func(distance int) Index
		put   func(Index, []Centre)
		sizes []int
	}{
		{"btree", NewBTree, insert, []int{10_000, 100_000, *large}},
		{"filled", NewBTree, Index.Fill, []int{10_000, 100_000, *large}},
		{"linear", NewLinear, insert, []int{10_000}},
	} {
		for _, size := range kind.sizes {
			b.Run(fmt.Sprintf("%s/%d", kind.name, size), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, uint64(size)))
				have := randomCentres(r, size)
				index := kind.index(3)
				kind.put(index, have)
				b.ReportAllocs()
				f(b, r, index, have)
			})
		}
	}
}

// BenchmarkNearest asks for near-duplicates of known centres (up to 3 bits off) and
// for new fingerprints in turn.
func BenchmarkNearest(b *testing.B) { benchmarkNearest(b, nil) }

// BenchmarkNearestLive is that with every fourth centre expired.
func BenchmarkNearestLive(b *testing.B) {
	benchmarkNearest(b, func(c Centre) bool { return c.Seq%4 != 0 })
}

func benchmarkNearest(b *testing.B, live func(Centre) bool) {
	b.Helper()
	eachSize(b, func(b *testing.B, r *rand.Rand, index Index, have []Centre) {
		for near := false; b.Loop(); near = !near {
			query := r.Uint64()
			if near {
				query = flipped(r, have[query%uint64(len(have))].Fingerprint, 3)
			}
			index.Nearest(query, live)
		}
	})
}

// BenchmarkInsertRemove puts a new centre in and takes another one out, so that the
// size stays.
func BenchmarkInsertRemove(b *testing.B) {
	eachSize(b, func(b *testing.B, r *rand.Rand, index Index, have []Centre) {
		for next := uint64(len(have)); b.Loop(); next++ {
			replace(r, index, have, next)
		}
	})
}

// replace takes one of the centres out, any one, and puts a new one in its place.
func replace(r *rand.Rand, index Index, have []Centre, seq uint64) {
	at := r.IntN(len(have))
	index.Remove(have[at])
	have[at] = Centre{r.Uint64(), seq}
	index.Insert(have[at])
}

// BenchmarkFill fills an index with many centres at once.
func BenchmarkFill(b *testing.B) {
	have := randomCentres(rand.New(rand.NewPCG(1, 1)), *large)
	b.ReportAllocs()
	for b.Loop() {
		NewBTree(3).Fill(have)
	}
}

// BenchmarkMemory measures what an index takes on the heap, after what may happen to it.
func BenchmarkMemory(b *testing.B) {
	size, more := *large, *large*3/10
	for _, test := range []struct {
		name string
		do   func(r *rand.Rand, index Index, all []Centre)
	}{
		{"inserted", func(_ *rand.Rand, index Index, all []Centre) { insert(index, all[:size]) }},
		{"filled", func(_ *rand.Rand, index Index, all []Centre) { index.Fill(all[:size]) }},
		{"filled, 30% more", func(_ *rand.Rand, index Index, all []Centre) {
			index.Fill(all[:size])
			insert(index, all[size:])
		}},
		{"filled, 30% more, as many out", func(r *rand.Rand, index Index, all []Centre) {
			index.Fill(all[:size])
			insert(index, all[size:])
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, c := range all[:more] {
				index.Remove(c)
			}
		}},
		{"filled, each replaced 5 times", func(r *rand.Rand, index Index, all []Centre) {
			index.Fill(all[:size])
			for next := range 5 * size {
				replace(r, index, all[:size], uint64(len(all)+next))
			}
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				r := rand.New(rand.NewPCG(1, 1))
				all := randomCentres(r, size+more)
				index := NewBTree(3)
				before := heapInUse()
				test.do(r, index, all)
				b.ReportMetric(perCentre(before, index), "B/centre")
				runtime.KeepAlive(all) // it was there before
			}
		})
	}
}

// BenchmarkAssign is a stream of one article a millisecond, every other one near an
// article of the last minute; expired centres go at once. Its metric says how many
// centres there are.
func BenchmarkAssign(b *testing.B) {
	const window = 200 * time.Second
	r := rand.New(rand.NewPCG(2, 2))
	recent := make([]uint64, 60_000)
	lastSeen := make(map[Centre]int64)
	joined := make([]Centre, window.Milliseconds()+1) // by event time modulo its length
	space := NewSpace(NewBTree(3), window, func(c Centre) int64 { return lastSeen[c] })
	at := int64(0)
	assign := func() {
		fingerprint := r.Uint64()
		if at%2 == 1 {
			fingerprint = flipped(r, recent[fingerprint%uint64(len(recent))], 1)
		}
		recent[at%int64(len(recent))] = fingerprint
		a := space.Assign(fingerprint, at)
		lastSeen[a.Centre] = at
		overdue := &joined[at%int64(len(joined))]
		if last, ok := lastSeen[*overdue]; ok && space.Expired(last) {
			space.Remove(*overdue)
			delete(lastSeen, *overdue)
		}
		*overdue = a.Centre
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
