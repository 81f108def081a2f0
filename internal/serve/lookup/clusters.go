package lookup

import (
	"context"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// Cluster returns the cluster with this id, or [api.ErrUnknown].
func (s *Service) Cluster(
	ctx context.Context, id string,
) (c api.Cluster, at api.AsOf, err error) {
	err = s.known(ctx, id, func() (err error) {
		c, at, err = s.find(id)
		return err
	})
	return c, at, err
}

func (s *Service) find(id string) (api.Cluster, api.AsOf, error) {
	founder, of, err := s.ofAddress(id)
	if err != nil {
		return api.Cluster{}, api.AsOf{}, err
	}
	v, err := of.View()
	if err != nil {
		return api.Cluster{}, api.AsOf{}, notReady(err)
	}
	defer v.Release()
	c, ok, err := v.Find(founder)
	if err == nil && !ok {
		err = api.ErrUnknown
	}
	if err != nil {
		return api.Cluster{}, api.AsOf{}, err
	}
	at := v.AsOf()
	return s.cluster(&c, of.name, at.StreamTime), s.asOf(of.name, at), nil
}

// ofAddress returns the space of an article of the input, which is the id of a cluster or a story.
func (s *Service) ofAddress(id string) (at article.Address, of *asked, err error) {
	at, err = article.ParseAddress(id)
	if err != nil || at.Topic != s.options.Config.Input.Topic {
		return at, nil, api.ErrUnknown
	}
	of, err = s.of(at.Partition)
	return at, of, err
}

// Clusters returns a page of clusters: of some ten thousand that are the largest, the newest or
// grow fastest, as of a second ago at most, or of those that have a label. Between two pages the
// order may change, so that a cluster may come twice, or not.
func (s *Service) Clusters(ctx context.Context, q api.ClusterQuery) (api.Clusters, error) {
	if s.hidden() && q.Title != "" {
		// The answer would tell which texts there are.
		return api.Clusters{}, api.Invalid("title", "texts are hidden: serve.content")
	}
	after, err := parseCursor(q.After)
	if err != nil {
		return api.Clusters{}, err
	}
	l := &listing{ClusterQuery: q, Service: s, after: after, page: newPage()}
	defer l.release()
	for _, of := range s.all() {
		if err := l.add(of); err != nil {
			return api.Clusters{}, err
		}
	}
	if len(l.spaces) == 0 {
		return api.Clusters{}, api.ErrNotReady
	}
	err = l.take(ctx)
	return l.page, err
}

func newPage() api.Clusters {
	return api.Clusters{Clusters: []api.Cluster{}, Complete: true, AsOf: []api.AsOf{}}
}

// Labelled returns a page of the clusters that have labels, in the order of their founding.
func (s *Service) Labelled(
	ctx context.Context, after string, limit int,
) (api.Clusters, error) {
	at, err := parseCursor(after)
	if err != nil {
		return api.Clusters{}, err
	}
	page, last := newPage(), cursor{}
	for _, of := range s.all() {
		if at != nil && compareNames(of.name, at.space) < 0 {
			continue
		}
		if err := s.labelled(ctx, of, at, limit, &page, &last); err != nil {
			return api.Clusters{}, err
		}
		at = nil
	}
	if len(page.AsOf) == 0 {
		return api.Clusters{}, api.ErrNotReady
	}
	return page, nil
}

// labelled adds to a page the labelled clusters of a space that come after a cursor. Last is the
// cursor of the last cluster of the page.
func (s *Service) labelled(
	ctx context.Context, of *asked, after *cursor, limit int, page *api.Clusters, last *cursor,
) error {
	v, err := of.View()
	if err != nil {
		return nil // it is being closed
	}
	defer v.Release()
	at := v.AsOf()
	page.AsOf = append(page.AsOf, s.asOf(of.name, at))
	for _, centre := range v.Labelled() {
		if page.Next != "" || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if after != nil && after.space == of.name && centre.Seq <= after.seq {
			continue
		}
		c, ok, err := v.Get(centre.Seq)
		switch {
		case err != nil:
			return err
		case !ok:
		case len(page.Clusters) == limit:
			page.Next = last.String()
		default:
			page.Clusters = append(page.Clusters, s.cluster(&c, of.name, at.StreamTime))
			*last = cursor{seq: c.Seq, space: of.name}
		}
	}
	return nil
}

// Applied reports whether the space of a cluster has read the labels topic beyond this record; of
// no cluster, whether each space here has.
func (s *Service) Applied(clusterID string, record article.Address) bool {
	if clusterID == "" {
		for _, of := range s.all() {
			if !applied(of, record) {
				return false
			}
		}
		return true
	}
	founder, err := article.ParseAddress(clusterID)
	if err != nil {
		return false
	}
	of, err := s.of(founder.Partition)
	return err == nil && applied(of, record)
}

// AppliedTo does what Applied does, for a contact.
func (s *Service) AppliedTo(contact api.ContactRef, record article.Address) bool {
	of, err := s.holding(&contact)
	return err == nil && applied(of, record)
}

func applied(of *asked, record article.Address) bool {
	v, err := of.View()
	if err != nil {
		return false
	}
	defer v.Release()
	l := v.AsOf().Labels
	return l != nil && l.Topic == record.Topic && l.Offsets[record.Partition] > record.Offset
}
