package hamming

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/singlepass"
)

var large = flag.Int("centres", 1_000_000,
	"centres in the largest index of a benchmark; 10000000 need 2 GB and some minutes")

// randomCentres returns uniform ones, whose Seqs are 0 to size-1.
func randomCentres(r *rand.Rand, size int) []Point {
	all := make([]Point, size)
	for i := range all {
		all[i] = Point{r.Uint64(), uint64(i)}
	}
	return all
}

func insert(index Index, centres []Point) {
	for _, c := range centres {
		index.Insert(c)
	}
}

func fill(index Index, centres []Point) { index.BulkLoad(slices.Clone(centres)) }

// eachSize runs f as a sub-benchmark on indexes of distance 3, with the centres in them.
func eachSize(b *testing.B, f func(b *testing.B, r *rand.Rand, index Index, have []Point)) {
	b.Helper()
	for _, kind := range []struct {
		name  string
		index func(distance int) Index
		put   func(Index, []Point)
		sizes []int
	}{
		{"btree", NewBTree, insert, []int{10_000, 100_000, *large}},
		{"btree filled", NewBTree, fill, []int{10_000, 100_000, *large}},
		{"mih", NewMIH, insert, []int{10_000, 100_000, *large}},
		{"mih filled", NewMIH, fill, []int{10_000, 100_000, *large}},
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

// BenchmarkNearestLive measures the same with every fourth centre expired.
func BenchmarkNearestLive(b *testing.B) {
	benchmarkNearest(b, func(c Point) bool { return c.Seq%4 != 0 })
}

func benchmarkNearest(b *testing.B, live func(Point) bool) {
	b.Helper()
	eachSize(b, func(b *testing.B, r *rand.Rand, index Index, have []Point) {
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
	eachSize(b, func(b *testing.B, r *rand.Rand, index Index, have []Point) {
		for next := uint64(len(have)); b.Loop(); next++ {
			replace(r, index, have, next)
		}
	})
}

// replace takes one of the centres out, any one, and puts a new one in its place.
func replace(r *rand.Rand, index Index, have []Point, seq uint64) {
	at := r.IntN(len(have))
	index.Remove(have[at])
	have[at] = Point{r.Uint64(), seq}
	index.Insert(have[at])
}

// BenchmarkFill fills an index with many centres at once.
func BenchmarkFill(b *testing.B) {
	eachKind(b, func(b *testing.B, build func(distance int) Index) {
		have := randomCentres(rand.New(rand.NewPCG(1, 1)), *large)
		b.ReportAllocs()
		for b.Loop() {
			build(3).BulkLoad(have)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(*large), "ns/centre")
	})
}

// BenchmarkGrow inserts many centres one by one and then asks for some of them. Its
// metrics say how long an insertion took, the longest, how many took more than a
// millisecond, how long a query took, every other one near a centre, and what the index
// takes on the heap.
func BenchmarkGrow(b *testing.B) {
	eachKind(b, func(b *testing.B, build func(distance int) Index) {
		const queries = 200_000
		var growing, longest, asking time.Duration
		var long int
		for b.Loop() {
			r := rand.New(rand.NewPCG(1, 1))
			some := make([]uint64, queries/2)
			before := heapInUse()
			index := build(3)
			started := time.Now()
			for seq, last := uint64(0), started; seq < uint64(*large); seq++ {
				c := Point{r.Uint64(), seq}
				some[seq%uint64(len(some))] = c.Fingerprint
				index.Insert(c)
				now := time.Now()
				longest = max(longest, now.Sub(last))
				if now.Sub(last) > time.Millisecond {
					long++
				}
				last = now
			}
			growing += time.Since(started)
			b.ReportMetric(perCentre(before, index), "B/centre")
			started = time.Now()
			for _, fingerprint := range some {
				index.Nearest(flipped(r, fingerprint, 3), nil)
				index.Nearest(r.Uint64(), nil)
			}
			asking += time.Since(started)
		}
		each := func(d time.Duration, n int) float64 { return float64(d) / float64(b.N) / float64(n) }
		b.ReportMetric(each(growing, *large), "ns/insert")
		b.ReportMetric(longest.Seconds()*1000, "longest-ms")
		b.ReportMetric(float64(long)/float64(b.N), "over-1ms")
		b.ReportMetric(each(asking, queries), "ns/query")
	})
}

func eachKind(b *testing.B, f func(b *testing.B, build func(distance int) Index)) {
	b.Helper()
	b.Run("btree", func(b *testing.B) { f(b, NewBTree) })
	b.Run("mih", func(b *testing.B) { f(b, NewMIH) })
}

// BenchmarkMemory measures what an index takes on the heap, after what may happen to it.
func BenchmarkMemory(b *testing.B) {
	size, more := *large, *large*3/10
	for _, test := range []struct {
		name string
		do   func(r *rand.Rand, index Index, all []Point)
	}{
		{"inserted", func(_ *rand.Rand, index Index, all []Point) { insert(index, all[:size]) }},
		{"filled", func(_ *rand.Rand, index Index, all []Point) { fill(index, all[:size]) }},
		{"filled, 30% more", func(_ *rand.Rand, index Index, all []Point) {
			fill(index, all[:size])
			insert(index, all[size:])
		}},
		{"filled, 30% more, as many out", func(r *rand.Rand, index Index, all []Point) {
			fill(index, all[:size])
			insert(index, all[size:])
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, c := range all[:more] {
				index.Remove(c)
			}
		}},
		{"filled, each replaced 5 times", func(r *rand.Rand, index Index, all []Point) {
			fill(index, all[:size])
			for next := range 5 * size {
				replace(r, index, all[:size], uint64(len(all)+next))
			}
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			eachKind(b, func(b *testing.B, build func(distance int) Index) {
				for b.Loop() {
					r := rand.New(rand.NewPCG(1, 1))
					all := randomCentres(r, size+more)
					index := build(3)
					before := heapInUse()
					test.do(r, index, all)
					b.ReportMetric(perCentre(before, index), "B/centre")
					runtime.KeepAlive(all) // it was there before
				}
			})
		})
	}
}

// BenchmarkAssign measures a stream of one article a millisecond, every other one near an
// article of the last minute; expired centres go at once. Its metric says how many
// centres there are.
func BenchmarkAssign(b *testing.B) { eachKind(b, benchmarkAssign) }

func benchmarkAssign(b *testing.B, build func(distance int) Index) {
	b.Helper()
	const window = 200 * time.Second
	r := rand.New(rand.NewPCG(2, 2))
	recent := make([]uint64, 60_000)
	lastSeen := make(map[uint64]int64)
	joined := make([]singlepass.Centre, window.Milliseconds()+1) // by event time modulo its length
	space := singlepass.NewSpace(Centres(build(3)), singlepass.Rule{Window: window},
		func(seq uint64) int64 { return lastSeen[seq] })
	at := int64(0)
	assign := func() {
		fingerprint := r.Uint64()
		if at%2 == 1 {
			fingerprint = flipped(r, recent[fingerprint%uint64(len(recent))], 1)
		}
		recent[at%int64(len(recent))] = fingerprint
		a := space.Assign(singlepass.Fingerprint{Hash: fingerprint}, at)
		lastSeen[a.Centre.Seq] = at
		overdue := &joined[at%int64(len(joined))]
		if last, ok := lastSeen[overdue.Seq]; ok && space.Expired("", last) {
			space.Remove(*overdue)
			delete(lastSeen, overdue.Seq)
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

// BenchmarkStream measures what a Space does without a window: every other query is near a
// centre, the others are new and inserted at once.
func BenchmarkStream(b *testing.B) {
	eachSize(b, func(b *testing.B, r *rand.Rand, index Index, have []Point) {
		before, queries, seq := index.Candidates(), 0, uint64(len(have))
		for near := false; b.Loop(); near = !near {
			query := r.Uint64()
			if near {
				query = flipped(r, have[query%uint64(len(have))].Fingerprint, 3)
			}
			if _, _, ok := index.Nearest(query, nil); !ok {
				index.Insert(Point{query, seq})
				seq++
			}
			queries++
		}
		b.ReportMetric(float64(index.Candidates()-before)/float64(queries), "candidates/op")
	})
}

// BenchmarkSkewed asks for what is near centres the fingerprints of which are uneven.
func BenchmarkSkewed(b *testing.B) {
	for name, next := range skewed() {
		b.Run(name, func(b *testing.B) {
			eachKind(b, func(b *testing.B, build func(distance int) Index) {
				r := rand.New(rand.NewPCG(6, 6))
				index := build(3)
				index.BulkLoad(centresOf(r, next, *large))
				queries := 0
				for b.Loop() {
					index.Nearest(flipped(r, next(r, nil), queries%4), nil)
					queries++
				}
				b.ReportMetric(float64(index.Candidates())/float64(queries), "candidates/op")
			})
		})
	}
}
