package pipeline

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/kafka"
)

// wallClock is the wall clock of these tests, and at a time relative to it.
var wallClock = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return wallClock.Add(d) }

func testSpace(t testing.TB, window time.Duration) *space {
	t.Helper()
	s, err := newSpace("btree", 3, window, "test", func() time.Time { return wallClock })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// art is the article at an offset, with tokens.
func art(offset int64, fingerprint uint64, published time.Time) fingerprinted {
	id := fmt.Sprintf("a%d", offset)
	return fingerprinted{
		record: kafka.Record{Topic: "articles", Partition: int(offset % 3), Offset: offset}, publishedAt: published,
		representative: article.Representative{ID: id, Title: "title of " + id}, fingerprint: fingerprint, hasTokens: true,
	}
}

// far are fingerprints that differ in more than 3 bits.
var far = []uint64{0, 0xff, 0xff00, 0xff0000, 0xff000000, 0xff00000000}

func TestAssignResults(t *testing.T) {
	s := testSpace(t, 0)
	published := at(-time.Hour)
	bare := art(2, 0, published)
	bare.hasTokens = false
	bad := art(3, 0, time.Time{})
	bad.rejection = &article.Rejection{Class: article.Empty}
	c := s.assign([]fingerprinted{art(0, far[1], published), art(1, far[1]^0b111, time.Time{}), bare, bad, art(4, far[1]^0b1111, published)})

	id0, id4, zero, three := "articles/0/0", "articles/1/4", 0, 3
	f0, f1, f4 := article.Fingerprint(far[1]), article.Fingerprint(far[1]^0b111), article.Fingerprint(far[1]^0b1111)
	r0, r4 := &article.Representative{ID: "a0", Title: "title of a0"}, &article.Representative{ID: "a4", Title: "title of a4"}
	want := []article.Result{
		{
			ArticleID: "a0", ClusterID: &id0, Status: article.New, Distance: &zero, Size: 1, Representative: r0, Fingerprint: &f0,
			PublishedAt: &published, Source: article.Address{Topic: "articles", Partition: 0, Offset: 0}, Pipeline: "test",
		},
		{
			ArticleID: "a1", ClusterID: &id0, Status: article.Joined, Distance: &three, Size: 2, Representative: r0, Fingerprint: &f1,
			Source: article.Address{Topic: "articles", Partition: 1, Offset: 1}, Pipeline: "test",
		},
		{
			ArticleID: "a2", Status: article.Unclustered, PublishedAt: &published,
			Source: article.Address{Topic: "articles", Partition: 2, Offset: 2}, Pipeline: "test",
		},
		{}, // rejected: it has no result
		{
			ArticleID: "a4", ClusterID: &id4, Status: article.New, Distance: &zero, Size: 1, Representative: r4, Fingerprint: &f4,
			PublishedAt: &published, Source: article.Address{Topic: "articles", Partition: 1, Offset: 4}, Pipeline: "test",
		},
	}
	for i, o := range c.outcomes {
		if diff := cmp.Diff(want[i], o.result); diff != "" {
			t.Errorf("result %d (-want +got):\n%s", i, diff)
		}
	}
	if c.outcomes[3].rejection == nil {
		t.Error("the rejection is gone")
	}
	// What is not clustered moves no position.
	if got := []uint64{c.outcomes[0].position, c.outcomes[1].position, c.outcomes[4].position}; !slices.Equal(got, []uint64{0, 1, 2}) {
		t.Errorf("positions = %v, want 0, 1, 2", got)
	}
}

func TestEventTime(t *testing.T) {
	for name, tt := range map[string]struct {
		published, recorded, latest, want time.Time
	}{
		"published":               {at(-2 * time.Hour), at(-time.Hour), at(-3 * time.Hour), at(-2 * time.Hour)},
		"record's time":           {time.Time{}, at(-time.Hour), at(-3 * time.Hour), at(-time.Hour)},
		"neither: the latest":     {time.Time{}, time.Time{}, at(-3 * time.Hour), at(-3 * time.Hour)},
		"record without time":     {time.Time{}, time.UnixMilli(-1), at(-3 * time.Hour), at(-3 * time.Hour)},
		"a day ahead":             {at(24 * time.Hour), time.Time{}, wallClock, at(24 * time.Hour)},
		"more than a day ahead":   {at(24*time.Hour + time.Millisecond), time.Time{}, wallClock, at(24 * time.Hour)},
		"the year 2262":           {time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}, wallClock, at(24 * time.Hour)},
		"record's time far ahead": {time.Time{}, at(48 * time.Hour), wallClock, at(24 * time.Hour)},
		"before 1970":             {time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), wallClock, wallClock, time.UnixMilli(0)},
		"1970 itself":             {time.UnixMilli(0), wallClock, wallClock, time.UnixMilli(0)},
	} {
		t.Run(name, func(t *testing.T) {
			s := testSpace(t, 0)
			s.latest = tt.latest.UnixMilli()
			a := art(0, 0, tt.published)
			a.record.Time = tt.recorded
			if got := s.eventTime(&a); got != tt.want.UnixMilli() {
				t.Errorf("event time = %v, want %v", time.UnixMilli(got).UTC(), tt.want.UTC())
			}
			if want := max(tt.latest.UnixMilli(), tt.want.UnixMilli()); s.latest != want {
				t.Errorf("latest = %v, want %v", time.UnixMilli(s.latest).UTC(), time.UnixMilli(want).UTC())
			}
		})
	}
}

