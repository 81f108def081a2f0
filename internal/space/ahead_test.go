package space

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// feedOf returns batches of articles that often have a copy, and whose clusters expire.
func feedOf(r *rand.Rand, batches int) (all [][]fingerprint.Article) {
	offset, clock := int64(0), time.Duration(0)
	for range batches {
		var articles []fingerprint.Article
		for range 1 + r.IntN(40) {
			clock += time.Duration(r.IntN(90)) * time.Second
			a := inItsTime(clustertest.Article(offset, uint64(r.IntN(60))*0x0123_4567_89ab_cdef, at(clock)))
			articles = append(articles, a)
			offset++
		}
		all = append(all, articles)
	}
	return all
}

// live returns the clusters in the store that have not expired.
func (s *Space) live(t *testing.T) (all []cluster.Cluster) {
	t.Helper()
	err := s.store.Clusters(t.Context(), func(c *cluster.Cluster) error {
		if !s.rule.Expired(c.Space, c.SeenAs()) {
			all = append(all, *c)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var errNotCommitted = errors.New("not committed")

// Batches that are assigned while the one before is stored, and that are taken back with it now and
// then, become what they do one by one.
func TestAssignAheadOfTheStore(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			serial, ahead := testSpace(t, time.Hour), testSpace(t, time.Hour)
			feed := feedOf(r, 150)
			var got, want []string
			note := func(all *[]string, b *Batch) {
				for i := range b.Assignments {
					a := &b.Assignments[i]
					*all = append(*all, fmt.Sprint(a.ClusterID, a.Size, a.Status, a.Position, a.EventTime))
				}
			}
			for _, articles := range feed {
				b := mustAssign(t, serial, articles)
				note(&want, &b)
			}
			var before *Batch
			var stored chan error
			settle := func() (committed bool) {
				if before == nil {
					return true
				}
				done := before
				before = nil
				err := <-stored
				if err == nil {
					ahead.Publish(done)
					note(&got, done)
					return true
				}
				if !errors.Is(err, errNotCommitted) {
					t.Fatal(err)
				}
				ahead.Rollback()
				return false
			}
			for i := 0; i < len(feed) || before != nil; i++ {
				var next *Batch
				if i < len(feed) {
					b, err := assign(ahead, feed[i])
					if err != nil {
						t.Fatal(err)
					}
					next = &b
				}
				if !settle() {
					i -= 2 // both come again
					continue
				}
				if next == nil {
					break
				}
				fails := r.IntN(5) == 0
				before, stored = next, make(chan error, 1)
				go func() {
					if fails {
						stored <- errNotCommitted
						return
					}
					stored <- ahead.Store(next, ahead.Meta())
				}()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("assigned one by one, and ahead:\n%s", diff)
			}
			if diff := cmp.Diff(serial.live(t), ahead.live(t)); diff != "" {
				t.Errorf("stored one by one, and ahead:\n%s", diff)
			}
			if n := ahead.Len(); n > 3*len(ahead.live(t))+maxCollected {
				t.Errorf("%d clusters are kept, of which %d live", n, len(ahead.live(t)))
			}
		})
	}
}
