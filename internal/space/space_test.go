package space

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// wallClock is the wall clock of these tests, and at returns a time relative to it.
var wallClock = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return wallClock.Add(d) }

// testSpace returns a space of SimHash, in memory, at a time that stands still a day after
// [wallClock].
func testSpace(t testing.TB, window time.Duration) *Space {
	t.Helper()
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		t.Fatal(err)
	}
	s := New(hamming.Centres(hamming.NewBTree(3)), store,
		Options{Rule: singlepass.Rule{Window: window}},
		func() time.Time { return at(24 * time.Hour) })
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func assign(s *Space, articles []fingerprint.Article) (Batch, error) {
	return s.Assign(clustertest.Each(articles), len(articles))
}

// mustAssign assigns a batch and commits it.
func mustAssign(t testing.TB, s *Space, articles []fingerprint.Article) Batch {
	t.Helper()
	b, err := assign(s, articles)
	if err == nil {
		err = s.Commit(b, s.Meta())
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// inItsTime returns a in a record that was written when it was published.
func inItsTime(a fingerprint.Article) fingerprint.Article {
	a.RecordedAt = a.PublishedAt
	return a
}

// far are fingerprints that differ in more than 3 bits.
var far = []uint64{0, 0xff, 0xff00, 0xff0000, 0xff000000, 0xff00000000}

func TestAssignResults(t *testing.T) {
	s := testSpace(t, 0)
	published := at(-time.Hour)
	bare := clustertest.Article(2, 0, published)
	bare.Comparable = false
	b := mustAssign(t, s, []fingerprint.Article{
		clustertest.Article(0, far[1], published), clustertest.Article(1, far[1]^0b111, time.Time{}),
		bare, clustertest.Article(4, far[1]^0b1111, published),
	})

	id0, id4, zero, three := "articles/0/0", "articles/1/4", 0.0, 3.0
	f0, f1, f4 := article.Fingerprint(far[1]), article.Fingerprint(far[1]^0b111),
		article.Fingerprint(far[1]^0b1111)
	r0, r4 := &article.Representative{ID: "a0", Title: "title of a0"},
		&article.Representative{ID: "a4", Title: "title of a4"}
	want := []article.Result{
		{
			ArticleID: "a0", ClusterID: &id0, Status: article.New, Distance: &zero, Size: 1,
			Representative: r0, Fingerprint: &f0,
			PublishedAt: &published, Source: article.Address{Topic: "articles", Partition: 0, Offset: 0},
			Pipeline: "test",
		},
		{
			ArticleID: "a1", ClusterID: &id0, Status: article.Joined, Distance: &three, Size: 2,
			Representative: r0, Fingerprint: &f1,
			Source: article.Address{Topic: "articles", Partition: 1, Offset: 1}, Pipeline: "test",
		},
		{
			ArticleID: "a2", Status: article.Unclustered, PublishedAt: &published,
			Source: article.Address{Topic: "articles", Partition: 2, Offset: 2}, Pipeline: "test",
		},
		{
			ArticleID: "a4", ClusterID: &id4, Status: article.New, Distance: &zero, Size: 1,
			Representative: r4, Fingerprint: &f4,
			PublishedAt: &published, Source: article.Address{Topic: "articles", Partition: 1, Offset: 4},
			Pipeline: "test",
		},
	}
	for i := range b.Assignments {
		got, err := article.ParseResult(b.Assignments[i].AppendJSON(nil, "test", article.AllParts))
		if diff := cmp.Diff(want[i], got); diff != "" || err != nil {
			t.Errorf("result %d, %v (-want +got):\n%s", i, err, diff)
		}
	}
	// What is not clustered moves no position: it has that of the next one.
	var positions []uint64
	var times []int64
	for _, a := range b.Assignments {
		positions, times = append(positions, a.Position), append(times, a.EventTime)
	}
	if !slices.Equal(positions, []uint64{0, 1, 2, 2}) {
		t.Errorf("positions = %v, want 0, 1, 2, 2", positions)
	}
	if times[2] != published.UnixMilli() {
		t.Errorf("event times = %v, want %d of what is not clustered", times, published.UnixMilli())
	}
}

// An article from tomorrow ends nobody's cluster, and one from 1971 is found again; both are
// counted.
func TestStrangeTimesAreAdjusted(t *testing.T) {
	s := testSpace(t, time.Hour)
	s.now = func() time.Time { return wallClock }
	of := func(offset int64, fingerprint uint64, published time.Time) fingerprint.Article {
		a := clustertest.Article(offset, fingerprint, published)
		a.RecordedAt = wallClock
		return a
	}
	y1971 := time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC)
	c := mustAssign(t, s, []fingerprint.Article{
		of(0, far[0], wallClock), of(1, far[1], at(24*time.Hour)), of(2, far[0], wallClock),
		of(3, far[2], y1971), of(4, far[2], y1971), of(5, far[0], wallClock),
	})
	var got []string
	for _, a := range c.Assignments {
		got = append(got, fmt.Sprintf("%s %s", a.ClusterID,
			time.UnixMilli(a.EventTime).UTC().Format(time.TimeOnly)))
	}
	want := []string{
		"articles/0/0 12:00:00", "articles/1/1 12:15:00", "articles/0/0 12:00:00",
		"articles/0/3 12:00:00", "articles/0/3 12:00:00", "articles/0/0 12:00:00",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a := c.Adjusted; a.Ahead != 1 || a.Old != 2 || a.Example != c.Assignments[1].Article ||
		!a.EventTime.Equal(at(15*time.Minute)) {
		t.Errorf("counted %+v", a)
	}
}

func TestClusterSpansItsMembers(t *testing.T) {
	s := testSpace(t, 0)
	c := mustAssign(t, s, []fingerprint.Article{
		clustertest.Article(0, 0, at(-5*time.Hour)), clustertest.Article(1, 1, at(-7*time.Hour)),
		clustertest.Article(2, 1, at(-2*time.Hour)), clustertest.Article(3, 1, at(-6*time.Hour)),
	})
	if len(c.Touched) != 1 {
		t.Fatalf("touched = %v, want one cluster", c.Touched)
	}
	want := cluster.Cluster{
		Founder: article.Address{Topic: "articles"}, Position: 3, Size: 4,
		FirstSeen: at(-7 * time.Hour).UnixMilli(), LastSeen: at(-2 * time.Hour).UnixMilli(),
		Representative: article.Representative{ID: "a0", Title: "title of a0"},
	}
	if diff := cmp.Diff(want, c.Touched[0]); diff != "" {
		t.Errorf("cluster (-want +got):\n%s", diff)
	}
}

func TestTouchedAndExpired(t *testing.T) {
	const window = time.Hour
	seqs := func(clusters []cluster.Cluster) []uint64 {
		out := []uint64{}
		for _, c := range clusters {
			out = append(out, c.Seq)
		}
		return out
	}
	for name, tt := range map[string]struct {
		before, batch    []fingerprint.Article
		touched, expired []uint64
	}{
		"nothing": {nil, nil, []uint64{}, []uint64{}},
		"found": {nil, []fingerprint.Article{
			clustertest.Article(0, far[0], wallClock), clustertest.Article(1, far[1], wallClock),
		}, []uint64{0, 1}, []uint64{}},
		"at the window's end it lives": {
			[]fingerprint.Article{clustertest.Article(0, far[0], wallClock)},
			[]fingerprint.Article{clustertest.Article(1, far[1], at(window))},
			[]uint64{1},
			[]uint64{},
		},
		"expired": {
			[]fingerprint.Article{clustertest.Article(0, far[0], wallClock)},
			[]fingerprint.Article{clustertest.Article(1, far[1], at(window+time.Millisecond))},
			[]uint64{1},
			[]uint64{0},
		},
		"touched, then expired": {
			[]fingerprint.Article{clustertest.Article(0, far[0], wallClock)},
			[]fingerprint.Article{
				clustertest.Article(1, far[0], wallClock), clustertest.Article(2, far[1], at(2*window)),
			},
			[]uint64{2},
			[]uint64{0},
		},
		"founded and expired in one batch": {
			nil, []fingerprint.Article{
				clustertest.Article(0, far[0], wallClock), clustertest.Article(1, far[1], at(2*window)),
			}, []uint64{1}, []uint64{0},
		},
		"expired, and founded anew": {
			[]fingerprint.Article{clustertest.Article(0, far[0], wallClock)},
			[]fingerprint.Article{clustertest.Article(1, far[0], at(2*window))},
			[]uint64{1},
			[]uint64{0},
		},
		"a late one founds, and expires with the next": {
			[]fingerprint.Article{clustertest.Article(0, far[0], wallClock)},
			[]fingerprint.Article{
				inItsTime(clustertest.Article(1, far[1], at(-2*window))),
				clustertest.Article(2, far[0], wallClock),
			},
			[]uint64{0},
			[]uint64{1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := testSpace(t, window)
			mustAssign(t, s, tt.before)
			c := mustAssign(t, s, tt.batch)
			if got := seqs(c.Touched); !slices.Equal(got, tt.touched) {
				t.Errorf("touched = %v, want %v", got, tt.touched)
			}
			if got := seqs(c.Expired); !slices.Equal(got, tt.expired) {
				t.Errorf("expired = %v, want %v", got, tt.expired)
			}
			if s.store.Len() != s.rule.Len() {
				t.Errorf("%d clusters are on disk, %d centres in the index", s.store.Len(), s.rule.Len())
			}
		})
	}
}

// More clusters expire at once than a batch takes away: those that wait are expired all the same.
func TestExpiryIsSpreadAndExact(t *testing.T) {
	const clusters, window = maxCollected + 1000, time.Hour
	r := rand.New(rand.NewPCG(1, 9))
	s := testSpace(t, window)
	var old []fingerprint.Article
	for i := range clusters {
		old = append(old, clustertest.Article(int64(i), r.Uint64(), wallClock))
	}
	founded := len(mustAssign(t, s, old).founded)
	later := func(offset int64) []fingerprint.Article {
		return []fingerprint.Article{clustertest.Article(offset, old[offset%clusters].Fingerprint.Hash,
			at(2*window))}
	}
	for batch, want := range []int{maxCollected + 1, founded - maxCollected - 1, 0} {
		offset := int64(clusters + batch)
		c := mustAssign(t, s, later(offset))
		if len(c.Expired) != want {
			t.Errorf("batch %d took %d expired clusters away, want %d of %d", batch, len(c.Expired), want,
				founded)
		}
		if status := c.Assignments[0].Status; status != article.New {
			t.Errorf("batch %d: the article is %s: it joined a cluster that had expired", batch, status)
		}
	}
	if s.rule.Len() != 3 || s.store.Len() != 3 {
		t.Errorf("%d centres and %d clusters are left, want the 3 new ones", s.rule.Len(), s.store.Len())
	}
}

// A disk that fails in the middle of a batch, here by lacking a cluster, is an error, and the batch
// can be rolled back.
func TestAssignWithADiskThatFails(t *testing.T) {
	s := testSpace(t, time.Hour)
	mustAssign(t, s, []fingerprint.Article{
		clustertest.Article(0, far[0], wallClock), clustertest.Article(1, far[1], wallClock),
	})
	missing := singlepass.Centre{Fingerprint: singlepass.Fingerprint{Hash: far[3]}, Seq: 77}
	s.rule.Insert(missing, math.MinInt64)
	before := s.rule.State()
	_, err := assign(s, []fingerprint.Article{
		clustertest.Article(2, far[2], wallClock), clustertest.Article(3, far[3], wallClock),
		clustertest.Article(4, far[0], at(time.Minute)),
	})
	if !errors.Is(err, state.ErrDamaged) {
		t.Errorf("error = %v, want that the disk is damaged", err)
	}
	s.Rollback()
	if s.rule.Len() != 3 || s.rule.State() != before {
		t.Errorf("%d centres and %+v after the batch was rolled back; want 3 and %+v", s.rule.Len(),
			s.rule.State(), before)
	}
}
