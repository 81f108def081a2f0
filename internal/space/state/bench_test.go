package state_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/state"
)

// filled is a store on disk of n clusters.
func filled(b *testing.B, n uint64) (s *state.Store, dir string, m state.Meta) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "space-all")
	s = reopen(b, nil, dir)
	m = s.Meta()
	const batch = 20_000
	for seq := uint64(0); seq < n; seq += batch {
		var put []cluster.Cluster
		for i := range min(batch, n-seq) {
			put = append(put, founded(seq+i, int64(seq+i)))
		}
		m.Next = seq + batch
		if err := s.Apply(put, nil, m); err != nil {
			b.Fatal(err)
		}
	}
	return s, dir, m
}

// reopen opens the store in dir, after it has closed the one that is open, if any.
func reopen(b *testing.B, s *state.Store, dir string) *state.Store {
	b.Helper()
	if s != nil {
		closeStore(b, s)
	}
	s, err := state.Open(dir, identity(), state.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkApply writes batches of 20,000 changes, half of which found clusters while half join
// others.
func BenchmarkApply(b *testing.B) {
	const half = 10_000
	s, _, m := filled(b, 1_000_000)
	rng := rand.New(rand.NewPCG(1, 1))
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		var put []cluster.Cluster
		named := make(map[uint64]bool)
		for len(put) < half {
			c, ok, err := s.Get(rng.Uint64N(m.Next))
			if err != nil || !ok {
				b.Fatal(ok, err)
			}
			if !named[c.Seq] {
				named[c.Seq] = true
				put = append(put, joined(c, m.Next, c.LastSeen+1))
			}
		}
		for i := range uint64(half) {
			put = append(put, founded(m.Next+i, int64(m.Next+i)))
		}
		m.Next += half
		b.StartTimer()
		if err := s.Apply(put, nil, m); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*2*half/b.Elapsed().Seconds(), "clusters/s")
	closeStore(b, s)
}

// BenchmarkGet reads one of a million clusters at random, and one of a thousand that are in the
// cache.
func BenchmarkGet(b *testing.B) {
	const n = 1_000_000
	s, dir, _ := filled(b, n)
	s = reopen(b, s, dir)
	for name, among := range map[string]uint64{"any": n, "cached": 1000} {
		b.Run(name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok, err := s.Get(rng.Uint64N(among)); err != nil || !ok {
					b.Fatal(ok, err)
				}
			}
		})
	}
	closeStore(b, s)
}

// BenchmarkCentres reads the centres of a million clusters, as when the index is filled.
func BenchmarkCentres(b *testing.B) {
	const n = 1_000_000
	s, dir, _ := filled(b, n)
	s = reopen(b, s, dir)
	b.ResetTimer()
	for b.Loop() {
		each := func(singlepass.Centre, int64) error { return nil }
		if err := s.Centres(b.Context(), each); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "centres/s")
	closeStore(b, s)
	b.ReportMetric(float64(size(b, dir))/n, "B/cluster")
}

// size is how many bytes the files in dir have.
func size(b *testing.B, dir string) (total int64) {
	b.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			b.Fatal(err)
		}
		total += info.Size()
	}
	return total
}
