package space

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// allParts returns a space with all parts.
func allParts(t *testing.T) *Space {
	t.Helper()
	o := storyOptions()
	o.Marks, o.Labels = true, labelOptions().Labels
	s := New(hamming.Centres(hamming.NewBTree(0)), emptyStore(t), o,
		func() time.Time { return at(1000 * time.Hour) })
	if err := s.Load(t.Context(), func(singlepass.Fingerprint) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return s
}

// work is what a batch is made of, and what became of it.
type work struct {
	LabelWork
	articles []fingerprint.Article
	Batch
}

func (w *work) assign(t *testing.T, s *Space) {
	t.Helper()
	var err error
	w.Batch, err = s.AssignLabelled(w.LabelWork, clustertest.Each(w.articles), len(w.articles))
	if err != nil {
		t.Fatal(err)
	}
}

func (w *work) commit(t *testing.T, s *Space) {
	t.Helper()
	m := s.Meta()
	m.Checkpoint = &checkpoint.Record{
		NextPosition: w.after.Next, StreamTime: w.after.StreamTime,
		Labels: &checkpoint.Labels{Flood: w.Flood.Counts},
	}
	if err := s.Commit(w.Batch, m); err != nil {
		t.Fatal(err)
	}
}

// told is what others learn of a batch. Which expired clusters it removes is not among it: those
// that wait for a batch before it come later.
func (w *work) told() (all []string) {
	for i := range w.Labelled {
		all = append(all, became(&w.Labelled[i]))
	}
	for i := range w.Assignments {
		a := &w.Assignments[i]
		all = append(all, fmt.Sprint(assigned(a), a.Size, a.Position, a.Story, a.StorySimilarity))
	}
	return append(all, fmt.Sprintf("%v %v %v", w.Touched, w.Stories, w.Flood))
}

// In whatever order batches are begun, sealed, committed and rolled back: the space is what the
// plain model is, to which nothing has come but the batches that were committed, one by one.
func TestOnlyCommittedBatchesCount(t *testing.T) {
	const mostAhead = 4
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 8))
			feed := &events{Rand: rand.New(rand.NewPCG(seed, 9))}
			space, model := allParts(t), allParts(t)
			var open []*work
			var founders []article.Address
			var due []checkpoint.Due
			did := make(map[string]int)
			for range 600 {
				mayAssign := len(open) == 0 || len(open) < mostAhead && open[len(open)-1].Ahead
				switch what := r.IntN(10); {
				case what < 5 && mayAssign:
					w := &work{}
					for range r.IntN(15) {
						a := feed.next()
						a.Fingerprint.Contacts = singlepass.NewContacts(
							[]string{fmt.Sprintf("+4930123456%02d", r.IntN(20))})
						w.articles = append(w.articles, a)
					}
					// Labels are applied where nothing is ahead.
					if w.Room = 100; len(open) == 0 {
						w.LabelWork.Due = due
						for range min(r.IntN(3), len(founders)) {
							w.Records = append(w.Records, article.LabelRecord{
								Action:  []article.Action{article.AddLabel, article.RemoveLabel}[r.IntN(2)],
								Label:   clustertest.Label([]string{"spam", "ham"}[r.IntN(2)], int64(did["sealed"])),
								Cluster: founders[len(founders)-1-r.IntN(min(8, len(founders)))],
							})
						}
					}
					w.assign(t, space)
					open = append(open, w)
					did["sealed"]++
					did["ahead"] += len(open) - 1
				case what < 9 && len(open) > 0:
					w := open[0]
					open = open[1:]
					w.commit(t, space)
					same := &work{LabelWork: w.LabelWork, articles: slices.Clone(w.articles)}
					same.assign(t, model)
					same.commit(t, model)
					if diff := cmp.Diff(same.told(), w.told()); diff != "" {
						t.Fatalf("model (-) and space (+):\n%s", diff)
					}
					due = w.Batch.Due
					for i := range w.Assignments {
						if a := &w.Assignments[i]; a.Status == article.New {
							founders = append(founders, a.Source)
						}
						if w.Assignments[i].Carried != nil {
							did["carried"]++
						}
					}
					did["committed"]++
				case what == 9 && len(open) > 0:
					did["rolled back"] += len(open)
					space.Rollback()
					open = nil
				}
			}
			space.Rollback()
			for _, what := range []string{"sealed", "ahead", "committed", "rolled back", "carried"} {
				if did[what] < 20 {
					t.Errorf("too little of %q: %v", what, did)
				}
			}
			type all struct {
				State    singlepass.State
				Clusters []cluster.Cluster
				Stories  []cluster.Story
				Floods   []string
				Marks    label.Tally
			}
			of := func(s *Space) all {
				return all{s.State(), s.live(t), allStories(t, s), s.FloodLabels(), s.Marks()}
			}
			if diff := cmp.Diff(of(model), of(space)); diff != "" {
				t.Errorf("model (-) and space (+):\n%s", diff)
			}
		})
	}
}
