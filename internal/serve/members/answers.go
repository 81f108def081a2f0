package members

import (
	"context"
	"math"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/fresh"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// Members returns the articles of a cluster at this position and after it, in order, and whether
// there are more. The error is [api.ErrUnknown] if the cluster has none.
func (v *View) Members(ctx context.Context, clusterID string, from uint64, limit int) (
	page []api.Member, more bool, view api.View, err error,
) {
	if _, err := article.ParseAddress(clusterID); err != nil {
		return nil, false, view, api.ErrUnknown
	}
	var found Page
	err = fresh.Ask(ctx, func() (err error) {
		found, err = v.Range(ctx, clusterID, from, math.MaxUint64, limit)
		if err == nil && from == 0 && len(found.Members) == 0 {
			return api.ErrUnknown
		}
		return err
	}, v.catchUp)
	view = api.View{Lag: max(found.Lag, 0), Complete: found.Complete}
	if err != nil {
		return nil, false, view, err
	}
	page = []api.Member{}
	for i := range found.Members {
		page = append(page, found.Members[i].answer())
	}
	return page, found.More, view, nil
}

// Article returns the latest article of an id and its cluster, empty if it was not clustered. The
// error is [api.ErrUnknown] if there is no such article.
func (v *View) Article(ctx context.Context, id string) (
	of api.Member, clusterID string, view api.View, err error,
) {
	if err := v.awaitTold(ctx, id); err != nil {
		return of, "", view, err
	}
	var found Member
	err = fresh.Ask(ctx, func() (err error) {
		var ok bool
		found, ok, err = v.latest(id)
		if err == nil && !ok {
			return api.ErrUnknown
		}
		return err
	}, v.catchUp)
	if err != nil {
		return of, "", view, err
	}
	return found.answer(), found.ClusterID, v.Stats().View(), nil
}

// answer returns a member as answers have it.
func (m *Member) answer() api.Member {
	return api.Member{
		ArticleID: m.ArticleID, Status: m.Status, Distance: m.Distance, Matched: m.Matched,
		Publisher: m.Publisher, EventTime: time.UnixMilli(m.EventTime).UTC(),
		Position: m.Position, Source: m.Source, Labels: m.Labels, TrialLabels: m.TrialLabels,
		Fingerprint: m.Fingerprint,
	}
}

// View returns how much of the results the view has, as answers have it.
func (s Stats) View() api.View { return api.View{Lag: max(s.Lag, 0), Complete: s.Complete} }

// maxTold is how many results are remembered that the view has not read yet.
const maxTold = 4096

// Told notes that somebody is told the result of an article, which is at an address. The next
// question about the article has to see it.
func (v *View) Told(articleID string, result article.Address) {
	v.toldMutex.Lock()
	defer v.toldMutex.Unlock()
	if v.has(result) {
		return
	}
	if len(v.told) >= maxTold {
		for id, at := range v.told {
			if v.has(at) {
				delete(v.told, id)
			}
		}
	}
	if len(v.told) < maxTold {
		v.told[articleID] = result
	}
}

// awaitTold waits until the view has read the result of an article that somebody was told of, so
// that an earlier article with the same id is not taken for it.
func (v *View) awaitTold(ctx context.Context, articleID string) error {
	v.toldMutex.Lock()
	result, ok := v.told[articleID]
	v.toldMutex.Unlock()
	if !ok {
		return nil
	}
	err := fresh.Within(ctx, func(ctx context.Context) error {
		return v.await(ctx, map[int]int64{result.Partition: result.Offset + 1})
	})
	if err != nil {
		return err
	}
	v.toldMutex.Lock()
	defer v.toldMutex.Unlock()
	if v.told[articleID] == result {
		delete(v.told, articleID)
	}
	return nil
}
