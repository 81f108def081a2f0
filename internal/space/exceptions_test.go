package space

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// exceptionWalk feeds a space of one cluster, whose articles have several fingerprints, and keeps
// its labels as sets: those of the cluster under the key "", those of articles by fingerprint.
type exceptionWalk struct {
	*testing.T
	rng     *rand.Rand
	store   *state.Store
	space   *Space
	labels  map[string]map[labelKey]bool
	offset  int64
	records int64
	seen    map[string]int
}

func (w *exceptionWalk) open() {
	o := labelOptions()
	o.Labels.Flood = 1
	w.space = New(hamming.Centres(hamming.NewBTree(3)), w.store, o,
		func() time.Time { return at(0) })
	err := w.space.Load(w.Context(), func(singlepass.Fingerprint) error { return nil })
	if err != nil {
		w.Fatal(err)
	}
}

// print returns one of the fingerprints that are near enough to the founder's, which is 0.
func (w *exceptionWalk) print() uint64 { return uint64(w.rng.IntN(4)) }

// carried is what an article with this fingerprint carries by the sets: labels, and trial labels.
func (w *exceptionWalk) carried(print uint64) (labels, trial []string) {
	all := maps.Clone(w.labels[""])
	maps.Copy(all, w.labels[fmt.Sprint(print)])
	for key := range all {
		switch {
		case key.trial:
			trial = append(trial, key.name)
		case !all[labelKey{"ham", false}] || key.name == "ham":
			labels = append(labels, key.name)
		}
	}
	slices.Sort(labels)
	slices.Sort(trial)
	return labels, trial
}

// record makes a label record of the cluster or an article, and applies it to the sets.
func (w *exceptionWalk) record() (r article.LabelRecord, print uint64) {
	r = article.LabelRecord{Action: article.AddLabel, Cluster: article.Address{Topic: "articles"}}
	r.Label = clustertest.Label([]string{"spam", "ham", "scam"}[w.rng.IntN(3)], w.records)
	w.records++
	if w.rng.IntN(2) == 0 {
		r.Action = article.RemoveLabel
	}
	of, print := "", w.print()
	if w.rng.IntN(3) > 0 {
		of = fmt.Sprint(print)
		r.Targeted = article.Targeted{
			Target: article.TargetArticle, ArticleID: "a", MemberPosition: print,
			Fingerprint: article.Fingerprint(print),
			Source:      article.Address{Topic: "articles", Offset: int64(print)},
		}
	}
	if w.labels[of] == nil {
		w.labels[of] = make(map[labelKey]bool)
	}
	key := labelKey{r.Name, r.Trial}
	if r.Action == article.AddLabel {
		w.labels[of][key] = true
	} else {
		delete(w.labels[of], key)
	}
	return r, print
}

// labelled applies a record, and holds who is told what to the sets.
func (w *exceptionWalk) labelled() {
	var before [4][]string
	for print := range before {
		before[print], _ = w.carried(uint64(print))
	}
	r, print := w.record()
	b := w.commit([]article.LabelRecord{r}, nil)
	changes := b.Changes()
	changed, _ := w.carried(print)
	switch {
	case r.Target == article.TargetArticle && slices.Equal(before[print], changed):
		w.seen["nothing for the article"]++
		if len(changes) > 0 {
			w.Fatalf("%+v: %+v", r, changes)
		}
	case r.Target == article.TargetArticle:
		w.seen["the article"]++
		if len(changes) != 1 || changes[0].Article == nil || changes[0].Article.Position != print ||
			changes[0].Target != article.TargetArticle || !slices.Equal(changes[0].Labels, changed) {
			w.Fatalf("%+v: %+v, want %v", r, changes, changed)
		}
	case len(changes) == 1:
		w.seen["the cluster"]++
		for print := range before {
			want, _ := w.carried(uint64(print))
			m := article.Member{Fingerprint: new(article.Fingerprint(print))}
			if got := changes[0].LabelsOf(&m); !slices.Equal(got, want) {
				w.Fatalf("%+v: article %d is told %v, want %v", r, print, got, want)
			}
		}
	default:
		w.seen["nothing for the cluster"]++
		for print := range before {
			if now, _ := w.carried(uint64(print)); !slices.Equal(now, before[print]) {
				w.Fatalf("%+v: article %d is not told of %v", r, print, now)
			}
		}
	}
}