func TestClusterSpansItsMembers(t *testing.T) {
	s := testSpace(t, 0)
	c := s.assign([]fingerprinted{art(0, 0, at(-5*time.Hour)), art(1, 1, at(-7*time.Hour)), art(2, 1, at(-2*time.Hour)), art(3, 1, at(-6*time.Hour))})
	if len(c.touched) != 1 {
		t.Fatalf("touched = %v, want one cluster", c.touched)
	}
	want := cluster{
		founder: article.Address{Topic: "articles"}, position: 3, Cluster: article.Cluster{
			ClusterID: "articles/0/0", Size: 4, FirstSeen: at(-7 * time.Hour), LastSeen: at(-2 * time.Hour),
			Representative: article.Representative{ID: "a0", Title: "title of a0"}, Pipeline: "test",
		},
	}
	if diff := cmp.Diff(want, c.touched[0], cmp.AllowUnexported(cluster{})); diff != "" {
		t.Errorf("cluster (-want +got):\n%s", diff)
	}
}

func TestTouchedAndExpired(t *testing.T) {
	const window = time.Hour
	seqs := func(clusters []cluster) []uint64 {
		out := []uint64{}
		for _, c := range clusters {
			out = append(out, c.Seq)
		}
		return out
	}
	for name, tt := range map[string]struct {
		before, batch    []fingerprinted
		touched, expired []uint64
	}{
		"nothing": {nil, nil, []uint64{}, []uint64{}},
		"found":   {nil, []fingerprinted{art(0, far[0], wallClock), art(1, far[1], wallClock)}, []uint64{0, 1}, []uint64{}},
		"at the window's end it lives": {
			[]fingerprinted{art(0, far[0], wallClock)}, []fingerprinted{art(1, far[1], at(window))}, []uint64{1}, []uint64{},
		},
		"expired": {
			[]fingerprinted{art(0, far[0], wallClock)}, []fingerprinted{art(1, far[1], at(window+time.Millisecond))}, []uint64{1}, []uint64{0},
		},
		"touched, then expired": {
			[]fingerprinted{art(0, far[0], wallClock)},
			[]fingerprinted{art(1, far[0], wallClock), art(2, far[1], at(2*window))},
			[]uint64{2},
			[]uint64{0},
		},
		"founded and expired in one batch": {
			nil, []fingerprinted{art(0, far[0], wallClock), art(1, far[1], at(2*window))}, []uint64{1}, []uint64{0},
		},
		"expired, and founded anew": {
			[]fingerprinted{art(0, far[0], wallClock)},
			[]fingerprinted{art(1, far[0], at(2*window))},
			[]uint64{1},
			[]uint64{0},
		},
		"a late one founds, and expires with the next": {
			[]fingerprinted{art(0, far[0], wallClock)},
			[]fingerprinted{art(1, far[1], at(-2*window)), art(2, far[0], wallClock)},
			[]uint64{0},
			[]uint64{1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := testSpace(t, window)
			s.assign(tt.before)
			c := s.assign(tt.batch)
			if got := seqs(c.touched); !slices.Equal(got, tt.touched) {
				t.Errorf("touched = %v, want %v", got, tt.touched)
			}
			if got := seqs(c.expired); !slices.Equal(got, tt.expired) {
				t.Errorf("expired = %v, want %v", got, tt.expired)
			}
			if len(s.clusters) != s.rule.Len() {
				t.Errorf("%d clusters are known, %d centres are live", len(s.clusters), s.rule.Len())
			}
		})
	}
}

