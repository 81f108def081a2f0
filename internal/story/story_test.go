package story

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sorted returns the stories of a Space, the older ones first.
func sorted(s *Space) []Story {
	return slices.SortedFunc(s.All(), func(a, b Story) int { return int(a.Seq) - int(b.Seq) })
}

// A stream makes articles of few subjects: each with words of its own, and words that all use.
type stream struct {
	*rand.Rand
	seq  uint64
	time int64
}

func (s *stream) article() Article {
	var w Words
	w.Reset()
	subject := s.IntN(12)
	word := func() []byte {
		if s.IntN(3) == 0 {
			return fmt.Appendf(nil, "common %d", s.IntN(8)*s.IntN(8))
		}
		return fmt.Appendf(nil, "%d of %d", s.IntN(10), (subject+s.IntN(5)/4)%12)
	}
	for range s.IntN(4) {
		w.Title(word())
	}
	for range s.IntN(12) {
		w.Content(word())
	}
	s.seq += 1 + s.Uint64N(3)
	return Article{
		Address: fmt.Sprintf("t/0/%d", s.seq), Seq: s.seq, EventTime: s.moment(), Words: w.Vector(),
		Han: s.IntN(2) == 0,
	}
}

// moment returns an event time: now and then it is late, and seldom early.
func (s *stream) moment() int64 {
	s.time += s.Int64N(20)
	return s.time - s.Int64N(10)*s.Int64N(10)
}

// small are options under which every limit is met.
func small(random *rand.Rand) Options {
	o := Options{
		Threshold: 100_000 + random.Uint32N(300_000),
		Han:       100_000 + random.Uint32N(300_000),
		Window:    time.Duration(random.IntN(3)) * 100 * time.Millisecond,
		Limits: Limits{
			ArticleTerms: 2 + random.IntN(12), StoryTerms: 4 + random.IntN(20), List: 1 + random.IntN(8),
			Postings: 1 + random.IntN(30), Candidates: 1 + random.IntN(4),
		},
	}
	if random.IntN(3) > 0 {
		o.Merge = 100_000 + random.Uint32N(300_000)
	}
	return o
}

// The index, the journal and the vectors make no difference: each decision and each story are
// those of the plain rule, whatever is committed or rolled back.
func TestSpaceIsThePlainRule(t *testing.T) {
	met := make(map[string]int)
	for seed := range uint64(60) {
		articles := &stream{Rand: rand.New(rand.NewPCG(seed, 1))}
		o := small(articles.Rand)
		space, model := New(o), &plain{Options: o}
		committed, at := model.clone(), *articles
		for range 250 {
			switch n := articles.IntN(40); {
			case n == 0:
				space.Rollback()
				model, articles.time = committed.clone(), at.time
				met["rollback"]++
			case n < 5:
				space.Commit()
				committed, at = model.clone(), *articles
			case n < 12 && len(model.stories) > 0:
				address, moment := model.stories[articles.IntN(len(model.stories))].Address, articles.moment()
				got, ok := space.Touch(address, moment)
				want, wantOK := model.Touch(address, moment)
				if got != want || ok != wantOK {
					t.Fatalf("seed %d: touched %s: %s %v, want %s %v", seed, address, got, ok, want, wantOK)
				}
			default:
				a := articles.article()
				got, want := space.Assign(a), model.Assign(a)
				if got != want {
					t.Fatalf("seed %d: %+v, want %+v", seed, got, want)
				}
				met[fmt.Sprintf("joined %v merged %v", got.Joined, got.Merged != "")]++
			}
			if diff := cmp.Diff(model.all(), sorted(space)); diff != "" {
				t.Fatalf("seed %d: %s", seed, diff)
			}
			consistent(t, space)
		}
	}
	for _, what := range []string{
		"rollback", "joined false merged false", "joined true merged false", "joined true merged true",
	} {
		if met[what] < 50 {
			t.Errorf("%s: %d times, so little is tested: %v", what, met[what], met)
		}
	}
}

