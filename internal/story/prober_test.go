package story

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomVector has so many terms of few, so that two of them have some in common.
func randomVector(r *rand.Rand, n int) Vector {
	terms := make([]weighted, 0, n)
	for _, term := range r.Perm(4 * (n + 1))[:n] {
		terms = append(terms, weighted{uint32(term) * 512 >> r.IntN(10), 1 + r.Uint64N(maxWeight)})
	}
	slices.SortFunc(terms, func(a, b weighted) int { return int(a.term) - int(b.term) })
	terms = slices.CompactFunc(terms, func(a, b weighted) bool { return a.term == b.term })
	return vectorOf(terms, len(terms))
}

// A prober's products are those of a merge.
func TestProberIsDot(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var p prober
	above := 0
	for range 2000 {
		v := randomVector(r, r.IntN(probeMost+20))
		p.set(v)
		for range 3 {
			w := randomVector(r, r.IntN(300))
			got, want := p.dot(w), v.dot(w)
			if got != want {
				t.Fatalf("%x by %x is %d, want %d", v, w, got, want)
			}
			if got > 0 {
				above++
			}
		}
	}
	if above < 1000 {
		t.Errorf("%d products are above 0: the test shows little", above)
	}
}

func BenchmarkDot(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	v := randomVector(r, 48)
	var stories []Vector
	for range 32 {
		stories = append(stories, randomVector(r, 256))
	}
	var p prober
	b.Run("merge", func(b *testing.B) {
		for b.Loop() {
			for _, s := range stories {
				v.dot(s)
			}
		}
	})
	b.Run("prober", func(b *testing.B) {
		for b.Loop() {
			p.set(v)
			for _, s := range stories {
				p.dot(s)
			}
		}
	})
}