// randomStream is a stream with copies, late articles, articles without times, bare and bad ones.
func randomStream(r *rand.Rand, n int) []fingerprinted {
	stream := make([]fingerprinted, n)
	now := -100 * time.Hour
	for i := range stream {
		now += time.Duration(r.IntN(int(20 * time.Minute)))
		published := at(now - time.Duration(r.IntN(3))*time.Duration(r.IntN(int(3*time.Hour)))).Truncate(time.Millisecond)
		if r.IntN(10) == 0 {
			published = time.Time{}
		}
		a := art(int64(i), r.Uint64()&0x3030303, published)
		if r.IntN(2) == 0 {
			a.record.Time = at(now)
		}
		switch r.IntN(20) {
		case 0:
			a.hasTokens = false
		case 1:
			a.rejection = &article.Rejection{Class: article.BadJSON, Reason: "no"}
		}
		stream[i] = a
	}
	return stream
}

// history is what a stream left in the topics: results, and live clusters by key.
type history struct {
	results []string
	live    map[string]string
}

func (h *history) take(t *testing.T, o *outputs, c changes) {
	t.Helper()
	for _, r := range o.records(c) {
		switch {
		case r.Topic != o.ClustersTopic:
			h.results = append(h.results, fmt.Sprintf("%s/%d %s %s %s", r.Topic, r.Partition, r.Key, header(r, article.HeaderPosition), r.Value))
		case r.Value == nil:
			delete(h.live, string(r.Key))
		default:
			h.live[string(r.Key)] = header(r, article.HeaderPosition) + " " + string(r.Value)
		}
	}
}

// recovered is a new space made of the records of the live clusters, in any order.
func (h *history) recovered(t *testing.T, window time.Duration) *space {
	t.Helper()
	s := testSpace(t, window)
	for _, value := range h.live {
		position, body, _ := strings.Cut(value, " ")
		c, err := parseCluster(kafka.Record{Value: []byte(body), Headers: []kafka.Header{{Key: article.HeaderPosition, Value: []byte(position)}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.restore(c); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestBatchesAndRestartsMakeNoDifference(t *testing.T) {
	o := testOutputs(3)
	for _, window := range []time.Duration{0, time.Minute, 2 * time.Hour} {
		t.Run(window.String(), func(t *testing.T) {
			for seed := range uint64(60) {
				r := rand.New(rand.NewPCG(seed, 3))
				stream := randomStream(r, 200)
				whole := history{live: map[string]string{}}
				whole.take(t, o, testSpace(t, window).assign(slices.Clone(stream)))

				cut := history{live: map[string]string{}}
				s := testSpace(t, window)
				for rest := slices.Clone(stream); len(rest) > 0; {
					n := min(len(rest), 1+r.IntN(30))
					cut.take(t, o, s.assign(rest[:n]))
					rest = rest[n:]
					if r.IntN(4) == 0 {
						s = cut.recovered(t, window)
					}
				}
				if diff := cmp.Diff(whole.results, cut.results); diff != "" {
					t.Fatalf("seed %d: results in one batch (-) and in many with restarts (+):\n%s", seed, diff)
				}
				if !maps.Equal(whole.live, cut.live) {
					t.Fatalf("seed %d: live clusters:\n%s", seed, cmp.Diff(whole.live, cut.live))
				}
			}
		})
	}
}

func TestRestoreRefusesClustersOfSeveralSpaces(t *testing.T) {
	s := testSpace(t, 0)
	if err := s.restore(testCluster(0, 5)); err != nil {
		t.Fatal(err)
	}
	other := testCluster(1, 9)
	other.Seq = 5
	want := "clusters articles/0/5 and articles/1/9 have the same founding order 5: they were made with cluster.scope: partition; " +
		"set it so, or start anew with another input.group and another output.clusters_topic"
	if err := s.restore(other); err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}