// consistent holds what a Space keeps beside its stories to them.
func consistent(t *testing.T, s *Space) {
	t.Helper()
	having := make(map[uint32][]uint32)
	live, slots := 0, make(map[string]uint32)
	for slot, e := range s.entries {
		if e.address == "" {
			continue
		}
		slots[e.address] = uint32(slot)
		if s.into[uint32(slot)] == "" {
			live++
		}
		if e.square != e.vector.square() {
			t.Fatalf("%s: the square is not that of the vector", e.address)
		}
		for term := range e.vector.All() {
			having[term] = append(having[term], uint32(slot))
		}
	}
	if s.Len() != live || !maps.Equal(slots, s.slots) || len(s.free) != len(s.entries)-len(slots) {
		t.Fatalf("%d live and %d addresses, of %d entries %d free; want %d and %d",
			s.Len(), len(s.slots), len(s.entries), len(s.free), live, len(slots))
	}
	if s.window >= 0 && len(s.due) != len(slots) {
		t.Fatalf("%d stories are to expire, not %d", len(s.due), len(slots))
	}
	if len(s.index.terms) != len(having) {
		t.Fatalf("the index has %d terms, not %d", len(s.index.terms), len(having))
	}
	for term, want := range having {
		got := s.index.terms[term]
		dropped := got.slots == nil && len(want) > s.options.List
		if int(got.stories) != len(want) || !dropped && !slices.Equal(got.slots, want) ||
			len(got.slots) > 2*s.options.List {
			t.Fatalf("term %d: %v, want %d", term, got, want)
		}
	}
}

// A Space that is restored from the stories of another decides as that one does.
func TestPutRestores(t *testing.T) {
	for seed := range uint64(60) {
		articles := &stream{Rand: rand.New(rand.NewPCG(seed, 2))}
		o := small(articles.Rand)
		space := New(o)
		for range 150 {
			space.Assign(articles.article())
			space.Commit()
		}
		stories := slices.Collect(space.All())
		articles.Shuffle(len(stories), func(i, k int) {
			stories[i], stories[k] = stories[k], stories[i]
		})
		restored := New(o)
		for _, s := range stories {
			if err := restored.Put(s); err != nil {
				t.Fatal(err)
			}
		}
		consistent(t, restored)
		for range 100 {
			a := articles.article()
			got, want := restored.Assign(a), space.Assign(a)
			if got != want {
				t.Fatalf("seed %d: %+v, want %+v", seed, got, want)
			}
			changes, again := space.Changes(), restored.Changes()
			slices.Sort(changes.Expired) // those of the same time go in any order
			slices.Sort(again.Expired)
			if diff := cmp.Diff(changes, again); diff != "" {
				t.Fatalf("seed %d: %s", seed, diff)
			}
		}
		if diff := cmp.Diff(sorted(space), sorted(restored)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func TestPutRefuses(t *testing.T) {
	s := New(Defaults())
	if err := s.Put(Story{Address: "t/0/1"}); err != nil {
		t.Fatal(err)
	}
	for _, story := range []Story{
		{}, {Address: "t/0/1"}, {Address: "t/0/2", Vector: "abcdef", Into: "t/0/1"},
	} {
		if s.Put(story) == nil {
			t.Errorf("%+v is taken", story)
		}
	}
	if s.Len() != 1 {
		t.Errorf("%d stories, want 1", s.Len())
	}
}

// Changes are the difference between what was committed and what is.
func TestChanges(t *testing.T) {
	for seed := range uint64(40) {
		articles := &stream{Rand: rand.New(rand.NewPCG(seed, 3))}
		space := New(small(articles.Rand))
		written := make(map[string]Story)
		for range 60 {
			for range articles.IntN(8) {
				space.Assign(articles.article())
			}
			for _, story := range space.Changes().Touched {
				written[story.Address] = story
			}
			for _, address := range space.Changes().Expired {
				delete(written, address)
			}
			space.Commit()
			want := make(map[string]Story)
			for story := range space.All() {
				want[story.Address] = story
			}
			if diff := cmp.Diff(want, written); diff != "" {
				t.Fatalf("seed %d: %s", seed, diff)
			}
		}
		if c := space.Changes(); c.Touched != nil || c.Expired != nil {
			t.Errorf("seed %d: after a commit there is %v", seed, c)
		}
	}
}

func TestTouchOfNone(t *testing.T) {
	if address, ok := New(Defaults()).Touch("t/0/7", 1); ok {
		t.Errorf("a story that is not there is part of %q", address)
	}
}
