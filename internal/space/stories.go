package space

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/parallel"
	"github.com/clusterd/clusterd/internal/space/account"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/story/words"
)

// Stories are the rule by which clusters are joined to stories.
type Stories struct {
	On    bool
	Rule  story.Options
	Ranks cluster.Ranks // of publishers, for headlines
	// NewCounter returns what counts the words of articles that found clusters, where these do not
	// come with them.
	NewCounter func() *words.Counter
}

// stories is the rule of stories over those of a space. All of them are in the store, too.
type stories struct {
	*Space
	rule *story.Space
	book *account.Book
	// told are stories by their ids; an empty one has gone.
	told    overlay[string, *cluster.Story]
	members []*member // of the articles of the batch, nil for one without a cluster
	workers sync.Pool // of *words.Counter
}

// newStories returns the stories of a space, of which none are loaded; nil where they are off.
func (s *Space) newStories() *stories {
	if !s.options.Stories.On {
		return nil
	}
	t := &stories{Space: s}
	t.open()
	t.workers.New = func() any { return s.options.Stories.NewCounter() }
	return t
}

// open begins without stories.
func (t *stories) open() {
	t.rule = story.New(t.options.Stories.Rule)
	t.book = account.New(t.rule, t.options.Stories.Ranks, t.story)
}

// load takes the stories from the store.
func (t *stories) load(ctx context.Context) error {
	t.open()
	err := t.store.Stories(ctx, func(s *cluster.Story) error { return t.rule.Put(s.Story) })
	t.rule.Reach(t.store.Meta().StreamTime)
	return err
}

func (t *stories) begin() {
	t.told.begin()
	t.members = t.members[:0]
}

// note keeps the cluster of the next article of the batch, nil for none.
func (t *stories) note(m *member) {
	if t != nil {
		t.members = append(t.members, m)
	}
}

// assign says to which story the cluster of each article of the batch belongs.
func (t *stories) assign(all []Assignment) {
	t.count(all)
	for i := range all {
		a, m := &all[i], t.members[i]
		if m == nil {
			continue
		}
		t.book.Take(&account.Article{
			Cluster: &m.Cluster, ID: m.id, Founds: a.Status == article.New, Words: a.Article.Words,
			Publisher: a.Publisher, Position: a.Position, EventTime: a.EventTime,
		})
		a.Story, a.StorySimilarity = m.Story, m.StorySimilarity
	}
	clear(t.members)
}

// count counts the words of the articles that found clusters, on all cores: it takes longer than
// all else that is done about stories.
func (t *stories) count(all []Assignment) {
	var founders []*fingerprint.Article
	for i := range all {
		if a := all[i].Article; all[i].Status == article.New && a.Words == (words.Words{}) &&
			a.Text != (words.Text{}) {
			founders = append(founders, a)
		}
	}
	parallel.Chunks(len(founders), func(from, to int) {
		counter := t.workers.Get().(*words.Counter)
		defer t.workers.Put(counter)
		for _, a := range founders[from:to] {
			a.Words = counter.Count(a.Text.Title, a.Text.Content)
		}
	})
}

// wordsOf returns the words of an article.
func (t *stories) wordsOf(a *fingerprint.Article) words.Words {
	if a.Words != (words.Words{}) || a.Text == (words.Text{}) {
		return a.Words
	}
	counter := t.workers.Get().(*words.Counter)
	defer t.workers.Put(counter)
	return counter.Count(a.Text.Title, a.Text.Content)
}

// byHand does what a label record says of stories, before the next article.
func (s *Space) byHand(r *article.LabelRecord) *article.Rejection {
	t, position := s.stories, s.rule.State().Next
	switch {
	case t == nil:
		return account.Unknown("stories are off: set stories.topic")
	case r.Action == article.MergeStories:
		return t.book.Merge(r, position)
	case r.Action == article.UnmergeStories:
		return t.book.Unmerge(r, position)
	}
	m := s.labelled(r.Cluster)
	if m == nil {
		return unknownCluster(r.Cluster)
	}
	why := t.book.Split(r, &m.Cluster, position)
	m.touched = m.touched || why == nil
	return why
}

// story returns a story as of the last article, to be changed; an empty one where there is none.
func (t *stories) story(id string) *cluster.Story {
	if s := t.told.inHand()[id]; s != nil {
		return s
	}
	s, _ := t.before(id)
	t.told.inHand()[id] = &s
	return &s
}

// before returns a story as of the batch before, and whether there is one.
func (t *stories) before(id string) (cluster.Story, bool) {
	if s, ok := t.told.before(id); ok {
		return *s, s.Address != ""
	}
	s, ok, err := t.store.Story(id)
	t.err = cmp.Or(t.err, err)
	return s, ok
}

// seal decides the stories of the articles, and says what the batch does to stories, in founding
// order.
func (t *stories) seal(out *Batch) {
	t.assign(out.Assignments)
	decided, batch := t.rule.Seal(), t.told.inHand()
	for i := range decided.Touched {
		t.story(decided.Touched[i].Address)
	}
	for id, s := range batch {
		now, ok := t.rule.Of(id)
		if !ok {
			delete(batch, id)
			continue
		}
		s.Story = now
		out.Stories = append(out.Stories, state.StoryChange{Story: *s})
	}
	for _, id := range decided.Expired {
		gone, ok := t.before(id)
		if !ok {
			continue // it was founded in this batch
		}
		batch[id] = &cluster.Story{}
		out.Stories = append(out.Stories, state.StoryChange{Story: gone, Gone: true})
	}
	slices.SortFunc(out.Stories,
		func(a, b state.StoryChange) int { return cmp.Compare(a.Seq, b.Seq) })
}

func (t *stories) commit() {
	t.told.commit()
	t.rule.Commit()
}

func (t *stories) rollback() {
	for range t.told.batches {
		t.rule.Rollback()
	}
	t.told.rollback()
}

// apply takes over what was committed elsewhere.
func (t *stories) apply(changes []state.StoryChange, streamTime int64) error {
	if t == nil {
		return nil
	}
	for i := range changes {
		if c := &changes[i]; c.Gone {
			t.rule.Remove(c.Address)
		} else if err := t.rule.Put(c.Story.Story); err != nil {
			return err
		}
	}
	t.rule.Reach(streamTime)
	return nil
}

// Story returns the committed story with this id, and whether there is one.
func (s *Space) Story(id string) (cluster.Story, bool, error) { return s.store.Story(id) }
