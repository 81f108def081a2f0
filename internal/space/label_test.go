package space

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// labelOptions are those of a space with labels in which clusters expire after an hour, and two
// hours later where they are labelled.
func labelOptions() Options {
	return Options{
		Rule: singlepass.Rule{Window: time.Hour},
		Labels: Labels{
			On: true, Allow: []string{"ham"}, Kept: 2 * time.Hour.Milliseconds(), Flood: 0.02,
		},
	}
}

// plainCluster is a cluster of the plain model.
type plainCluster struct {
	founder  article.Address
	hash     uint64
	lastSeen int64
	labels   label.Set
}

// plain is the rule of labels over a slice, one article and one record after the other.
type plain struct {
	clusters []plainCluster // in founding order
	stream   int64
	next     uint64
	guard    *label.Guard
}

func (p *plain) clone() *plain {
	c := *p
	c.clusters, c.guard = slices.Clone(p.clusters), p.guard.Clone()
	return &c
}

func (p *plain) lives(c *plainCluster) bool {
	until := c.lastSeen + time.Hour.Milliseconds()
	if c.labels != "" {
		until += 2 * time.Hour.Milliseconds()
	}
	return until >= p.stream
}

// article returns what becomes of an article, as a text.
func (p *plain) article(a *fingerprint.Article) string {
	at := a.PublishedAt.UnixMilli()
	p.stream = max(p.stream, at)
	joined := slices.IndexFunc(p.clusters, func(c plainCluster) bool {
		return c.hash == a.Fingerprint.Hash && p.lives(&c)
	})
	if joined < 0 {
		joined = len(p.clusters)
		p.clusters = append(p.clusters, plainCluster{
			founder: a.Source, hash: a.Fingerprint.Hash, lastSeen: at,
		})
	}
	c := &p.clusters[joined]
	c.lastSeen = max(c.lastSeen, at)
	carried := label.Carry(c.labels.All(), 1, []string{"ham"})
	p.guard.Count(p.next, carried.Labels)
	p.next++
	return fmt.Sprintf("%s %q %q", c.founder, carried.Labels, carried.Trial)
}

// apply does what a label record asks for.
func apply(s label.Set, r *article.LabelRecord, position uint64) (label.Set, error) {
	_, has := s.Get(r.Name, r.Trial)
	switch {
	case r.Action == article.RemoveLabel:
		return s.Without(r.Name, r.Trial), nil
	case has:
		return s, nil
	}
	l := r.Label
	l.Position = position
	return s.With(l)
}

// label returns what becomes of a label record, as a text.
func (p *plain) label(r *article.LabelRecord) string {
	if r.Action == article.ResumeLabel {
		return "nothing"
	}
	at := slices.IndexFunc(p.clusters, func(c plainCluster) bool {
		return c.founder == r.Cluster && p.lives(&c)
	})
	if at < 0 {
		return "unknown_cluster"
	}
	c := &p.clusters[at]
	before := label.Carry(c.labels.All(), 1, []string{"ham"}).Labels
	set, err := apply(c.labels, r, p.next)
	if errors.Is(err, label.ErrTooMany) {
		return "too_many_labels"
	}
	c.labels = set
	if after := label.Carry(set.All(), 1, []string{"ham"}).Labels; !slices.Equal(before, after) {
		return fmt.Sprint("carries ", after, " from ", p.next)
	}
	return "nothing"
}

// became returns the same of what the space did.
func became(l *Labelled) string {
	switch {
	case l.Rejection != nil:
		return string(l.Rejection.Class)
	case l.Carried != nil:
		return fmt.Sprint("carries ", l.Carried.Labels, " from ", l.Carried.Position)
	default:
		return "nothing"
	}
}

func assigned(a *Assignment) string {
	carried := label.Carried{}
	if a.Carried != nil {
		carried = *a.Carried
	}
	return fmt.Sprintf("%s %q %q", a.ClusterID, carried.Labels, carried.Trial)
}

