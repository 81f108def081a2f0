package space

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// hands makes label records that merge and split stories and take them apart. Most can be applied.
type hands struct {
	*rand.Rand
	merged [][2]string // that were
	done   map[article.Action]int
}

func newHands(seed uint64) *hands {
	return &hands{Rand: rand.New(rand.NewPCG(seed, 11)), done: make(map[article.Action]int)}
}

// next returns a record about some of the results of late.
func (h *hands) next(results []Assignment) article.LabelRecord {
	recent := func() *Assignment { return &results[len(results)-1-h.IntN(min(30, len(results)))] }
	about := recent()
	address := func(id string) article.Address {
		a, _ := article.ParseAddress(id)
		return a
	}
	switch n := h.IntN(5); {
	case n == 0:
		return article.LabelRecord{
			Action: article.SplitStory, Cluster: address(about.ClusterID), Terms: "split\noff",
			Words: string(about.Article.Words.Vector),
		}
	case n < 3 && len(h.merged) > 0:
		two := h.merged[len(h.merged)-1-h.IntN(min(4, len(h.merged)))]
		i := h.IntN(2)
		return article.LabelRecord{
			Action: article.UnmergeStories, Cluster: address(two[i]), Other: two[1-i],
		}
	default:
		two := [2]string{about.Story, recent().Story}
		h.merged = append(h.merged, two)
		return article.LabelRecord{
			Action: article.MergeStories, Cluster: address(two[0]), Other: two[1],
		}
	}
}

// do has a space apply label records, and commits that or takes it back.
func do(t *testing.T, s *Space, records []article.LabelRecord, commit bool) Batch {
	t.Helper()
	b, err := s.AssignLabelled(LabelWork{Records: records, Room: 100}, clustertest.Each(nil), 0)
	if err != nil {
		t.Fatal(err)
	}
	if !commit {
		s.Rollback()
		return b
	}
	if err := s.Commit(b, s.Meta()); err != nil {
		t.Fatal(err)
	}
	return b
}

// Label records about stories do the same one by one and in batches, after a rollback, and in a
// space that was opened again. No story contradicts what it was before.
func TestByHandIsOneByOne(t *testing.T) {
	done := make(map[article.Action]int)
	for seed := range uint64(8) {
		feed := &events{Rand: rand.New(rand.NewPCG(seed, 12))}
		h, store := newHands(seed), emptyStore(t)
		serial, other := openStories(t, emptyStore(t)), openStories(t, store)
		var results []Assignment
		for range 150 {
			articles := make([]fingerprint.Article, 1+h.IntN(6))
			for i := range articles {
				articles[i] = feed.next()
				b := mustAssign(t, serial, articles[i:i+1])
				results = append(results, b.Assignments...)
			}
			inParts(t, other, articles, feed.Rand)
			var records []article.LabelRecord
			for range h.IntN(4) {
				r := h.next(results)
				before := allStories(t, serial)
				b := do(t, serial, []article.LabelRecord{r}, true)
				if b.Labelled[0].Rejection == nil {
					done[r.Action]++
				}
				follow(t, before, allStories(t, serial))
				records = append(records, r)
			}
			if h.IntN(3) == 0 {
				do(t, other, records, false)
			}
			do(t, other, records, true)
			if diff := cmp.Diff(allStories(t, serial), allStories(t, other)); diff != "" {
				t.Fatalf("seed %d: one by one, and in batches:\n%s", seed, diff)
			}
			if h.IntN(10) == 0 {
				if err := other.views.close(); err != nil {
					t.Fatal(err)
				}
				other = openStories(t, store)
			}
		}
	}
	for _, action := range []article.Action{
		article.MergeStories, article.UnmergeStories, article.SplitStory,
	} {
		if done[action] < 50 {
			t.Errorf("%s: %d times, so little is tested", action, done[action])
		}
	}
}

// follow holds stories to what they were before.
func follow(t *testing.T, before, after []cluster.Story) {
	t.Helper()
	for _, s := range after {
		if at := slices.IndexFunc(before, func(b cluster.Story) bool {
			return b.Address == s.Address
		}); at >= 0 {
			if err := s.Follows(&before[at]); err != nil {
				t.Fatalf("story %s: %v", s.Address, err)
			}
		}
	}
}

