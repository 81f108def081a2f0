package story

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
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
// those of the plain rule, whatever is sealed, committed, rolled back or done by hand. What
// changes in batches adds up to the stories.
func TestSpaceIsThePlainRule(t *testing.T) {
	likeThePlainRule(t, 1, 4, []string{
		"rollback", "joined false merged false", "joined true merged false", "joined true merged true",
		"touched true", "touched false", "split true", "split false", "by hand joined true",
		"by hand joined false", "left true", "left false",
		"committed, sealed 0", "committed, sealed 1", "committed, sealed 2",
	})
}

// The same where people do much by hand, so that parts have parts.
func TestByHandIsThePlainRule(t *testing.T) {
	likeThePlainRule(t, 3, 20, []string{
		"left a part of a part", "left with a part", "left what the rule made part of another",
		"touched a part", "split a part",
	})
}

// likeThePlainRule compares Spaces with the plain rule in random steps. Of sixty steps, hands are
// by hand. What is wanted has to happen.
func likeThePlainRule(t *testing.T, purpose uint64, hands int, wanted []string) {
	t.Helper()
	happened := make(map[string]int)
	for seed := range uint64(60) {
		p := newPair(seed, purpose, happened)
		p.hands = hands
		for range 300 {
			p.step(t)
			p.same(t)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	for _, what := range wanted {
		if happened[what] < 50 {
			t.Errorf("%s: %d times, so little is tested: %v", what, happened[what], happened)
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
		if found, ok := s.slots.slot(e.address, s.entries); !ok || found != uint32(slot) {
			t.Fatalf("%s is found in slot %d, %v", e.address, found, ok)
		}
		if s.ties[uint32(slot)].into == "" {
			live++
		}
		if e.square != e.vector.square() {
			t.Fatalf("%s: the square is not that of the vector", e.address)
		}
		for term := range e.vector.All() {
			having[term] = append(having[term], uint32(slot))
		}
	}
	if s.Len() != live || s.slots.stories != len(slots) || len(s.free) != len(s.entries)-len(slots) {
		t.Fatalf("%d live and %d addresses, of %d entries %d free; want %d and %d",
			s.Len(), s.slots.stories, len(s.entries), len(s.free), live, len(slots))
	}
	if s.window >= 0 && s.due.Len() != len(slots) {
		t.Fatalf("%d stories are to expire, not %d", s.due.Len(), len(slots))
	}
	for place, slot := range s.due.slots {
		if int(s.due.places[slot]) != place || place > 0 && s.due.Less(place, (place-1)/2) {
			t.Fatalf("slot %d is not where it should be in the queue", slot)
		}
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

// A Space that is restored from the committed stories of another decides as that one does, and
// so does one that follows it batch by batch.
func TestPutRestores(t *testing.T) {
	overdue := 0
	for seed := range uint64(60) {
		p := newPair(seed, 2, make(map[string]int))
		for range 6 {
			for range 40 {
				p.step(t)
			}
			p.time += p.Int64N(2) * p.Int64N(300) // more expire than a few articles remove
			p.assign(t)
			if p.IntN(3) == 0 { // a copy moves stream time, and no story
				p.time += 50
				p.space.Touch("t/0/none", p.time)
				p.model.Touch("t/0/none", p.time)
			}
			for p.seal(); len(p.sealed) > 1; {
				p.commit(t)
			}
			spaces := []*Space{p.space, p.follower, p.restored(t)}
			for _, story := range p.model.stories {
				if p.model.expired(&story) {
					overdue++
				}
			}
			for range 20 {
				decideAlike(t, p, spaces)
			}
			p.model, p.time = p.sealed[0].clone(), p.times[0]
			p.same(t)
		}
	}
	if overdue < 200 {
		t.Errorf("%d stories had expired when a Space was restored, so little is tested", overdue)
	}
}

// restored returns a Space that has the committed stories, put in any order.
func (p *pair) restored(t *testing.T) *Space {
	t.Helper()
	stories := slices.Collect(maps.Values(p.written))
	p.Shuffle(len(stories), func(i, k int) { stories[i], stories[k] = stories[k], stories[i] })
	s := New(p.space.options)
	for _, story := range stories {
		if err := s.Put(story); err != nil {
			t.Fatal(err)
		}
	}
	s.Reach(p.model.streamTime)
	consistent(t, s)
	return s
}

// decideAlike has all Spaces decide the same few things, and takes them back.
func decideAlike(t *testing.T, p *pair, spaces []*Space) {
	t.Helper()
	articles := []Article{p.article(), p.article(), p.article()}
	a, b, at := p.any(), p.any(), p.moment()
	var want string
	for i, s := range spaces {
		if got, want := s.StreamTime(), p.model.streamTime; got != want {
			t.Fatalf("space %d has stream time %d, want %d", i, got, want)
		}
		got := fmt.Sprint(s.Touch(a, at))
		got += fmt.Sprint(s.Join(a, b))
		got += fmt.Sprint(s.Leave(b, a))
		got += fmt.Sprint(s.Split(b, p.seen[0]))
		for _, article := range articles {
			got += fmt.Sprintf("%+v", s.Assign(article))
		}
		got += fmt.Sprintf("%+v", s.Seal())
		if i == 0 {
			want = got
		} else if got != want {
			t.Fatalf("space %d decides %s\nwant %s", i, got, want)
		}
		consistent(t, s)
		s.Rollback()
		consistent(t, s)
	}
}

func TestPutRefuses(t *testing.T) {
	s := New(Defaults())
	if err := s.Put(Story{Address: "t/0/1"}); err != nil {
		t.Fatal(err)
	}
	for _, story := range []Story{
		{},
		{Address: "t/0/2", Vector: "abcdef", Into: "t/0/1"},
		{Address: "t/0/2", Own: "abcdef"},
	} {
		if s.Put(story) == nil {
			t.Errorf("%+v is taken", story)
		}
	}
	if s.Len() != 1 {
		t.Errorf("%d stories, want 1", s.Len())
	}
	if s.Remove("t/0/2"); s.Len() != 1 {
		t.Errorf("to remove none left %d stories", s.Len())
	}
}

func TestTouchOfNone(t *testing.T) {
	if home, living, ok := New(Defaults()).Touch("t/0/7", 1); ok {
		t.Errorf("a story that is not there is %q, part of %q", home, living)
	}
}

// A leap of stream time expires all stories at once, and removes few of them with each article.
func TestLeap(t *testing.T) {
	const n = 50
	o := Defaults()
	o.Window = time.Second
	s, articles := New(o), &stream{Rand: rand.New(rand.NewPCG(1, 8))}
	for i := range n {
		a := articles.article()
		a.EventTime, a.Words = int64(i%7), "" // without words, each founds a story
		s.Assign(a)
	}
	s.Seal()
	s.Commit()
	if home, living, ok := s.Touch("t/0/none", 1_000_000); ok {
		t.Fatalf("a story that is not there is %q, part of %q", home, living)
	}
	gone := len(s.Seal().Expired)
	for rest := n - maxExpired; rest > 0; rest -= maxExpired {
		a := articles.article()
		a.EventTime = 1_000_000
		if d := s.Assign(a); d.Joined && d.Story == "t/0/1" {
			t.Fatalf("%+v: that has expired", d)
		}
		expired := s.Seal().Expired
		if want := min(maxExpired, rest); len(expired) != want {
			t.Fatalf("%d stories expired with an article, want %d", len(expired), want)
		}
		gone += len(expired)
	}
	if gone != n {
		t.Errorf("%d stories expired, want %d", gone, n)
	}
}

// Readers find stories while these are decided.
func TestFindBesideAssign(t *testing.T) {
	articles := &stream{Rand: rand.New(rand.NewPCG(1, 9))}
	s := New(small(articles.Rand))
	asked := articles.article()
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if d, ok := s.Find(asked); ok != d.Joined || d.Story == "" {
					t.Errorf("%+v, %v", d, ok)
				}
			}
		})
	}
	for i := range 2000 {
		d := s.Assign(articles.article())
		s.Touch(d.Story, articles.time)
		s.Join(d.Story, asked.Address)
		s.Leave(d.Story, asked.Address)
		s.Split(d.Story, articles.article())
		if s.Seal(); i%3 == 0 {
			s.Rollback()
		} else {
			s.Commit()
		}
	}
	close(done)
	readers.Wait()
}
