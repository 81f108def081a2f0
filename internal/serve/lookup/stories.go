package lookup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/story/words"
)

// ByRecent is the order of stories by how many of their articles are recent.
const ByRecent Sort = "recent"

// A StoryPage is some stories.
type StoryPage struct {
	Stories []cluster.Story
	AsOf    []AsOf // by space
}

// A ToldStory is a story with some of its clusters.
type ToldStory struct {
	cluster.Story
	Asked    string            // the id that was asked for, which may be that of a part of the story
	Clusters []cluster.Cluster // in founding order
	More     bool              // there are further ones
	AsOf     AsOf
}

// Stories returns those that are the largest, the newest, or have the most recent articles, at most
// so many, as of some seconds ago at most.
func (s *Service) Stories(ctx context.Context, sort Sort, limit int) (StoryPage, error) {
	if !slices.Contains([]Sort{BySize, ByRecent, ByAge}, sort) {
		return StoryPage{}, &InvalidError{"sort", fmt.Sprintf("%q is none of %s, %s and %s", sort, BySize,
			ByRecent, ByAge)}
	}
	if limit < 1 || limit > MaxPage {
		return StoryPage{}, &InvalidError{"limit", fmt.Sprintf("%d; 1 to %d are possible", limit,
			MaxPage)}
	}
	var page StoryPage
	for _, of := range s.all() {
		top, at, err := of.stories.top(ctx, of)
		if err != nil {
			return StoryPage{}, err
		}
		page.AsOf = append(page.AsOf, s.asOf(of.name, at.AsOf))
		page.Stories = append(page.Stories, top[sort]...)
	}
	if len(page.AsOf) == 0 {
		return StoryPage{}, ErrNotReady
	}
	slices.SortFunc(page.Stories, storyOrders[sort])
	page.Stories = page.Stories[:min(limit, len(page.Stories))]
	return page, nil
}

// Story returns the story that the one with this id is part of by now, with its clusters from a seq
// on, or [ErrUnknown].
func (s *Service) Story(_ context.Context, id string, from uint64, limit int) (ToldStory, error) {
	t := ToldStory{Asked: id}
	of, v, err := s.storyView(id)
	if err != nil {
		return t, err
	}
	defer v.Release()
	t.AsOf = s.asOf(of.name, v.AsOf())
	var ok bool
	if t.Story, ok, err = v.Living(id); err != nil || !ok {
		return t, cmp.Or(err, ErrUnknown)
	}
	t.Clusters, err = v.ClustersOf(t.Address, from, limit+1)
	if t.More = len(t.Clusters) > limit; t.More {
		t.Clusters = t.Clusters[:limit]
	}
	return t, err
}

// storyView returns the space of a story, and a view of it that has to be released.
func (s *Service) storyView(id string) (*asked, *space.View, error) {
	first, err := article.ParseAddress(id)
	if err != nil || first.Topic != s.options.Config.Input.Topic {
		return nil, nil, ErrUnknown
	}
	of, err := s.of(first.Partition)
	if err != nil {
		return nil, nil, err
	}
	v, err := of.View()
	return of, v, asNotReady(err)
}

// Part returns which of two stories can leave the other: somebody made it part of that. The error
// is [ErrUnknown] if the first story is not there, and an [InvalidError] that says why if neither
// can leave.
func (s *Service) Part(_ context.Context, id, other string) (part string, err error) {
	_, v, err := s.storyView(id)
	if err != nil {
		return "", err
	}
	defer v.Release()
	a, err := v.Wholes(id)
	if err != nil || len(a) == 0 {
		return "", cmp.Or(err, ErrUnknown)
	}
	b, err := v.Wholes(other)
	if err != nil {
		return "", err
	}
	is := func(whole *cluster.Story) func(cluster.Story) bool {
		return func(s cluster.Story) bool { return s.Address == whole.Address }
	}
	refuse := func(format string, args ...any) (string, error) {
		return "", &InvalidError{"/other", fmt.Sprintf(format, args...)}
	}
	switch {
	case len(b) == 0:
		return refuse("there is no story %.100s, or it has expired", other)
	case slices.ContainsFunc(a[1:], is(&b[0])):
		return a[0].Address, nil
	case slices.ContainsFunc(b[1:], is(&a[0])):
		return b[0].Address, nil
	case a[0].Address == b[0].Address:
		return refuse("story %.100s became one with this one by an article, or by hand in an earlier "+
			"clusterd, which kept nothing to take them apart by", other)
	case a[len(a)-1].Address == b[len(b)-1].Address:
		return refuse("both are parts of story %s, and neither of the other: take one out of that",
			a[len(a)-1].Address)
	}
	return refuse("is not part of this story, nor the other way round")
}

var storyOrders = map[Sort]func(a, b cluster.Story) int{
	BySize: func(a, b cluster.Story) int {
		return cmp.Or(cmp.Compare(b.Articles, a.Articles), cmp.Compare(a.Seq, b.Seq))
	},
	ByRecent: func(a, b cluster.Story) int {
		return cmp.Or(cmp.Compare(b.Signals.Recent(), a.Signals.Recent()),
			cmp.Compare(b.LastSeen, a.LastSeen), cmp.Compare(a.Seq, b.Seq))
	},
	ByAge: func(a, b cluster.Story) int { return cmp.Compare(b.Seq, a.Seq) },
}

// topStories are the first stories of a space by each order. To find them all are read, so that is
// done again no sooner than after ten times as long as it took.
type topStories struct {
	mu   sync.Mutex
	all  map[Sort][]cluster.Story
	at   AsOf
	next time.Time
}

// top returns the stories, as of when they were last read.
func (t *topStories) top(ctx context.Context, of *asked) (map[Sort][]cluster.Story, AsOf, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	began := time.Now()
	if began.Before(t.next) {
		return t.all, t.at, nil
	}
	v, err := of.View()
	if err != nil {
		return nil, AsOf{}, asNotReady(err)
	}
	defer v.Release()
	now, all := v.AsOf(), make(map[Sort][]cluster.Story)
	err = v.Stories(ctx, func(s *cluster.Story) error {
		if s.Into != "" {
			return nil
		}
		// As of now, not as of the story's last article.
		s.Signals, s.Vector = s.Signals.At(now.StreamTime), ""
		for sort, order := range storyOrders {
			all[sort] = keep(all[sort], *s, order)
		}
		return nil
	})
	if err != nil {
		return nil, AsOf{}, err
	}
	t.all, t.at.AsOf = all, now
	t.next = time.Now().Add(min(time.Minute, max(time.Second, 10*time.Since(began))))
	return t.all, t.at, nil
}

// keep inserts a story where it belongs among the first [MaxPage], if it does.
func keep(
	first []cluster.Story, s cluster.Story, order func(a, b cluster.Story) int,
) []cluster.Story {
	if len(first) == MaxPage && order(s, first[MaxPage-1]) > 0 {
		return first
	}
	at, _ := slices.BinarySearchFunc(first, s, order)
	first = slices.Insert(first, at, s)
	return first[:min(MaxPage, len(first))]
}

// StoryWords returns the words of a text as the rule of stories has them; none where stories are
// off.
func (s *Service) StoryWords(title, content string) (words.Words, error) {
	by, err := s.method()
	if err != nil {
		return words.Words{}, err
	}
	counter := by.NewCounter()
	if counter == nil {
		return words.Words{}, nil
	}
	return counter.Count(title, content), nil
}
