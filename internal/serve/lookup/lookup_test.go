package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

var start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// A site is a Service with one space, and articles for it.
type site struct {
	*Service
	t     testing.TB
	space *space.Space
	n     int64
}

func configured(scope string) config.Config {
	c := config.Default()
	c.Fingerprint.Method, c.Cluster.Scope, c.Input.MaxBytes = "exact", scope, 1000
	return c
}

// empty says that a partition of the input has no articles, so that no answer waits for one.
func empty(context.Context, int) (int64, error) { return 0, nil }

// aYearLater is the time at which clusters are assigned: all articles are of before.
func aYearLater() time.Time { return start.AddDate(1, 0, 0) }

func newSpace(t testing.TB, window time.Duration) *space.Space {
	t.Helper()
	return openSpace(t, aYearLater, space.Options{
		Rule: singlepass.Rule{Window: window},
		Distance: func(a, b singlepass.Fingerprint) float64 {
			return float64(bits.OnesCount64(a.Hash ^ b.Hash))
		},
	})
}

// openSpace returns an empty space in memory in which equal fingerprints join.
func openSpace(t testing.TB, now func() time.Time, o space.Options) *space.Space {
	t.Helper()
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		t.Fatal(err)
	}
	s := space.New(hamming.Centres(hamming.NewBTree(0)), store, o, now)
	if err := s.Load(t.Context(), func(singlepass.Fingerprint) error { return nil }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newSite(t testing.TB, window time.Duration) *site {
	t.Helper()
	s := &site{
		Service: New(Options{Config: configured("topic"), End: empty}), t: t, space: newSpace(t, window),
	}
	f, err := fingerprint.New(s.options.Config)
	if err != nil {
		t.Fatal(err)
	}
	s.Begin(f)
	s.Publish("all", s.space)
	return s
}

// commit commits an article of each hash, at a time.
func (s *site) commit(at time.Time, hashes ...uint64) []cluster.Cluster {
	s.t.Helper()
	articles := make([]fingerprint.Article, len(hashes))
	for i, hash := range hashes {
		articles[i] = clustertest.Article(s.n, hash, at)
		articles[i].RecordedAt = at
		articles[i].Representative.Title = fmt.Sprintf("Story %x", hash)
		s.n++
	}
	b, err := s.space.Assign(clustertest.Each(articles), len(articles))
	if err == nil {
		err = s.space.Commit(b, s.space.Meta())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return b.Touched
}

// label gives clusters a label.
func (s *site) label(clusters []cluster.Cluster, name string) {
	s.t.Helper()
	var changes []*space.Change
	for _, c := range clusters {
		c.Labels = label.Of([]article.Label{clustertest.Label(name, 1)})
		changes = append(changes, &space.Change{Cluster: c, Stored: true})
	}
	if err := s.space.Apply(slices.Values(changes), s.space.Meta()); err != nil {
		s.t.Fatal(err)
	}
}

// pages returns all clusters of a query, by pages of so many.
func (s *site) pages(q api.ClusterQuery) (all []api.Cluster) {
	s.t.Helper()
	for {
		p, err := s.Clusters(s.t.Context(), q)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(p.Clusters) > q.Limit || len(p.AsOf) != 1 {
			s.t.Fatalf("a page of %d clusters, as of %v", len(p.Clusters), p.AsOf)
		}
		all = append(all, p.Clusters...)
		if q.After = p.Next; p.Next == "" {
			return all
		}
	}
}

func seqsOf(all []api.Cluster) (seqs []uint64) {
	for i := range all {
		seqs = append(seqs, seqOf(&all[i]))
	}
	return seqs
}

// seqOf returns the seq of a cluster of a site, which is the offset of its founder.
func seqOf(c *api.Cluster) uint64 {
	founder, err := article.ParseAddress(c.ClusterID)
	if err != nil {
		panic(err)
	}
	return uint64(founder.Offset)
}

// A listing is what sorting all clusters gives, in pages of any length.
func TestClustersAreSorted(t *testing.T) {
	s, r := newSite(t, 0), rand.New(rand.NewPCG(1, 1))
	at := start
	sizes, growth := make(map[uint64]int), make(map[uint64]int) // by hash
	for i := range 40 {
		hashes := make([]uint64, 50)
		for k := range hashes {
			hashes[k] = r.Uint64N(uint64(10*i + 10))
			if sizes[hashes[k]]++; sizes[hashes[k]] > 1 && i >= 30 {
				growth[hashes[k]]++
			}
		}
		s.commit(at, hashes...)
		if i == 29 {
			at = at.Add(30 * time.Minute)
		}
	}
	all := s.pages(api.ClusterQuery{Sort: api.Newest, Minutes: 1, Limit: 7})
	if len(all) != len(sizes) {
		t.Fatalf("%d clusters are listed, want %d", len(all), len(sizes))
	}
	growthOf := func(c *api.Cluster) int { return growth[uint64(c.Fingerprint)] }
	for _, c := range all {
		if want := sizes[uint64(c.Fingerprint)]; c.Size != want || c.Growth != nil {
			t.Errorf("cluster %v: size %d, growth %v; want %d, and nothing of growth", c.Fingerprint,
				c.Size, c.Growth, want)
		}
	}
	for _, c := range s.pages(api.ClusterQuery{Sort: api.ByGrowth, Minutes: 1, Limit: 7}) {
		if want := growthOf(&c); c.Growth == nil || *c.Growth != want {
			t.Errorf("cluster %v: growth %v, want %d", c.Fingerprint, c.Growth, want)
		}
	}
	for _, tt := range []struct {
		query   api.ClusterQuery
		compare func(a, b api.Cluster) int
		has     func(c *api.Cluster) bool
	}{
		{api.ClusterQuery{Sort: api.Newest}, nil, nil},
		{api.ClusterQuery{Sort: api.BySize}, func(a, b api.Cluster) int { return b.Size - a.Size }, nil},
		{
			api.ClusterQuery{Sort: api.ByGrowth},
			func(a, b api.Cluster) int {
				return cmp.Or(growthOf(&b)-growthOf(&a), b.Size-a.Size)
			},
			func(c *api.Cluster) bool { return growthOf(c) > 0 },
		},
		{
			api.ClusterQuery{Sort: api.BySize, Title: "sTORY a"},
			func(a, b api.Cluster) int { return b.Size - a.Size },
			func(c *api.Cluster) bool { return strings.HasPrefix(c.Representative.Title, "Story a") },
		},
	} {
		want := slices.DeleteFunc(slices.Clone(all), func(c api.Cluster) bool {
			return tt.has != nil && !tt.has(&c)
		})
		slices.SortFunc(want, func(a, b api.Cluster) int {
			order := 0
			if tt.compare != nil {
				order = tt.compare(a, b)
			}
			return cmp.Or(order, cmp.Compare(seqOf(&b), seqOf(&a)))
		})
		for _, limit := range []int{1, 7, api.MaxPage} {
			q := tt.query
			q.Limit, q.Minutes = limit, 1
			if got := s.pages(q); !slices.Equal(seqsOf(got), seqsOf(want)) || len(got) == 0 {
				t.Errorf("%+v: %d clusters %v; want %d: %v", q, len(got), seqsOf(got), len(want),
					seqsOf(want))
			}
		}
	}
}

// Activity counts the articles that joined, by the minute in which they came.
func TestActivity(t *testing.T) {
	s := newSite(t, 0)
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	first := s.commit(start, 1)
	s.commit(start.Add(time.Minute), 1, 1)
	s.commit(start.Add(3*time.Minute), 1)
	id := first[0].ID()
	got, since := s.Activity([]string{id, "articles/0/999", "odd"})
	want := make([]int, api.MaxMinutes)
	want[api.MaxMinutes-3], want[api.MaxMinutes-1] = 2, 1
	if !slices.Equal(got[0], want) || got[1] != nil || got[2] != nil || !since.IsZero() {
		t.Errorf("%v since %v, want %v and nothing of what is not there", got, since, want)
	}
	s.commit(start.Add(2*api.MaxMinutes*time.Minute), 1<<63) // which joins nothing
	if got, _ := s.Activity([]string{id}); got[0] != nil {
		t.Errorf("of long ago: %v", got[0])
	}
	grow := api.ClusterQuery{Sort: api.ByGrowth, Minutes: api.MaxMinutes, Limit: 1}
	if got := s.pages(grow); len(got) > 0 {
		t.Errorf("%d clusters are said to grow", len(got))
	}
}

// After a restart, growth is counted anew. A list says when counting began, until stream time has
// gone on by the minutes of the query.
func TestGrowthAfterARestart(t *testing.T) {
	s := newSite(t, 0)
	id := s.commit(start, 1, 1)[0].ID()
	s.Withdraw("all")
	before := time.Now()
	s.Publish("all", s.space)
	after := time.Now()
	check := func(minutes int, articles int, counted bool) {
		t.Helper()
		clear(s.all()[0].ranking.sorted) // which would be given out for a second
		q := api.ClusterQuery{Sort: api.ByGrowth, Minutes: minutes, Limit: 1}
		p, err := s.Clusters(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		grown := 0
		if len(p.Clusters) > 0 {
			grown = *p.Clusters[0].Growth
		}
		anew := !p.Since.Before(before) && !p.Since.After(after)
		if grown != articles || anew == counted || !anew && !p.Since.IsZero() {
			t.Errorf("within %d min it grew by %d since %v; want %d, and all of them counted: %v", minutes,
				grown, p.Since, articles, counted)
		}
		if _, since := s.Activity([]string{id}); minutes == api.MaxMinutes && !since.Equal(p.Since) {
			t.Errorf("the activity is since %v, the list since %v", since, p.Since)
		}
	}
	check(1, 0, false)
	s.commit(start.Add(50*time.Second), 1) // in the minute of the restart
	check(1, 1, false)
	s.commit(start.Add(time.Minute), 1)
	check(1, 1, true)
	check(2, 2, false)
	check(api.MaxMinutes, 2, false)
	s.commit(start.Add(api.MaxMinutes*time.Minute), 1)
	check(api.MaxMinutes, 2, true)
	p, err := s.Clusters(t.Context(), api.ClusterQuery{Sort: api.BySize, Minutes: 1, Limit: 1})
	if err != nil || !p.Since.IsZero() {
		t.Errorf("a list by size is since %v, %v", p.Since, err)
	}
}

// What is labelled is found by its label, among all that are, and leaves when it expires.
func TestLabelledClusters(t *testing.T) {
	s := newSite(t, time.Hour)
	touched := s.commit(start, 1, 2, 3, 4, 5, 5)
	s.label(touched[1:3], "spam")
	s.label(touched[4:], "ham")
	spam := api.ClusterQuery{Sort: api.BySize, Minutes: 1, Limit: 1, Label: "spam"}
	if got := seqsOf(s.pages(spam)); !slices.Equal(got, []uint64{2, 1}) {
		t.Errorf("with label spam: %v", got)
	}
	var all []uint64
	for after, more := "", true; more; {
		p, err := s.Labelled(t.Context(), after, 2)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seqsOf(p.Clusters)...)
		after, more = p.Next, p.Next != ""
	}
	if !slices.Equal(all, []uint64{1, 2, 4}) {
		t.Errorf("labelled are %v", all)
	}
	s.commit(start.Add(2*time.Hour), 9)
	if p, err := s.Labelled(t.Context(), "", 2); err != nil || len(p.Clusters) > 0 {
		t.Errorf("after the window %v are labelled, %v", seqsOf(p.Clusters), err)
	}
	q := api.ClusterQuery{Sort: api.Newest, Minutes: 1, Limit: 1}
	if got := seqsOf(s.pages(q)); !slices.Equal(got, []uint64{6}) {
		t.Errorf("after the window there are %v", got)
	}
}

// What was there before the service is read when somebody first asks for a list, and of very many
// the largest and the newest are known.
func TestClustersOfBefore(t *testing.T) {
	s := newSite(t, 0)
	s.Withdraw("all")
	const clusters = 5 * listed
	hashes := make([]uint64, clusters)
	for i := range hashes {
		hashes[i] = uint64(i)
	}
	s.commit(start, hashes...)
	s.commit(start, hashes[100:1100]...)
	s.commit(start, hashes[100:200]...)
	s.Publish("all", s.space)
	var p api.Clusters
	wait.Until(t, "all clusters to be read", func() (complete bool) {
		var err error
		q := api.ClusterQuery{Sort: api.BySize, Minutes: 1, Limit: api.MaxPage}
		if p, err = s.Clusters(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		return p.Complete && len(p.Clusters) == api.MaxPage && p.Clusters[0].Size == 3
	})
	for i, c := range p.Clusters {
		if want := uint64(199 - i); i < 100 && seqOf(&c) != want || i >= 100 && c.Size != 2 {
			t.Fatalf("at %d is cluster %s of size %d", i, c.ClusterID, c.Size)
		}
	}
	p, err := s.Clusters(t.Context(), api.ClusterQuery{Sort: api.Newest, Minutes: 1, Limit: 3})
	if got := seqsOf(p.Clusters); err != nil ||
		!slices.Equal(got, []uint64{clusters - 1, clusters - 2, clusters - 3}) {
		t.Errorf("the newest are %v, %v", got, err)
	}
	if n := len(s.all()[0].ranking.entries); n > 4*listed {
		t.Errorf("%d clusters are kept", n)
	}
}

func TestCheckRefuses(t *testing.T) {
	s := newSite(t, 0)
	text := []api.Text{{Title: "港口大桥", Content: "今天通车"}}
	one := 1
	none := api.CheckOptions{}
	var invalid *api.InvalidError
	_, err := s.Check(t.Context(), []api.Text{{Content: strings.Repeat("x", 1001)}}, none)
	if !errors.As(err, &invalid) || invalid.Field != "content" {
		t.Errorf("of a long text: %v", err)
	}
	if a, err := s.Check(t.Context(), []api.Text{{Title: " "}}, none); err != nil ||
		a[0].Status != article.Unclustered || a[0].AsOf.Space != "all" {
		t.Errorf("of a text without words: %+v, %v", a, err)
	}
	s.Withdraw("all")
	if _, err := s.Check(t.Context(), text, none); !errors.Is(err, api.ErrNotReady) {
		t.Errorf("without a space: %v", err)
	}
	divided := New(Options{Config: configured("partition")})
	divided.fingerprinter = s.fingerprinter
	divided.Publish("0", s.space)
	if _, err := divided.Check(t.Context(), text, none); !errors.As(err, &invalid) {
		t.Errorf("without a partition: %v", err)
	}
	var elsewhere *api.ElsewhereError
	_, err = divided.Check(t.Context(), text, api.CheckOptions{Partition: &one})
	if !errors.As(err, &elsewhere) || elsewhere.Space != "1" ||
		!strings.Contains(elsewhere.Reason, "this one has those of [0]") {
		t.Errorf("of another partition: %v", err)
	}
}

// With spaces by a field, a text is asked about in one of them. The partition is that of the value.
func TestCheckByField(t *testing.T) {
	c := configured(config.ByField)
	c.Cluster.ScopeField = "lang"
	f, err := fingerprint.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Config: c})
	s.Begin(f)
	text := []api.Text{{Title: "港口大桥", Content: "今天通车"}}
	for name, values := range map[string][]string{"0": {"zh", "both"}, "1": {"en", "both"}} {
		index, err := f.NewIndex()
		if err != nil {
			t.Fatal(err)
		}
		store, err := state.OpenInMemory(state.Identity{Input: "articles"})
		if err != nil {
			t.Fatal(err)
		}
		of := space.New(index, store, space.OptionsOf(c, f.Threshold()), time.Now)
		t.Cleanup(func() { _ = of.Close() })
		var articles []fingerprint.Article
		for i, value := range values {
			a := f.One(article.Article{Title: text[0].Title, Content: text[0].Content, Space: value})
			a.Source = article.Address{Topic: "articles", Offset: int64(i)}
			a.Source.Partition, _ = strconv.Atoi(name)
			articles = append(articles, a)
		}
		b, err := of.Assign(clustertest.Each(articles), len(articles))
		if err == nil {
			err = of.Commit(b, of.Meta())
		}
		if err != nil {
			t.Fatal(err)
		}
		s.Publish(name, of)
	}
	value := func(v string) *string { return &v }
	one := 1
	for name, tt := range map[string]struct {
		value     *string
		partition *int
		status    article.Status
		space     string
		refused   string // the field that is invalid
	}{
		"no value":                {nil, nil, "", "", "space"},
		"too long a value":        {value(strings.Repeat("x", 257)), nil, "", "", "space"},
		"in one partition":        {value("zh"), nil, article.Joined, "0", ""},
		"in the other one":        {value("en"), nil, article.Joined, "1", ""},
		"in both":                 {value("both"), nil, "", "", "partition"},
		"in both, and one said":   {value("both"), &one, article.Joined, "1", ""},
		"in another one":          {value("zh"), &one, article.New, "1", ""},
		"unknown":                 {value("fr"), nil, "", "", "partition"},
		"unknown, with partition": {value(""), &one, article.New, "1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := s.Check(t.Context(), text, api.CheckOptions{
				Space: tt.value, Partition: tt.partition,
			})
			var invalid *api.InvalidError
			if tt.refused != "" {
				if !errors.As(err, &invalid) || invalid.Field != tt.refused {
					t.Errorf("%v, want that %s is invalid", err, tt.refused)
				}
				return
			}
			if err != nil || a[0].Status != tt.status || a[0].AsOf.Space != tt.space {
				t.Errorf("%+v, %v, want %s in %s", a, err, tt.status, tt.space)
			}
		})
	}
	whole := New(Options{Config: configured("topic")})
	var invalid *api.InvalidError
	_, err = whole.Check(t.Context(), text, api.CheckOptions{Space: value("zh")})
	if !errors.As(err, &invalid) || invalid.Field != "space" {
		t.Errorf("a value in a space that is not divided: %v", err)
	}
}

