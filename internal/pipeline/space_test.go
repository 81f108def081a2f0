package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/method/hamming"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/state"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// wallClock is the wall clock of these tests, and at a time relative to it.
var wallClock = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return wallClock.Add(d) }

// testReplica is the space of some input partitions, all if none is named, with its disk in memory and
// without a broker. The clusters topic has three partitions.
func testReplica(t testing.TB, window time.Duration, partitions ...int) *replica {
	t.Helper()
	r := &replica{
		config: testConfig(), log: discard, monitor: monitor.New("test"), name: "all", modulus: 3, identity: "test",
		settings: settings{check: singlepass.Fingerprint.CheckNoSketch}, scans: make(map[int]scan),
		tail: func(_ context.Context, _ int, from int64, _ func(kafka.Record)) (int64, error) { return from, nil },
		owns: func(p int) bool { return len(partitions) == 0 || slices.Contains(partitions, p) },
	}
	r.config.Cluster.Window = window
	reopen(t, r, vfs.NewMem())
	t.Cleanup(r.close)
	return r
}

// reopen opens the disk of a replica, and fills the index from it.
func reopen(t testing.TB, r *replica, disk vfs.FS) {
	t.Helper()
	r.close()
	r.options = state.Options{FS: disk, Log: discard}
	store, err := state.Open("space", state.Identity{Input: "articles"}, r.options)
	if err != nil {
		t.Fatal(err)
	}
	r.space = newTestSpace(r, store)
	if err := r.fill(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// newTestSpace is a space of the default method, at a time that stands still, a day after [wallClock].
func newTestSpace(r *replica, store *state.Store) *space {
	index := hamming.Centres(hamming.NewBTree(3))
	return newSpace(index, r.config.Cluster.Window, r.identity, store, func() time.Time { return at(24 * time.Hour) })
}

func testSpace(t testing.TB, window time.Duration) *space {
	t.Helper()
	return testReplica(t, window).space
}

// mustAssign assigns a batch and makes it last.
func mustAssign(t testing.TB, s *space, batch []fingerprinted) changes {
	t.Helper()
	c, err := s.assign(batch)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.apply(c, nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// art is the article at an offset, with tokens.
func art(offset int64, fingerprint uint64, published time.Time) fingerprinted {
	id := fmt.Sprintf("a%d", offset)
	return fingerprinted{
		record: kafka.Record{Topic: "articles", Partition: int(offset % 3), Offset: offset}, publishedAt: published,
		representative: article.Representative{ID: id, Title: "title of " + id}, fingerprint: singlepass.Fingerprint{Hash: fingerprint}, comparable: true,
	}
}

// inItsTime is a in a record that was written when it was published.
func inItsTime(a fingerprinted) fingerprinted {
	a.record.Time = a.publishedAt
	return a
}

// far are fingerprints that differ in more than 3 bits.
var far = []uint64{0, 0xff, 0xff00, 0xff0000, 0xff000000, 0xff00000000}

func TestAssignResults(t *testing.T) {
	s := testSpace(t, 0)
	published := at(-time.Hour)
	bare := art(2, 0, published)
	bare.comparable = false
	bad := art(3, 0, time.Time{})
	bad.rejection = &article.Rejection{Class: article.Empty}
	c := mustAssign(t, s, []fingerprinted{art(0, far[1], published), art(1, far[1]^0b111, time.Time{}), bare, bad, art(4, far[1]^0b1111, published)})

	id0, id4, zero, three := "articles/0/0", "articles/1/4", 0.0, 3.0
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

// An article from tomorrow ends nobody's cluster, and one from 1971 is found again; both are counted.
func TestStrangeTimesAreAdjusted(t *testing.T) {
	s := testSpace(t, time.Hour)
	s.now = func() time.Time { return wallClock }
	of := func(offset int64, fingerprint uint64, published time.Time) fingerprinted {
		a := art(offset, fingerprint, published)
		a.record.Time = wallClock
		return a
	}
	y1971 := time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC)
	c := mustAssign(t, s, []fingerprinted{
		of(0, far[0], wallClock), of(1, far[1], at(24*time.Hour)), of(2, far[0], wallClock), of(3, far[2], y1971), of(4, far[2], y1971), of(5, far[0], wallClock),
	})
	var got []string
	for i := range c.outcomes {
		o := &c.outcomes[i]
		got = append(got, fmt.Sprintf("%s %s", o.clusterID, time.UnixMilli(o.eventTime).UTC().Format(time.TimeOnly)))
	}
	want := []string{"articles/0/0 12:00:00", "articles/1/1 12:15:00", "articles/0/0 12:00:00", "articles/0/3 12:00:00", "articles/0/3 12:00:00", "articles/0/0 12:00:00"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a := c.adjusted; a.ahead != 1 || a.old != 2 || a.example != &c.outcomes[1] {
		t.Errorf("counted %+v", a)
	}
}

// That event times were adjusted is said the first time, and then once a minute, with how many there were.
func TestAdjustedTimesAreSaid(t *testing.T) {
	var out wait.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	a, o := adjusting{}, &outcome{fingerprinted: &fingerprinted{record: kafka.Record{Topic: "articles", Offset: 7}}}
	for _, step := range []struct {
		after time.Duration
		adjusted
		want string // in the line that it says, empty for none
	}{
		{0, adjusted{}, ""},
		{time.Second, adjusted{ahead: 2, example: o}, "ahead=2 old=0 for_example=articles/0/7"},
		{30 * time.Second, adjusted{old: 3, example: o}, ""},
		{60 * time.Second, adjusted{ahead: 1, example: o}, ""},
		{61 * time.Second, adjusted{}, ""},
		{90 * time.Second, adjusted{old: 1, example: o}, "ahead=1 old=4"},
	} {
		before := len(out.String())
		a.add(log, step.adjusted, wallClock.Add(step.after))
		if said := out.String()[before:]; (said == "") != (step.want == "") || !strings.Contains(said, step.want) {
			t.Errorf("after %s: %q, want %q in it", step.after, said, step.want)
		}
	}
}

func TestClusterSpansItsMembers(t *testing.T) {
	s := testSpace(t, 0)
	c := mustAssign(t, s, []fingerprinted{art(0, 0, at(-5*time.Hour)), art(1, 1, at(-7*time.Hour)), art(2, 1, at(-2*time.Hour)), art(3, 1, at(-6*time.Hour))})
	if len(c.touched) != 1 {
		t.Fatalf("touched = %v, want one cluster", c.touched)
	}
	want := state.Cluster{
		Founder: article.Address{Topic: "articles"}, Position: 3, Size: 4, FirstSeen: at(-7 * time.Hour).UnixMilli(), LastSeen: at(-2 * time.Hour).UnixMilli(),
		Representative: article.Representative{ID: "a0", Title: "title of a0"},
	}
	if diff := cmp.Diff(want, c.touched[0], cmpopts.IgnoreUnexported(state.Cluster{})); diff != "" {
		t.Errorf("cluster (-want +got):\n%s", diff)
	}
}

func TestTouchedAndExpired(t *testing.T) {
	const window = time.Hour
	seqs := func(clusters []state.Cluster) []uint64 {
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
			[]fingerprinted{inItsTime(art(1, far[1], at(-2*window))), art(2, far[0], wallClock)},
			[]uint64{0},
			[]uint64{1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := testSpace(t, window)
			mustAssign(t, s, tt.before)
			c := mustAssign(t, s, tt.batch)
			if got := seqs(c.touched); !slices.Equal(got, tt.touched) {
				t.Errorf("touched = %v, want %v", got, tt.touched)
			}
			if got := seqs(c.expired); !slices.Equal(got, tt.expired) {
				t.Errorf("expired = %v, want %v", got, tt.expired)
			}
			if s.store.Len() != s.rule.Len() {
				t.Errorf("%d clusters are on disk, %d centres in the index", s.store.Len(), s.rule.Len())
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
			a.comparable = false
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

// restarted is a new space made from the clusters topic or from disk.
func (h *history) restarted(t *testing.T, r *rand.Rand, o *outputs, old *replica) *replica {
	t.Helper()
	if r.IntN(2) == 0 {
		disk := old.options.FS
		reopen(t, old, disk)
		return old
	}
	next := testReplica(t, old.config.Cluster.Window)
	var records []kafka.Record
	for key, value := range h.live {
		position, body, _ := strings.Cut(value, " ")
		founder, err := article.ParseAddress(key)
		if err != nil {
			t.Fatal(err)
		}
		record := o.cluster(&slab{}, &state.Cluster{Founder: founder})
		record.Offset = int64(len(records))
		record.Value, record.Headers = []byte(body), []kafka.Header{{Key: article.HeaderPosition, Value: []byte(position)}}
		records = append(records, record)
	}
	for len(records) > 0 {
		n := min(len(records), 1+r.IntN(20))
		if _, err := next.take(t.Context(), consumer.Chunk{Records: records[:n]}); err != nil {
			t.Fatal(err)
		}
		records = records[n:]
	}
	return next
}

func TestBatchesAndRestartsMakeNoDifference(t *testing.T) {
	o := testOutputs(3)
	o.identity = "test"
	for _, window := range []time.Duration{0, time.Minute, 2 * time.Hour} {
		t.Run(window.String(), func(t *testing.T) {
			for seed := range uint64(30) {
				r := rand.New(rand.NewPCG(seed, 3))
				stream := randomStream(r, 200)
				whole := history{live: map[string]string{}}
				whole.take(t, o, mustAssign(t, testSpace(t, window), slices.Clone(stream)))

				cut := history{live: map[string]string{}}
				space := testReplica(t, window)
				for rest := slices.Clone(stream); len(rest) > 0; {
					n := min(len(rest), 1+r.IntN(30))
					if r.IntN(4) == 0 { // a transaction that fails
						c, err := space.space.assign(slices.Clone(rest[:n]))
						if err != nil {
							t.Fatal(err)
						}
						space.space.undo(c)
					}
					cut.take(t, o, mustAssign(t, space.space, rest[:n]))
					rest = rest[n:]
					if r.IntN(4) == 0 {
						space = cut.restarted(t, r, o, space)
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

// More clusters expire at once than a batch takes away: those that wait are expired all the same.
func TestExpiryIsSpreadAndExact(t *testing.T) {
	const clusters, window = collected + 1000, time.Hour
	r := rand.New(rand.NewPCG(1, 9))
	s := testSpace(t, window)
	var old []fingerprinted
	for i := range clusters {
		old = append(old, art(int64(i), r.Uint64(), wallClock))
	}
	founded := len(mustAssign(t, s, old).founded)
	later := func(offset int64) []fingerprinted {
		return []fingerprinted{art(offset, old[offset%clusters].fingerprint.Hash, at(2*window))}
	}
	for batch, want := range []int{collected + 1, founded - collected - 1, 0} {
		offset := int64(clusters + batch)
		c := mustAssign(t, s, later(offset))
		if len(c.expired) != want {
			t.Errorf("batch %d took %d expired clusters away, want %d of %d", batch, len(c.expired), want, founded)
		}
		if status := c.outcomes[0].result.Status; status != article.New {
			t.Errorf("batch %d: the article is %s: it joined a cluster that had expired", batch, status)
		}
	}
	if s.rule.Len() != 3 || s.store.Len() != 3 {
		t.Errorf("%d centres and %d clusters are left, want the 3 new ones", s.rule.Len(), s.store.Len())
	}
}

// A disk that fails in the middle of a batch, here by lacking a cluster, is an error, and the batch can be
// undone.
func TestAssignWithADiskThatFails(t *testing.T) {
	s := testSpace(t, time.Hour)
	mustAssign(t, s, []fingerprinted{art(0, far[0], wallClock), art(1, far[1], wallClock)})
	s.rule.Insert(singlepass.Centre{Fingerprint: singlepass.Fingerprint{Hash: far[3]}, Seq: 77})
	before := s.rule.State()
	c, err := s.assign([]fingerprinted{art(2, far[2], wallClock), art(3, far[3], wallClock), art(4, far[0], at(time.Minute))})
	if !errors.Is(err, state.ErrDamaged) {
		t.Errorf("error = %v, want that the disk is damaged", err)
	}
	s.undo(c)
	if s.rule.Len() != 3 || s.rule.State() != before {
		t.Errorf("%d centres and %+v after the batch was undone; want 3 and %+v", s.rule.Len(), s.rule.State(), before)
	}
}