// article has an article come, after a check of it, and holds what both carry to the sets.
func (w *exceptionWalk) article(print uint64) {
	labels, trial := w.carried(print)
	w.offset++
	a := inItsTime(clustertest.Article(w.offset-1, print, at(0)))
	if w.offset > 1 {
		checked, err := w.space.Check(w.Context(), Question{
			Fingerprint: a.Fingerprint, PublishedAt: a.PublishedAt,
		})
		if err != nil || !slices.Equal(checked.Carried.Labels, labels) ||
			!slices.Equal(checked.Carried.Trial, trial) {
			w.Fatalf("a check of article %d: %+v, %v; want %v and %v", print, checked.Carried, err, labels,
				trial)
		}
	}
	b := w.commit(nil, []fingerprint.Article{a})
	want := fmt.Sprintf("articles/0/0 %q %q", labels, trial)
	if got := assigned(&b.Assignments[0]); got != want {
		w.Fatalf("article %d: %s, want %s", print, got, want)
	}
}

func (w *exceptionWalk) commit(
	records []article.LabelRecord, articles []fingerprint.Article,
) Batch {
	b, err := w.space.AssignLabelled(LabelWork{Records: records, Room: 100},
		clustertest.Each(articles), len(articles))
	if err != nil {
		w.Fatal(err)
	}
	m := w.space.Meta()
	m.Checkpoint = &checkpoint.Record{
		NextPosition: w.space.State().Next, StreamTime: w.space.State().StreamTime,
	}
	if err := w.space.Commit(b, m); err != nil {
		w.Fatal(err)
	}
	return b
}

// A label on one article is carried by the articles that are equal to it and by checks of these,
// and by no others, whatever becomes of the cluster's labels and however often the space is opened.
func TestLabelsOfSingleArticles(t *testing.T) {
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		t.Fatal(err)
	}
	w := &exceptionWalk{
		T: t, rng: rand.New(rand.NewPCG(7, 7)), store: store, seen: make(map[string]int),
		labels: map[string]map[labelKey]bool{"": {}},
	}
	w.open()
	w.article(0)
	for range 600 {
		switch w.rng.IntN(12) {
		case 0:
			if err := w.space.views.close(); err != nil {
				t.Fatal(err)
			}
			w.open()
		case 1, 2, 3, 4:
			w.labelled()
		default:
			w.article(w.print())
		}
	}
	for _, what := range []string{
		"the article", "the cluster", "nothing for the article", "nothing for the cluster",
	} {
		if w.seen[what] < 5 {
			t.Errorf("too little of %q: %v", what, w.seen)
		}
	}
	if err := w.space.Close(); err != nil {
		t.Error(err)
	}
}

// What has no room is rejected, and says what to do.
func TestTooManyExceptions(t *testing.T) {
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		t.Fatal(err)
	}
	w := &exceptionWalk{T: t, store: store, labels: map[string]map[labelKey]bool{"": {}}}
	w.open()
	w.article(0)
	for i := range article.MaxExceptions + 1 {
		r := article.LabelRecord{
			Action: article.AddLabel, Cluster: article.Address{Topic: "articles"},
			Label: clustertest.Label("ham", int64(i)), Targeted: article.Targeted{
				Target: article.TargetArticle, ArticleID: "a", Fingerprint: article.Fingerprint(i),
				Source: article.Address{Topic: "articles"},
			},
		}
		l := w.commit([]article.LabelRecord{r}, nil).Labelled[0]
		if full := i == article.MaxExceptions; full != (l.Rejection != nil) ||
			full && l.Rejection.Class != article.TooManyLabels {
			t.Errorf("exception %d: %+v", i, l.Rejection)
		}
	}
	if err := w.space.Close(); err != nil {
		t.Error(err)
	}
}
