//go:build !race

package story

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

// A wire makes articles of a stream as wide as a news agency's: their words are as frequent as
// Zipf's law says, in a vocabulary of half a million.
type wire struct {
	*rand.Rand
	zipf  *rand.Zipf
	seq   uint64
	words Words
}

func newWire(seed uint64) *wire {
	random := rand.New(rand.NewPCG(seed, 6))
	return &wire{Rand: random, zipf: rand.NewZipf(random, 1.1, 20, 500_000)}
}

// article returns one of 110 words.
func (w *wire) article() Article {
	w.words.Reset()
	var word [8]byte
	for i := range 110 {
		n := w.zipf.Uint64()
		for k := range word {
			word[k] = byte(n >> (8 * k))
		}
		if i < 10 {
			w.words.Title(word[:])
		} else {
			w.words.Content(word[:])
		}
	}
	w.seq++
	return Article{
		Address:   fmt.Sprintf("articles/0/%d", w.seq),
		Seq:       w.seq,
		EventTime: int64(w.seq),
		Words:     w.words.Vector(),
	}
}

// filled returns a Space with so many stories that live, each restored as the rule would have
// founded it, and the heap that each takes.
func filled(tb testing.TB, n, terms int, w *wire) (s *Space, bytes float64) {
	o := Defaults()
	o.ArticleTerms = terms
	o.Window = time.Duration(n) * time.Millisecond
	s = New(o)
	before := liveHeap()
	for s.Len() < n {
		a := w.article()
		err := s.Put(Story{
			Address: a.Address, Seq: a.Seq, FirstSeen: a.EventTime, LastSeen: a.EventTime, Clusters: 1,
			Vector: s.weigh(a.Words, &s.query),
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return s, float64(liveHeap()-before) / float64(n)
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What it takes to say to which story an article belongs, of a million, and with a window that
// removes one for each that comes. To make the articles takes as long as that and more: mean-µs
// and p99-µs are without it.
func BenchmarkAssign(b *testing.B) {
	for _, c := range [][2]int{{10_000, 48}, {1_000_000, 48}, {1_000_000, 60}} {
		b.Run(fmt.Sprintf("%d of %d terms", c[0], c[1]), func(b *testing.B) {
			w := newWire(1)
			s, bytes := filled(b, c[0], c[1], w)
			var took []time.Duration
			sum := time.Duration(0)
			for b.Loop() {
				a := w.article()
				began := time.Now()
				s.Assign(a)
				took = append(took, time.Since(began))
				sum += took[len(took)-1]
				if len(took)%1000 == 0 {
					s.Seal()
					s.Commit()
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(sum.Microseconds())/float64(len(took)), "mean-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(bytes, "heap-B/story")
		})
	}
}

// What it takes to make the vector of a news article of 2 KB, with its words at hand: 330 of them.
func BenchmarkWords(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 10))
	zipf := rand.NewZipf(random, 1.1, 20, 500_000)
	words := make([][][]byte, 64)
	for i := range words {
		for range 330 {
			words[i] = append(words[i], fmt.Appendf(nil, "w%d", zipf.Uint64()))
		}
	}
	b.ReportAllocs()
	var w Words
	i := 0
	for b.Loop() {
		article := words[i%len(words)]
		i++
		w.Reset()
		for _, word := range article[:12] {
			w.Title(word)
		}
		for _, word := range article[12:] {
			w.Content(word)
		}
		if w.Vector() == "" {
			b.Fatal("an empty vector")
		}
	}
}
