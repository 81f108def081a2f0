package lookup

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/space"
)

// Stories returns those that are the largest, the newest, or have the most recent articles, at most
// so many, as of some seconds ago at most.
func (s *Service) Stories(ctx context.Context, sort string, limit int) (api.Stories, error) {
	page := api.Stories{Stories: []api.Story{}, AsOf: []api.AsOf{}}
	var all []cluster.Story
	for _, of := range s.all() {
		top, at, err := of.stories.top(ctx, of)
		if err != nil {
			return api.Stories{}, err
		}
		page.AsOf = append(page.AsOf, s.asOf(of.name, at))
		all = append(all, top[sort]...)
	}
	if len(page.AsOf) == 0 {
		return api.Stories{}, api.ErrNotReady
	}
	slices.SortFunc(all, storyOrders[sort])
	for i := range all[:min(limit, len(all))] {
		page.Stories = append(page.Stories, s.story(&all[i]))
	}
	return page, nil
}

// Story returns the story that the one with this id is part of by now, with a page of its clusters,
// or [api.ErrUnknown]. Next is from where the next page goes on: empty after the last.
func (s *Service) Story(
	ctx context.Context, id, after string, limit int,
) (one api.OneStory, err error) {
	from := uint64(0)
	if after != "" {
		last, err := strconv.ParseUint(after, 10, 64)
		if err != nil {
			return one, api.Invalid("cursor", "it is none that this route has given")
		}
		from = last + 1
	}
	err = s.known(ctx, id, func() (err error) {
		one, err = s.findStory(id, from, limit)
		return err
	})
	return one, err
}

func (s *Service) findStory(id string, from uint64, limit int) (one api.OneStory, err error) {
	of, v, err := s.storyView(id)
	if err != nil {
		return one, err
	}
	defer v.Release()
	found, ok, err := v.Living(id)
	if err != nil || !ok {
		return one, cmp.Or(err, api.ErrUnknown)
	}
	clusters, err := v.ClustersOf(found.Address, from, limit+1)
	if err != nil {
		return one, err
	}
	at := v.AsOf()
	found.Signals = found.Signals.At(at.StreamTime)
	one = api.OneStory{
		Story: s.story(&found), Clusters: []api.Cluster{}, AsOf: s.asOf(of.name, at),
	}
	if id != found.Address {
		one.Merged = id
	}
	if len(clusters) > limit {
		clusters = clusters[:limit]
		one.Next = strconv.FormatUint(clusters[limit-1].Seq, 10)
	}
	for i := range clusters {
		one.Clusters = append(one.Clusters, s.cluster(&clusters[i], of.name, at.StreamTime))
	}
	return one, nil
}

// storyView returns the space of a story, and a view of it that has to be released.
func (s *Service) storyView(id string) (*asked, *space.View, error) {
	_, of, err := s.ofAddress(id)
	if err != nil {
		return nil, nil, err
	}
	v, err := of.View()
	return of, v, notReady(err)
}

// Part returns which of two stories can leave the other: somebody made it part of that. The error
// is [api.ErrUnknown] if the first story is not there, and an [api.InvalidError] that says why if
// neither can leave.
func (s *Service) Part(ctx context.Context, id, other string) (part string, err error) {
	err = s.known(ctx, id, func() (err error) {
		part, err = s.part(id, other)
		return err
	})
	return part, err
}

func (s *Service) part(id, other string) (part string, err error) {
	_, v, err := s.storyView(id)
	if err != nil {
		return "", err
	}
	defer v.Release()
	a, err := v.Wholes(id)
	if err != nil || len(a) == 0 {
		return "", cmp.Or(err, api.ErrUnknown)
	}
	b, err := v.Wholes(other)
	if err != nil {
		return "", err
	}
	is := func(whole *cluster.Story) func(cluster.Story) bool {
		return func(s cluster.Story) bool { return s.Address == whole.Address }
	}
	refuse := func(format string, args ...any) (string, error) {
		return "", api.Invalid("/other", format, args...)
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

var storyOrders = map[string]func(a, b cluster.Story) int{
	api.BySize: func(a, b cluster.Story) int {
		return cmp.Or(cmp.Compare(b.Articles, a.Articles), cmp.Compare(a.Seq, b.Seq))
	},
	api.ByRecent: func(a, b cluster.Story) int {
		return cmp.Or(cmp.Compare(b.Signals.Recent(), a.Signals.Recent()),
			cmp.Compare(b.LastSeen, a.LastSeen), cmp.Compare(a.Seq, b.Seq))
	},
	api.Newest: func(a, b cluster.Story) int { return cmp.Compare(b.Seq, a.Seq) },
}

// topStories are the first stories of a space by each order. To find them all are read, so that is
// done again no sooner than after ten times as long as it took.
type topStories struct {
	mu   sync.Mutex
	all  map[string][]cluster.Story
	at   space.AsOf
	next time.Time
}

// top returns the stories, as of when they were last read.
func (t *topStories) top(
	ctx context.Context, of *asked,
) (map[string][]cluster.Story, space.AsOf, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	began := time.Now()
	if began.Before(t.next) {
		return t.all, t.at, nil
	}
	v, err := of.View()
	if err != nil {
		return nil, space.AsOf{}, notReady(err)
	}
	defer v.Release()
	now, all := v.AsOf(), make(map[string][]cluster.Story)
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
		return nil, space.AsOf{}, err
	}
	t.all, t.at = all, now
	t.next = time.Now().Add(min(time.Minute, max(time.Second, 10*time.Since(began))))
	return t.all, t.at, nil
}

// keep inserts a story where it belongs among the first [api.MaxPage], if it does.
func keep(
	first []cluster.Story, s cluster.Story, order func(a, b cluster.Story) int,
) []cluster.Story {
	if len(first) == api.MaxPage && order(s, first[api.MaxPage-1]) > 0 {
		return first
	}
	at, _ := slices.BinarySearchFunc(first, s, order)
	first = slices.Insert(first, at, s)
	return first[:min(api.MaxPage, len(first))]
}

// StoryWords returns the words of a text as the rule of stories has them: its vector, whether most
// are Chinese, and the first ones. It returns nothing if stories are off.
func (s *Service) StoryWords(t api.FullText) (vector []byte, han bool, terms string, err error) {
	by, err := s.method()
	if err != nil {
		return nil, false, "", err
	}
	counter := by.NewCounter()
	if counter == nil {
		return nil, false, "", nil
	}
	w := counter.Count(t.Title, t.Content)
	return []byte(w.Vector), w.Han, w.Terms, nil
}
