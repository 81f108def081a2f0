package lookup

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/story/words"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// newStories returns a Service with a space of articles at these times. Each is a story of its own
// that expires after a window.
func newStories(
	t *testing.T, window time.Duration, times ...time.Time,
) (*Service, *space.Space) {
	t.Helper()
	rule := story.Defaults()
	rule.Window = window
	s := openSpace(t, aYearLater, space.Options{Stories: space.Stories{On: true, Rule: rule}})
	for i, at := range times {
		a := clustertest.Article(int64(i), uint64(0xff)<<(8*i), at)
		a.RecordedAt = at
		var said story.Words
		said.Content(fmt.Appendf(nil, "only in %d", i))
		a.Words = words.Words{Vector: said.Vector(), Terms: said.Terms()}
		commit(t, s, nil, a)
	}
	service := New(Options{Config: configured("topic"), End: empty})
	service.options.Config.Input.Topic = "articles"
	service.Publish("all", s)
	return service, s
}

func commit(
	t *testing.T, s *space.Space, records []article.LabelRecord, articles ...fingerprint.Article,
) {
	t.Helper()
	b, err := s.AssignLabelled(space.LabelWork{Records: records, Room: len(records)},
		clustertest.Each(articles), len(articles))
	if err == nil {
		err = s.Commit(b, s.Meta())
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Labelled {
		if why := b.Labelled[i].Rejection; why != nil {
			t.Fatal(why.Reason)
		}
	}
}

// Of two stories the one can leave that somebody made part of the other; else it is said why none
// can.
func TestPart(t *testing.T) {
	service, s := newStories(t, 0, start, start, start, start, start)
	var ids []string
	for i := range 5 {
		a := clustertest.Article(int64(i), 0, start)
		ids = append(ids, a.Source.String())
	}
	merge := func(a, b int) {
		t.Helper()
		r := article.LabelRecord{Action: article.MergeStories, Other: ids[b]}
		r.Cluster, _ = article.ParseAddress(ids[a])
		commit(t, s, []article.LabelRecord{r})
	}
	merge(2, 3)
	merge(1, 2)
	merge(1, 4)
	for _, tt := range []struct {
		a, b int
		want string // that can leave, or why none can
	}{
		{1, 2, ids[2]},
		{2, 1, ids[2]},
		{2, 3, ids[3]},
		{1, 3, ids[3]},
		{3, 1, ids[3]},
		{3, 4, "both are parts of story " + ids[1]},
		{0, 1, "is not part of this story"},
		{0, 0, "became one with this one by an article"},
	} {
		part, err := service.Part(t.Context(), ids[tt.a], ids[tt.b])
		var invalid *api.InvalidError
		if part != tt.want && !(errors.As(err, &invalid) && strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s and %s: %q, %v; want %s", ids[tt.a], ids[tt.b], part, err, tt.want)
		}
	}
	_, err := service.Part(t.Context(), ids[0], "articles/0/99")
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "there is no story articles/0/99") {
		t.Errorf("no other story: %v", err)
	}
	for _, id := range []string{"articles/0/99", "others/0/1", "x"} {
		if _, err := service.Part(t.Context(), id, ids[0]); !errors.Is(err, api.ErrUnknown) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// A story that has expired is not there, though it is not removed yet.
func TestExpiredStoryIsUnknown(t *testing.T) {
	// The last article expires the six before it, and removes four of them.
	service, s := newStories(t, time.Hour, start, start, start, start, start, start,
		start.Add(2*time.Hour))
	stored := 0
	for i := range 7 {
		a := clustertest.Article(int64(i), 0, start)
		if _, ok, err := s.Story(a.Source.String()); ok && err == nil {
			stored++
		}
		_, err := service.Story(t.Context(), a.Source.String(), "", 10)
		if lives := i == 6; errors.Is(err, api.ErrUnknown) == lives {
			t.Errorf("story %d: %v", i, err)
		}
	}
	if stored != 3 {
		t.Errorf("%d stories are stored, so little is tested", stored)
	}
}
