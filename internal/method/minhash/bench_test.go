package minhash

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

var large = flag.Int("centres", 1_000_000,
	"centres in the largest index of a benchmark; 10000000 need 3 GB and some minutes")

// newDefault returns an index of the shape that it has by default, with a rule of containment.
func newDefault(rule jaccard.Rule) *index {
	return newIndex(128, float64(mayDiffer(128, DefaultSimilarity))/128, 0.999, rule)
}

// rules are those that benchmarks compare: off and on.
var rules = []jaccard.Rule{{}, {Containment: .9}}

// signatureOf returns always the same signature for a number, so that benchmarks need not keep
// them.
func signatureOf(number uint64) []byte {
	signature := make([]byte, 128)
	for i := 0; i < len(signature); i += 8 {
		for j := range 8 {
			signature[i+j] = byte(random(number, uint64(i)) >> (8 * j))
		}
	}
	return signature
}

func centreOf(number uint64) singlepass.Centre {
	return singlepass.Centre{Fingerprint: fingerprintOf(signatureOf(number)), Seq: number}
}

// centresFrom yields the centres of the numbers from first up to end.
func centresFrom(first, end int) func(yield func(singlepass.Centre) bool) {
	return func(yield func(singlepass.Centre) bool) {
		for i := first; i < end && yield(centreOf(uint64(i))); i++ {
		}
	}
}

func insert(index *index, first, end int) {
	for c := range centresFrom(first, end) {
		index.Insert(c)
	}
}

func remove(b *testing.B, index *index, c singlepass.Centre) {
	b.Helper()
	if !index.Remove(c) {
		b.Fatalf("%d is not there to remove", c.Seq)
	}
}

func eachSize(b *testing.B, f func(b *testing.B, size int, index *index)) {
	b.Helper()
	for _, size := range slices.Compact([]int{10_000, 100_000, *large}) {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			index := newDefault(jaccard.Rule{})
			index.BulkLoad(size, centresFrom(0, size))
			b.ReportAllocs()
			f(b, size, index)
		})
	}
}

// sized returns the fingerprint of a signature in a sketch that has the number of shingles too.
func sized(signature []byte) singlepass.Fingerprint {
	return fingerprintOf(binary.LittleEndian.AppendUint32(slices.Clone(signature), 1000))
}

// BenchmarkContainment asks what BenchmarkNearest does, with containment off and on, and measures
// what a centre takes.
func BenchmarkContainment(b *testing.B) {
	for _, rule := range rules {
		print := fingerprintOf
		if rule.Counts() {
			print = sized
		}
		for _, size := range slices.Compact([]int{10_000, 100_000, *large}) {
			b.Run(fmt.Sprintf("containment=%v/%d", rule.Containment, size), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				queries := make([]singlepass.Fingerprint, 1<<14)
				for i := range queries {
					queries[i] = print(randomSignature(r, 128))
					if i%2 == 1 {
						queries[i] = print(changed(r, signatureOf(r.Uint64N(uint64(size))), 16))
					}
				}
				before, index := heapInUse(), newDefault(rule)
				index.BulkLoad(size, func(yield func(singlepass.Centre) bool) {
					for i := range uint64(size) {
						if !yield(singlepass.Centre{Fingerprint: print(signatureOf(i)), Seq: i}) {
							return
						}
					}
				})
				taken, next := heapInUse()-before, 0
				for b.Loop() {
					index.Nearest(queries[next%len(queries)], nil)
					next++
				}
				b.ReportMetric(float64(index.Candidates())/float64(next), "candidates/op")
				b.ReportMetric(float64(taken)/float64(size), "B/centre")
			})
		}
	}
}

// BenchmarkNearest asks for changed copies of centres, an eighth of whose components differ, and
// for what is like no centre, in turn.
func BenchmarkNearest(b *testing.B) {
	eachSize(b, func(b *testing.B, size int, index *index) {
		r := rand.New(rand.NewPCG(1, 1))
		queries := make([]singlepass.Fingerprint, 1<<14)
		for i := range queries {
			queries[i] = fingerprintOf(randomSignature(r, 128))
			if i%2 == 1 {
				queries[i] = fingerprintOf(changed(r, signatureOf(r.Uint64N(uint64(size))), 16))
			}
		}
		next := 0
		for b.Loop() {
			index.Nearest(queries[next%len(queries)], nil)
			next++
		}
	})
}

// BenchmarkInsertRemove puts a new centre in and takes the oldest out.
func BenchmarkInsertRemove(b *testing.B) {
	eachSize(b, func(b *testing.B, size int, index *index) {
		for next := uint64(size); b.Loop(); next++ {
			index.Insert(centreOf(next))
			remove(b, index, centreOf(next-uint64(size)))
		}
	})
}