// Stories that were merged by hand and taken apart, in any order, are as if nobody had merged them,
// and so is what articles say that join their clusters meanwhile.
func TestUnmergeUndoesMerge(t *testing.T) {
	undone := 0
	for seed := range uint64(12) {
		feed, h := &events{Rand: rand.New(rand.NewPCG(seed, 13))}, newHands(seed)
		merging, plain := openStories(t, emptyStore(t)), openStories(t, emptyStore(t))
		var articles []fingerprint.Article
		var results []Assignment
		both := func(a fingerprint.Article) {
			t.Helper()
			b := mustAssign(t, merging, []fingerprint.Article{a})
			want := mustAssign(t, plain, []fingerprint.Article{a})
			if got, want := tellStories(&b), tellStories(&want); !slices.Equal(got, want) {
				t.Fatalf("seed %d: merged %v, else %v", seed, got, want)
			}
			articles, results = append(articles, a), append(results, b.Assignments...)
		}
		for range 60 {
			both(feed.next())
		}
		// copyOf returns one of an article of late.
		copyOf := func() fingerprint.Article {
			a, last := articles[len(articles)-1-h.IntN(20)], feed.next()
			last.Fingerprint, last.Words, last.Publisher = a.Fingerprint, a.Words, "copier"
			return last
		}
		for range 10 {
			both(copyOf())
		}
		var merged []article.LabelRecord
		for range 5 {
			r := article.LabelRecord{Action: article.MergeStories}
			two := []string{results[h.IntN(len(results))].Story, results[h.IntN(len(results))].Story}
			r.Cluster, _ = article.ParseAddress(two[0])
			r.Other = two[1]
			b := do(t, merging, []article.LabelRecord{r}, true)
			for i := range b.Stories {
				// What was asked for may have been parts of these two.
				if c := &b.Stories[i]; c.MergedAt == merging.State().Next && c.Into != "" {
					r.Cluster, r.Other = c.Founder(), c.Into
					merged = append(merged, r)
				}
			}
			both(copyOf())
		}
		h.Shuffle(len(merged), func(i, k int) { merged[i], merged[k] = merged[k], merged[i] })
		for _, r := range merged {
			r.Action = article.UnmergeStories
			if b := do(t, merging, []article.LabelRecord{r}, true); b.Labelled[0].Rejection != nil {
				t.Fatalf("seed %d: %v", seed, b.Labelled[0].Rejection.Reason)
			}
			undone++
			both(copyOf())
		}
		want, got := allStories(t, plain), allStories(t, merging)
		for i := range got {
			got[i].LeftFrom, got[i].LeftMerged, got[i].LeftAt = "", 0, 0
			if i < len(want) {
				// When something was last done to it, and when a part of it was last seen.
				got[i].Position, got[i].LastSeen = want[i].Position, want[i].LastSeen
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: never merged, and taken apart:\n%s", seed, diff)
		}
	}
	if undone < 20 {
		t.Errorf("%d merges were undone, so little is tested", undone)
	}
}

// threeStories returns a space with stories, and the ids of the first three.
func threeStories(t *testing.T) (s *Space, ids []string) {
	t.Helper()
	feed := &events{Rand: rand.New(rand.NewPCG(1, 14))}
	for s = openStories(t, emptyStore(t)); len(ids) < 3; {
		b := mustAssign(t, s, []fingerprint.Article{feed.next()})
		if a := b.Assignments[0]; a.Story == a.ClusterID {
			ids = append(ids, a.Story)
		}
	}
	return s, ids
}

// record returns a label record about two stories.
func record(action article.Action, a, b string) article.LabelRecord {
	r := article.LabelRecord{Action: action, Other: b}
	r.Cluster, _ = article.ParseAddress(a)
	return r
}

// A merge that cannot be undone is rejected as what is unknown, and nothing changes.
func TestUnmergeRejects(t *testing.T) {
	s, ids := threeStories(t)
	for i, step := range []struct {
		article.LabelRecord
		works bool
	}{
		{record(article.UnmergeStories, ids[0], ids[1]), false},
		{record(article.MergeStories, ids[1], ids[0]), true},
		{record(article.UnmergeStories, ids[0], ids[2]), false},
		{record(article.UnmergeStories, ids[0], ids[0]), false},
		{record(article.UnmergeStories, ids[0], "articles/0/999"), false},
		{record(article.UnmergeStories, ids[0], ids[1]), true},
		{record(article.UnmergeStories, ids[0], ids[1]), false},
		{record(article.MergeStories, ids[0], ids[1]), true},
		{record(article.UnmergeStories, ids[1], ids[0]), true},
	} {
		before := allStories(t, s)
		why := do(t, s, []article.LabelRecord{step.LabelRecord}, true).Labelled[0].Rejection
		if (why == nil) != step.works || why != nil && why.Class != article.UnknownStory {
			t.Errorf("step %d: %v", i, why)
		}
		if diff := cmp.Diff(before, allStories(t, s)); (diff != "") != step.works {
			t.Errorf("step %d changes:\n%s", i, diff)
		}
	}
}

// A story has the clusters of its parts, too, as long as they are its parts.
func TestClustersOfParts(t *testing.T) {
	s, ids := threeStories(t)
	by := func(action article.Action, a, b string) {
		t.Helper()
		records := []article.LabelRecord{record(action, a, b)}
		if why := do(t, s, records, true).Labelled[0].Rejection; why != nil {
			t.Fatal(why.Reason)
		}
	}
	have := func(story string, want ...string) {
		t.Helper()
		v, err := s.View()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Release()
		found, err := v.ClustersOf(story, 0, 100)
		var got []string
		for i := range found {
			if slices.Contains(ids, found[i].ID()) {
				got = append(got, found[i].ID())
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("story %s has %v, %v; want %v", story, got, err, want)
		}
	}
	by(article.MergeStories, ids[0], ids[2])
	have(ids[0], ids[0], ids[2])
	by(article.UnmergeStories, ids[0], ids[2])
	have(ids[0], ids[0])
	have(ids[2], ids[2])
	by(article.MergeStories, ids[1], ids[2])
	have(ids[0], ids[0])
	have(ids[1], ids[1], ids[2])
	by(article.MergeStories, ids[0], ids[1])
	have(ids[0], ids...)
	by(article.UnmergeStories, ids[0], ids[1])
	have(ids[0], ids[0])
	have(ids[1], ids[1], ids[2])
}
