package lookup

import (
	"context"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/cluster"
)

// Cluster returns the cluster of this id, or [ErrUnknown].
func (s *Service) Cluster(_ context.Context, id string) (cluster.Cluster, AsOf, error) {
	founder, err := article.ParseAddress(id)
	if err != nil || founder.Topic != s.options.Config.Input.Topic {
		return cluster.Cluster{}, AsOf{}, ErrUnknown
	}
	of, err := s.of(founder.Partition)
	if err != nil {
		return cluster.Cluster{}, AsOf{}, err
	}
	v, err := of.View()
	if err != nil {
		return cluster.Cluster{}, AsOf{}, asNotReady(err)
	}
	defer v.Release()
	c, ok, err := v.Find(founder)
	if err == nil && !ok {
		err = ErrUnknown
	}
	return c, s.asOf(of.name, v.AsOf()), err
}
