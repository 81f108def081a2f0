package space

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// eachMethod runs a test for every method.
func eachMethod(t *testing.T, test func(t *testing.T, m method.Method)) {
	t.Helper()
	for _, name := range method.Names() {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			c.Fingerprint.Method = name
			m, err := method.New(c.MethodSettings())
			if err != nil {
				t.Fatal(err)
			}
			test(t, m)
		})
	}
}

// testWindow is the window of these tests.
const testWindow = 10 * time.Minute

// spaceOf returns an empty space of a method, in memory, with a clock.
func spaceOf(t *testing.T, m method.Method, now func() time.Time) *Space {
	t.Helper()
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		t.Fatal(err)
	}
	index, err := m.NewIndex(m.Threshold())
	if err != nil {
		t.Fatal(err)
	}
	rule := singlepass.Rule{Window: testWindow}
	s := New(index, store, Options{Rule: rule, Threshold: m.Threshold()}, now)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A walk makes articles: many are others again with some words changed, some have a contact. Time
// goes on, leaps and falls back.
type walk struct {
	r     *rand.Rand
	known []singlepass.Fingerprint // of many texts
	at    time.Time
	n     int64
}

func newWalk(m method.Method, seed uint64) *walk {
	w := &walk{r: rand.New(rand.NewPCG(seed, 1)), at: wallClock}
	texts, print := sample.New(seed, wallClock), m.NewFingerprinter()
	var all []sample.Article
	for len(w.known) < 300 {
		a := texts.Next()
		if len(all) > 0 && w.r.IntN(3) > 0 {
			text := []rune(all[w.r.IntN(len(all))].Content)
			from := w.r.IntN(len(text))
			a.Content = string(slices.Delete(text, from, min(len(text), from+w.r.IntN(6))))
		}
		all = append(all, a)
		if f, ok := print(a.Title, a.Content); ok {
			w.known = append(w.known, f)
		}
	}
	return w
}

func (w *walk) fingerprint() singlepass.Fingerprint {
	f := w.known[w.r.IntN(len(w.known))]
	if w.r.IntN(8) == 0 {
		f.Contacts = singlepass.NewContacts([]string{string('a' + rune(w.r.IntN(4)))})
	}
	return f
}

func (w *walk) next() fingerprint.Article {
	switch w.r.IntN(200) {
	case 0:
		w.at = w.at.Add(3 * testWindow)
	case 1, 2, 3:
		w.at = w.at.Add(testWindow / 5)
	default:
		w.at = w.at.Add(time.Duration(w.r.IntN(3000)) * time.Millisecond)
	}
	at := w.at
	if w.r.IntN(20) == 0 {
		at = at.Add(-time.Duration(w.r.Int64N(int64(2 * testWindow))))
	}
	a := clustertest.Article(w.n, 0, at)
	a.Fingerprint, a.RecordedAt = w.fingerprint(), at
	w.n++
	return a
}

// An observation is what a reader was told.
type observation struct {
	singlepass.Fingerprint
	Answer
}

// observed counts what all readers were told after the first commit.
type observed struct{ joined, founded atomic.Int64 }

func (o *observed) add(a Answer) {
	switch {
	case a.AsOf.Position == 0:
	case a.Size > 0:
		o.joined.Add(1)
	default:
		o.founded.Add(1)
	}
}

// observe asks until stop, and then returns what it was told.
func observe(
	t *testing.T, s *Space, w *walk, now func() time.Time, stop *atomic.Bool, counts *observed,
) (seen []observation) {
	for !stop.Load() {
		q := Question{Fingerprint: w.fingerprint(), RunnersUp: w.r.IntN(3)}
		if w.r.IntN(2) == 0 {
			q.PublishedAt = now().Add(-time.Duration(w.r.Int64N(int64(testWindow))))
		}
		a, err := s.Check(t.Context(), q)
		if err != nil {
			t.Error(err)
			return seen
		}
		seen = append(seen, observation{q.Fingerprint, a})
		counts.add(a)
	}
	return seen
}