// In whatever batches articles and label records come, whatever is rolled back, and however often
// the space is closed and opened: what becomes of each is what the plain model says.
func TestLabelsAreThoseOfThePlainModel(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			store, err := state.OpenInMemory(state.Identity{Input: "articles"})
			if err != nil {
				t.Fatal(err)
			}
			open := func() *Space {
				s := New(hamming.Centres(hamming.NewBTree(0)), store, labelOptions(),
					func() time.Time { return at(1000 * time.Hour) })
				if err := s.Load(t.Context(), func(singlepass.Fingerprint) error { return nil }); err != nil {
					t.Fatal(err)
				}
				return s
			}
			w := &labelWalk{
				T: t, rng: rand.New(rand.NewPCG(seed, 3)), seen: make(map[string]int),
				model: &plain{guard: label.NewGuard(0.02, 0, nil)},
			}
			s := open()
			for range 150 {
				w.batch(s)
				if w.rng.IntN(10) == 0 {
					if err := s.views.close(); err != nil {
						t.Fatal(err)
					}
					s = open()
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			for _, what := range []string{
				"unknown_cluster", "carries", "nothing", "kept", "above the share",
			} {
				if w.seen[what] == 0 {
					t.Errorf("nothing of %q: %v", what, w.seen)
				}
			}
		})
	}
}

// labelWalk feeds a space and the model.
type labelWalk struct {
	*testing.T
	rng     *rand.Rand
	model   *plain
	now     time.Duration
	offset  int64
	records int64
	seen    map[string]int
}

func (w *labelWalk) record() article.LabelRecord {
	r := article.LabelRecord{Action: article.AddLabel, Label: clustertest.Label(
		[]string{"spam", "ham", "a", "b"}[w.rng.IntN(4)], w.records)}
	w.records++
	switch w.rng.IntN(6) {
	case 0:
		r.Action = article.ResumeLabel
		return r
	case 1, 2:
		r.Action = article.RemoveLabel
	}
	if n := len(w.model.clusters); n > 0 {
		r.Cluster = w.model.clusters[n-1-w.rng.IntN(min(n, 8))].founder
	}
	return r
}

func (w *labelWalk) batch(s *Space) {
	var records []article.LabelRecord
	var articles []fingerprint.Article
	for range w.rng.IntN(4) {
		records = append(records, w.record())
	}
	for range w.rng.IntN(12) {
		w.now += time.Duration(w.rng.IntN(10)) * time.Minute
		late := time.Duration(w.rng.IntN(40)) * time.Minute
		articles = append(articles, inItsTime(clustertest.Article(w.offset, far[w.rng.IntN(len(far))],
			at(w.now-late))))
		w.offset++
	}
	next := w.model.clone()
	var want, got []string
	for i := range records {
		want = append(want, next.label(&records[i]))
	}
	for i := range articles {
		want = append(want, next.article(&articles[i]))
	}
	b, err := s.AssignLabelled(LabelWork{Records: records, Room: 100}, clustertest.Each(articles),
		len(articles))
	if err != nil {
		w.Fatal(err)
	}
	for i := range b.Labelled {
		got = append(got, became(&b.Labelled[i]))
	}
	for i := range b.Assignments {
		got = append(got, assigned(&b.Assignments[i]))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Fatalf("model (-) and space (+):\n%s", diff)
	}
	if w.rng.IntN(4) == 0 {
		s.Rollback()
		return
	}
	m := s.Meta()
	m.Checkpoint = &checkpoint.Record{
		NextPosition: s.State().Next, StreamTime: s.State().StreamTime,
		Labels: &checkpoint.Labels{Flood: b.Flood.Counts},
	}
	if err := s.Commit(b, m); err != nil {
		w.Fatal(err)
	}
	if got, want := s.FloodLabels(), next.guard.Above(); !slices.Equal(got, want) {
		w.Fatalf("%v hit too many articles, want %v", got, want)
	}
	w.count(want, next)
	w.model = next
}

// count notes what has been there, so that the test shows something.
func (w *labelWalk) count(became []string, m *plain) {
	for _, text := range became {
		for _, what := range []string{"unknown_cluster", "carries", "nothing"} {
			if strings.HasPrefix(text, what) {
				w.seen[what]++
			}
		}
	}
	w.seen["above the share"] += len(m.guard.Above())
	for _, c := range m.clusters {
		if m.lives(&c) && c.lastSeen+time.Hour.Milliseconds() < m.stream {
			w.seen["kept"]++
		}
	}
}
