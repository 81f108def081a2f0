package answers

import (
	"context"
	"errors"
	"math"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/serve/members"
)

// Members answers of the articles of clusters, as [v1.Members] says.
type Members struct {
	View  *members.View
	Fresh *Fresh
}

// Members implements [v1.Members].
func (m *Members) Members(ctx context.Context, clusterID string, from uint64, limit int) (
	page []api.Member, more bool, view api.View, err error,
) {
	if _, err := article.ParseAddress(clusterID); err != nil {
		return nil, false, view, v1.ErrUnknown
	}
	var found members.Page
	err = known(ctx, func() (err error) {
		found, err = m.View.Members(ctx, clusterID, from, math.MaxUint64, limit)
		if err == nil && from == 0 && len(found.Members) == 0 {
			return v1.ErrUnknown
		}
		return ofView(err)
	}, v1.ErrUnknown, m.View.CatchUp)
	view = api.View{Lag: max(found.Lag, 0), Complete: found.Complete}
	if err != nil {
		return nil, false, view, err
	}
	page = []api.Member{}
	for i := range found.Members {
		page = append(page, m.member(&found.Members[i]))
	}
	return page, found.More, view, nil
}

// Article implements [v1.Members].
func (m *Members) Article(ctx context.Context, id string) (
	of api.Member, clusterID string, view api.View, err error,
) {
	if err := m.Fresh.told(ctx, id); err != nil {
		return of, "", view, err
	}
	var found members.Member
	err = known(ctx, func() (err error) {
		var ok bool
		found, ok, err = m.View.Article(ctx, id)
		if err == nil && !ok {
			return v1.ErrUnknown
		}
		return ofView(err)
	}, v1.ErrUnknown, m.View.CatchUp)
	if err != nil {
		return of, "", view, err
	}
	stats := m.View.Stats()
	view = api.View{Lag: max(stats.Lag, 0), Complete: stats.Complete}
	return m.member(&found), found.ClusterID, view, nil
}

// Stats returns what the view holds.
func (m *Members) Stats() *api.ViewStats {
	s := m.View.Stats()
	return &api.ViewStats{
		View:    api.View{Lag: max(s.Lag, 0), Complete: s.Complete},
		Members: int64(s.Members), Bytes: s.Bytes,
	}
}

func (m *Members) member(of *members.Member) api.Member {
	return api.Member{
		ArticleID: of.ArticleID, Status: of.Status, Distance: of.Distance, Matched: of.Matched,
		Publisher: of.Publisher, EventTime: moment(of.EventTime),
		Position: of.Position, Source: of.Source, Labels: of.Labels, TrialLabels: of.TrialLabels,
		Fingerprint: of.Fingerprint,
	}
}

func ofView(err error) error {
	if errors.Is(err, members.ErrNotReady) {
		return v1.ErrNotReady
	}
	return err
}