func TestClusterAndCompare(t *testing.T) {
	s := newSite(t, time.Hour)
	c := s.commit(start, 7)[0]
	got, asOf, err := s.Cluster(t.Context(), c.ID())
	if err != nil || got.ClusterID != c.ID() || got.Size != 1 ||
		got.Fingerprint != article.Fingerprint(c.Hash) || got.Representative != c.Representative ||
		asOf.Position != 1 || !asOf.StreamTime.Equal(start) {
		t.Errorf("cluster %+v as of %+v, %v; want %+v", got, asOf, err, c)
	}
	s.commit(start.Add(2*time.Hour), 8)
	for _, id := range []string{c.ID(), "articles/0/99", "other/0/0", "x"} {
		if _, _, err := s.Cluster(t.Context(), id); !errors.Is(err, api.ErrUnknown) {
			t.Errorf("%s: %v, want that it is unknown", id, err)
		}
	}
	a, b := api.Text{Title: "港口大桥", Content: "今天通车"}, api.Text{Title: "市场价格", Content: "上涨"}
	for _, tt := range []struct {
		a, b api.Text
		same bool
	}{{a, a, true}, {a, b, false}, {a, api.Text{}, false}} {
		got, err := s.Compare(t.Context(), tt.a, tt.b)
		if err != nil || got.Same != tt.same || (got.Fingerprints[1] != nil) != (tt.b != api.Text{}) ||
			got.Same && (got.Distance == nil || *got.Distance != 0) {
			t.Errorf("%+v and %+v: %+v, %v", tt.a, tt.b, got, err)
		}
	}
}
