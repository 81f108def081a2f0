package replica

import (
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// dividedReplica returns one that is divided by a field. A value is indexed from five centres on.
func dividedReplica(t testing.TB, window time.Duration) *Replica {
	t.Helper()
	r := testReplica(t, window)
	r.Rule.Divided = true
	r.Options.Space.Scope, r.Options.Space.ScopeField = "field", "tenant"
	newIndex := r.NewIndex
	r.NewIndex = func() (singlepass.Index, error) {
		return singlepass.NewDivided(singlepass.Division{
			New: func() singlepass.Index {
				index, err := newIndex()
				if err != nil {
					t.Error(err)
				}
				return index
			},
			Small: 4,
			Near: func(a, c singlepass.Fingerprint) (float64, bool) {
				d := float64(bits.OnesCount64(a.Hash ^ c.Hash))
				return d, d <= 3
			},
		}), nil
	}
	return r
}

// ofValue is what became of an article within its value: all but its position, which is that in the
// whole.
func ofValue(a *space.Assignment) string {
	return fmt.Sprintf("%s %s %s %v %d %d", a.Source, a.ClusterID, a.Status, a.Distance, a.Size,
		a.EventTime)
}

// liveOf returns the clusters that have not expired by the stream time of their value.
func (h *history) liveOf(window time.Duration) map[string]cluster.Cluster {
	streams := make(map[string]int64)
	for _, c := range h.live {
		streams[c.Space] = max(streams[c.Space], c.LastSeen)
	}
	live := maps.Clone(h.live)
	maps.DeleteFunc(live, func(_ string, c cluster.Cluster) bool {
		return window > 0 && c.SeenAs() < streams[c.Space]-window.Milliseconds()
	})
	return live
}

// Each value is a space: what becomes of its articles is what would become of them in a space that
// has no others, whatever the batches are, whichever fail, and whether the space is restarted from
// its disk or from the clusters topic between them.
func TestEachValueIsASpace(t *testing.T) {
	seeds := uint64(30)
	if check.Race {
		seeds = 3
	}
	for _, window := range []time.Duration{0, time.Minute, 2 * time.Hour} {
		t.Run(window.String(), func(t *testing.T) {
			for seed := range seeds {
				r := rand.New(rand.NewPCG(seed, 4))
				stream := randomStream(r, 300)
				for i := range stream {
					stream[i].Source.Partition = 0
					value := min(4, r.IntN(30)/6+r.IntN(2))
					stream[i].Fingerprint.Space = []string{"", "a", "b", "\n", "rare"}[value]
					if r.IntN(3) == 0 {
						contact := fmt.Sprint("tel:", r.IntN(4))
						stream[i].Fingerprint.Contacts = singlepass.NewContacts([]string{contact})
					}
				}
				want := alone(t, window, stream)
				got, cut := make(map[string][]string), history{live: map[string]cluster.Cluster{}}
				replica := reopened(t, dividedReplica(t, window))
				for rest := stream; len(rest) > 0; {
					n := min(len(rest), 1+r.IntN(30))
					if r.IntN(4) == 0 { // a transaction that fails
						if _, err := assign(replica.space, slices.Clone(rest[:n])); err != nil {
							t.Fatal(err)
						}
						replica.space.Rollback()
					}
					b := mustAssign(t, replica.space, rest[:n])
					cut.add(b)
					note(got, &b)
					rest = rest[n:]
					if r.IntN(4) == 0 {
						replica = cut.restartedAs(t, r, replica, func() *Replica {
							return reopened(t, dividedReplica(t, window))
						})
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("seed %d: values alone (-) and together (+):\n%s", seed, diff)
				}
				whole := history{live: map[string]cluster.Cluster{}}
				whole.add(mustAssign(t, reopened(t, dividedReplica(t, window)).space, stream))
				if a, b := whole.liveOf(window), cut.liveOf(window); !maps.Equal(a, b) {
					t.Fatalf("seed %d: live clusters:\n%s", seed, cmp.Diff(a, b))
				}
			}
		})
	}
}

func reopened(t testing.TB, r *Replica) *Replica {
	t.Helper()
	reopen(t, r)
	return r
}

func note(by map[string][]string, b *space.Batch) {
	for i := range b.Assignments {
		a := &b.Assignments[i]
		value := a.Article.Fingerprint.Space
		by[value] = append(by[value], ofValue(a))
	}
}

// alone returns what becomes of the articles of each value in a space of their own.
func alone(t *testing.T, window time.Duration, stream []fingerprint.Article) map[string][]string {
	t.Helper()
	by, all := make(map[string][]fingerprint.Article), make(map[string][]string)
	for _, a := range stream {
		value := a.Fingerprint.Space
		a.Fingerprint.Space = ""
		by[value] = append(by[value], a)
	}
	for value, articles := range by {
		r := testReplica(t, window)
		b := mustAssign(t, reopened(t, r).space, articles)
		for i := range b.Assignments {
			all[value] = append(all[value], ofValue(&b.Assignments[i]))
		}
	}
	return all
}

// A value that falls silent keeps its clusters, whatever the others do, until it is heard again.
func TestValuesExpireByThemselves(t *testing.T) {
	of := func(offset int64, value string, hash uint64, at time.Duration) fingerprint.Article {
		a := clustertest.Article(3*offset, hash, wallClock.Add(at))
		a.RecordedAt, a.Fingerprint.Space = a.PublishedAt, value
		return a
	}
	r := reopened(t, dividedReplica(t, time.Hour))
	mustAssign(t, r.space, []fingerprint.Article{of(0, "quiet", 1, 0), of(1, "loud", 1, 0)})
	b := mustAssign(t, r.space, []fingerprint.Article{
		of(2, "loud", 1<<20-1, 5*time.Hour), of(3, "loud", 1<<20-1, 10*time.Hour),
	})
	if len(b.Expired) != 2 || b.Expired[0].Space != "loud" || b.Expired[1].Space != "loud" {
		t.Errorf("expired: %+v", b.Expired)
	}
	reopen(t, r)
	b = mustAssign(t, r.space, []fingerprint.Article{of(4, "quiet", 1, 30*time.Minute)})
	if b.Assignments[0].ClusterID != "articles/0/0" || b.Assignments[0].Size != 2 {
		t.Errorf("%+v", b.Assignments[0])
	}
	if !r.space.Has("quiet") || r.space.Has("") {
		t.Error("values are not known")
	}
}