// BenchmarkTemplates asks in an index of centres that are all filled-in forms of ten templates: two
// of the same one agree in 60 % of components, which is not enough to be the same, but makes them
// share bands.
func BenchmarkTemplates(b *testing.B) {
	const size = 100_000
	r := rand.New(rand.NewPCG(2, 2))
	form := func() []byte {
		signature := signatureOf(r.Uint64N(10))
		for i := range signature {
			if r.Float64() < 0.225 { // .775² is .6
				signature[i] = byte(r.Uint32())
			}
		}
		return signature
	}
	index, all := newDefault(jaccard.Rule{}), make([]singlepass.Centre, size)
	for i := range all {
		all[i] = singlepass.Centre{Fingerprint: fingerprintOf(form()), Seq: uint64(i)}
	}
	index.BulkLoad(size, slices.Values(all))
	b.Run("nearest", func(b *testing.B) {
		before, queries := index.Candidates(), 0
		for b.Loop() {
			index.Nearest(fingerprintOf(form()), nil)
			queries++
		}
		b.ReportMetric(float64(index.Candidates()-before)/float64(queries), "candidates/op")
	})
	b.Run("replace", func(b *testing.B) {
		for next := uint64(size); b.Loop(); next++ {
			at := &all[next%size]
			remove(b, index, *at)
			*at = singlepass.Centre{Fingerprint: fingerprintOf(form()), Seq: next}
			index.Insert(*at)
		}
	})
}

// BenchmarkMemory measures what an index takes on the heap, after what may happen to it. What is
// left has every number from some on, or all but some.
func BenchmarkMemory(b *testing.B) {
	for _, test := range []struct {
		name string
		do   func(b *testing.B, index *index, size int)
	}{
		{"inserted", func(_ *testing.B, index *index, size int) { insert(index, 0, size) }},
		{"filled", func(_ *testing.B, index *index,
			size int,
		) {
			index.BulkLoad(size, centresFrom(0, size))
		}},
		{"30% more, as many out", func(b *testing.B, index *index, size int) {
			insert(index, 0, size+size*3/10)
			for c := range centresFrom(0, size*3/10) {
				remove(b, index, c)
			}
		}},
		{"30% replaced", func(b *testing.B, index *index, size int) {
			insert(index, 0, size)
			for i := range size * 3 / 10 {
				index.Insert(centreOf(uint64(size + i)))
				remove(b, index, centreOf(uint64(i)))
			}
		}},
	} {
		for _, size := range slices.Compact([]int{10_000, 10_241, 100_000, *large}) {
			b.Run(fmt.Sprintf("%s/%d", test.name, size), func(b *testing.B) {
				for b.Loop() {
					before := heapInUse()
					index := newDefault(jaccard.Rule{})
					test.do(b, index, size)
					b.ReportMetric(float64(heapInUse()-before)/float64(index.Len()), "B/centre")
					runtime.KeepAlive(index)
				}
			})
		}
	}
}

// heapInUse returns the bytes on the heap that are not garbage.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // what a finalizer or a pool held back
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkFingerprint makes fingerprints of texts of random characters, and of those that take
// more rounds or are longer than they are rich.
func BenchmarkFingerprint(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 4))
	chinese := func(n int) string {
		var s strings.Builder
		for range n {
			s.WriteRune('一' + r.Int32N(5000))
		}
		return s.String()
	}
	cleaner, err := text.NewCleaner(text.CleanOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for _, test := range []struct{ name, text string }{
		{"comment of 16", chinese(16)},
		{"report of 150", chinese(150)},
		{"article of 1500", chinese(1500)},
		{"a megabyte of dashes", "a" + strings.Repeat("-", 1<<20)},
	} {
		for _, signature := range []string{"fast", "permutation", "functions"} {
			b.Run(test.name+"/"+signature, func(b *testing.B) {
				m, err := New(Options{
					Shingles: shingling.Shingles{Cleaner: cleaner, Size: 5}, Signature: signature, Hashes: 128,
					Recall: 0.999,
				})
				if err != nil {
					b.Fatal(err)
				}
				fingerprint := m.NewFingerprinter()
				b.SetBytes(int64(len(test.text)))
				b.ReportAllocs()
				for b.Loop() {
					fingerprint("", test.text)
				}
			})
		}
	}
}

// BenchmarkOptions makes fingerprints of a report and of an article, with what a configuration may
// add to shingles.
func BenchmarkOptions(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 4))
	chinese := func(n int) string {
		letters := make([]rune, n)
		for i := range letters {
			letters[i] = '一' + r.Int32N(5000)
		}
		return string(letters)
	}
	cleaner, err := text.NewCleaner(text.CleanOptions{})
	if err != nil {
		b.Fatal(err)
	}
	title, contents := chinese(20), map[string]string{
		"report of 150": chinese(150), "article of 1500": chinese(1500),
	}
	for _, of := range []string{"report of 150", "article of 1500"} {
		for _, test := range []struct {
			name   string
			change func(*Options)
		}{
			{"none", func(*Options) {}},
			{"containment", func(o *Options) { o.Rule.Containment = .9 }},
			{"long similarity", func(o *Options) { o.Rule.LongSimilarity = .7 }},
			{"titles", func(o *Options) { o.Shingles.WeighTitles = true }},
			{"numbers", func(o *Options) { o.Shingles.TellNumbers = true }},
		} {
			b.Run(of+"/"+test.name, func(b *testing.B) {
				o := Options{
					Shingles: shingling.Shingles{Cleaner: cleaner, Size: 5}, Signature: "fast", Hashes: 128,
					Recall: 0.999,
				}
				test.change(&o)
				m, err := New(o)
				if err != nil {
					b.Fatal(err)
				}
				fingerprint := m.NewFingerprinter()
				b.ReportAllocs()
				for b.Loop() {
					fingerprint(title, contents[of])
				}
			})
		}
	}
}
