package space

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/story/words"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// storyOptions are those of a space in which clusters live for an hour and stories for three.
func storyOptions() Options {
	rule := story.Defaults()
	rule.Window, rule.Merge = 3*time.Hour, 150_000 // so that stories often become one
	return Options{
		Rule:    singlepass.Rule{Window: time.Hour},
		Stories: Stories{On: true, Rule: rule, Ranks: cluster.Ranks{"best": 0, "good": 1}},
	}
}

func openStories(t *testing.T, store *state.Store) *Space {
	t.Helper()
	s := New(hamming.Centres(hamming.NewBTree(0)), store, storyOptions(),
		func() time.Time { return at(1000 * time.Hour) })
	if err := s.Load(t.Context(), func(singlepass.Fingerprint) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return s
}

func emptyStore(t *testing.T) *state.Store {
	t.Helper()
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// events are articles on a number of events, of which each has words of its own. Some articles are
// copies, and some tell of two events at once.
type events struct {
	*rand.Rand
	offset int64
	now    time.Duration
}

func (e *events) next() fingerprint.Article {
	e.now += time.Duration(e.IntN(200)) * time.Second
	if e.IntN(400) == 0 {
		e.now += 2 * time.Hour
	}
	event := int(e.now/(40*time.Minute)) + e.IntN(6)
	publisher := []string{"", "Best", "good", "other", "fourth"}[e.IntN(5)]
	a := inItsTime(clustertest.Article(e.offset, uint64(event*8+e.IntN(8))*0x9e3779b97f4a7c15,
		at(e.now-time.Duration(e.IntN(30))*time.Minute)))
	a.Publisher, a.Representative.Title = publisher, strings.Repeat("title", e.IntN(2))
	var said story.Words
	said.Reset()
	bridge := e.IntN(8) == 0
	for i := range 20 {
		of := event
		if e.IntN(8) == 0 || bridge && i%2 == 0 {
			of++
		}
		said.Content(fmt.Appendf(nil, "w%d-%d", of, e.IntN(20)))
	}
	a.Words = words.Words{Vector: said.Vector(), Terms: said.Terms()}
	e.offset++
	return a
}

// tellStories returns what results say of the stories of articles, one after the other.
func tellStories(b *Batch) (all []string) {
	for i := range b.Assignments {
		a := &b.Assignments[i]
		all = append(all, fmt.Sprint(a.ClusterID, " ", a.Story, " ", a.StorySimilarity))
	}
	return all
}

func allStories(t *testing.T, s *Space) (all []cluster.Story) {
	t.Helper()
	err := s.store.Stories(t.Context(), func(s *cluster.Story) error {
		all = append(all, *s)
		return s.Validate()
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b cluster.Story) int { return int(a.Seq) - int(b.Seq) })
	return all
}

// In whatever batches articles come, ahead of one another, whatever is rolled back, and however
// often the space is opened again: the stories are those of one article after the other.
func TestStoriesAreThoseOfOneByOne(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			feed, r := &events{Rand: rand.New(rand.NewPCG(seed, 5))}, rand.New(rand.NewPCG(seed, 6))
			serial, store := openStories(t, emptyStore(t)), emptyStore(t)
			ahead := openStories(t, store)
			var want, got []string
			merged := 0
			for range 200 {
				articles := make([]fingerprint.Article, 1+r.IntN(12))
				for i := range articles {
					articles[i] = feed.next()
					b := mustAssign(t, serial, articles[i:i+1])
					want = append(want, tellStories(&b)...)
					if slices.ContainsFunc(b.Stories, func(c state.StoryChange) bool { return c.Into != "" }) {
						merged++
					}
				}
				got = append(got, inParts(t, ahead, articles, r)...)
				if r.IntN(20) == 0 {
					if err := ahead.views.close(); err != nil {
						t.Fatal(err)
					}
					ahead = openStories(t, store)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("one by one, and in batches:\n%s", diff)
			}
			all := allStories(t, serial)
			if diff := cmp.Diff(all, allStories(t, ahead)); diff != "" {
				t.Errorf("stored one by one, and in batches:\n%s", diff)
			}
			if len(all) < 5 || merged < 10 {
				t.Errorf("%d stories are left, and %d times one that is part of another changed", len(all),
					merged)
			}
		})
	}
}

// inParts assigns articles in one batch or in two of which the second is assigned before the first
// is stored, and now and then takes them back before.
func inParts(t *testing.T, s *Space, articles []fingerprint.Article, r *rand.Rand) (told []string) {
	t.Helper()
	cut := r.IntN(len(articles) + 1)
	for try := 0; ; try++ {
		first, err := assign(s, articles[:cut])
		if err != nil {
			t.Fatal(err)
		}
		second, err := assign(s, articles[cut:])
		if err != nil {
			t.Fatal(err)
		}
		if try == 0 && r.IntN(3) == 0 {
			s.Rollback()
			continue
		}
		if err := s.Commit(first, s.Meta()); err != nil {
			t.Fatal(err)
		}
		if try < 2 && r.IntN(3) == 0 {
			s.Rollback()
			second = mustAssign(t, s, articles[cut:])
		} else if err := s.Commit(second, s.Meta()); err != nil {
			t.Fatal(err)
		}
		return append(tellStories(&first), tellStories(&second)...)
	}
}

// What a story says of its articles is what the results say.
func TestStoriesSayWhatTheirArticlesAre(t *testing.T) {
	feed, s := &events{Rand: rand.New(rand.NewPCG(1, 7))}, openStories(t, emptyStore(t))
	into := make(map[string]string)
	var all []Assignment
	for range 900 {
		b := mustAssign(t, s, []fingerprint.Article{feed.next()})
		all = append(all, b.Assignments...)
		for _, c := range b.Stories {
			if c.Into != "" {
				into[c.Address] = c.Into
			}
		}
	}
	type said struct {
		Articles, Publishers int
		LastSeen             int64
		Headline             cluster.Headline
	}
	want, publishers := make(map[string]said), make(map[string]map[string]bool)
	for i := range all {
		a := &all[i]
		id := a.Story
		for into[id] != "" {
			id = into[id]
		}
		w := want[id]
		w.Articles++
		w.LastSeen = max(w.LastSeen, a.EventTime)
		if publishers[id] == nil {
			publishers[id] = make(map[string]bool)
		}
		if a.Publisher != "" {
			publishers[id][a.Publisher] = true
		}
		w.Publishers = len(publishers[id])
		if a.Status == article.New {
			h := cluster.Headline{
				Cluster: a.ClusterID, ArticleID: a.Article.Representative.ID, Title: a.Representative.Title,
				Publisher: a.Publisher, Rank: s.options.Stories.Ranks.Of(a.Publisher), At: a.EventTime,
				Similarity: a.StorySimilarity,
			}
			if h.Similarity == 0 {
				h.Similarity = article.MaxSimilarity
			}
			if w.Headline.Cluster != "" {
				h = w.Headline.Better(h)
			}
			w.Headline = h
		}
		want[id] = w
	}
	joined := 0
	for _, c := range allStories(t, s) {
		if c.Into != "" {
			continue
		}
		got := said{c.Articles, c.Signals.Publishers(), c.LastSeen, c.Headline}
		if diff := cmp.Diff(want[c.Address], got); diff != "" {
			t.Errorf("story %s:\n%s", c.Address, diff)
		}
		if c.Terms == "" {
			t.Errorf("story %s has no terms", c.Address)
		}
		joined += int(c.Clusters) - 1
	}
	if joined < 20 || len(into) == 0 {
		t.Errorf("%d clusters joined stories, and %d stories others", joined, len(into))
	}
}