// Whatever is in hand meanwhile, committed or taken back, a check is answered as [Space.Assign]
// would for the article at that position.
func TestCheckBesideTheWriter(t *testing.T) {
	eachMethod(t, func(t *testing.T, m method.Method) {
		var clock atomic.Int64
		now := func() time.Time { return time.UnixMilli(clock.Load()) }
		w := newWalk(m, 1)
		clock.Store(w.at.UnixMilli())
		s := spaceOf(t, m, now)
		s.publish(singlepass.Commit{})
		var stop atomic.Bool
		var counts observed
		var readers sync.WaitGroup
		seen := make([][]observation, 3)
		for i := range seen {
			// Its walk is another, of the same texts.
			readers.Go(func() {
				seen[i] = observe(t, s, &walk{r: rand.New(rand.NewPCG(2, uint64(i))), known: w.known}, now,
					&stop, &counts)
			})
		}
		articles := 800
		if check.Race {
			articles = 250
		}
		committed := write(t, s, w, &clock, func(n int) bool {
			return n >= articles && counts.joined.Load() >= 100 && counts.founded.Load() >= 10
		})
		stop.Store(true)
		readers.Wait()
		replay(t, m, committed, slices.Concat(seen...))
	})
}

// write assigns articles in batches, of which it takes some back, until enough are committed and
// one batch more, and returns these.
func write(
	t *testing.T, s *Space, w *walk, clock *atomic.Int64, enough func(n int) bool,
) []fingerprint.Article {
	var committed []fingerprint.Article
	for {
		last := enough(len(committed))
		batch := make([]fingerprint.Article, 1+w.r.IntN(40))
		for i := range batch {
			batch[i] = w.next()
		}
		clock.Store(w.at.UnixMilli())
		b, err := assign(s, batch)
		switch {
		case err != nil:
		case w.r.IntN(5) == 0:
			s.Rollback()
			continue
		default:
			err = s.Commit(b, s.Meta())
		}
		if err != nil {
			t.Fatal(err)
		}
		committed = append(committed, batch...)
		if last {
			return committed
		}
	}
}

// replay assigns the articles once more, one by one, and what readers asked about at the position
// that they were told of. That it takes back.
func replay(
	t *testing.T, m method.Method, articles []fingerprint.Article, seen []observation,
) {
	t.Helper()
	s := spaceOf(t, m, func() time.Time { return wallClock.AddDate(1, 0, 0) })
	slices.SortStableFunc(seen, func(a, b observation) int {
		return int(a.AsOf.Position) - int(b.AsOf.Position)
	})
	joined, between := 0, 0
	for _, o := range seen {
		for at := s.State().Next; at < o.AsOf.Position; at++ {
			mustAssign(t, s, articles[at:at+1])
		}
		a := clustertest.Article(int64(len(articles)), 0, time.UnixMilli(o.EventTime))
		a.RecordedAt, a.Fingerprint = a.PublishedAt, o.Fingerprint
		b, err := assign(s, []fingerprint.Article{a})
		if err != nil {
			t.Fatal(err)
		}
		want := b.Assignments[0]
		s.Rollback()
		if p := o.AsOf.Position; p > 0 && p < uint64(len(articles)) {
			between++
		}
		if want.Status == article.New {
			want.ClusterID, want.Size = "", 1
		} else {
			joined++
		}
		id := ""
		if o.Size > 0 {
			id = o.ID()
		}
		if o.Status != want.Status || id != want.ClusterID || o.Distance != want.Distance ||
			o.Size != want.Size-1 {
			t.Fatalf("as of position %d a reader was told %+v; the article would be %+v", o.AsOf.Position,
				o.Answer, want)
		}
	}
	if joined == 0 || joined == len(seen) || between == 0 {
		t.Errorf("%d checks, %d joined, %d of them beside the writer: the test shows little", len(seen),
			joined, between)
	}
}
