package space

import (
	"math/bits"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// dividedSpace returns a space with a window of an hour, in memory.
func dividedSpace(t testing.TB) *Space {
	t.Helper()
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		t.Fatal(err)
	}
	distance := func(a, b singlepass.Fingerprint) float64 {
		return float64(bits.OnesCount64(a.Hash ^ b.Hash))
	}
	s := New(singlepass.NewDivided(singlepass.Division{
		New:   func() singlepass.Index { return hamming.Centres(hamming.NewBTree(3)) },
		Small: 4,
		Near: func(a, c singlepass.Fingerprint) (float64, bool) {
			return distance(a, c), distance(a, c) <= 3
		},
	}), store, Options{
		Rule: singlepass.Rule{Window: time.Hour, Divided: true}, Distance: distance,
	}, func() time.Time { return at(24 * time.Hour) })
	s.publish(singlepass.Commit{})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Readers see clusters of their value alone, while values come, are taken back, and expire.
func TestCheckOfValuesBesideTheWriter(t *testing.T) {
	s := dividedSpace(t)
	value := func(r *rand.Rand) string { return strconv.Itoa(r.IntN(20)) }
	hash := func(r *rand.Rand) uint64 { return r.Uint64() & 0x3030303 }
	var joined atomic.Int64
	var stop atomic.Bool
	var readers sync.WaitGroup
	for i := range uint64(2) {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(1, i))
			for !stop.Load() {
				of := value(r)
				a, err := s.Check(t.Context(), Question{
					Fingerprint: singlepass.Fingerprint{Hash: hash(r), Space: of}, RunnersUp: 2,
				})
				if err != nil {
					t.Error(err)
					return
				}
				if a.Status != article.Joined {
					continue
				}
				joined.Add(1)
				for _, n := range append(a.RunnersUp, a.Neighbour) {
					if n.Space != of {
						t.Errorf("a text of %q would join a cluster of %q", of, n.Space)
					}
				}
			}
		})
	}
	r, offset := rand.New(rand.NewPCG(2, 2)), int64(0)
	for n := 0; n < 300 || joined.Load() < 100; n++ {
		articles := make([]fingerprint.Article, 1+r.IntN(30))
		for i := range articles {
			now := at(time.Duration(n)*5*time.Minute - 30*time.Hour)
			a := clustertest.Article(offset+int64(i), hash(r), now)
			a.RecordedAt, a.Fingerprint.Space = a.PublishedAt, value(r)
			articles[i] = a
		}
		b, err := assign(s, articles)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(3) == 0 {
			s.Rollback()
			continue
		}
		if err := s.Commit(b, s.Meta()); err != nil {
			t.Fatal(err)
		}
		offset += int64(len(articles))
	}
	stop.Store(true)
	readers.Wait()
}
