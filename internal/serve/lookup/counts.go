package lookup

import (
	"context"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// maxCounted is how many labelled clusters are counted at most.
const maxCounted = 10_000

// LabelCounts returns what labels do, by name.
func (s *Service) LabelCounts(ctx context.Context) []api.LabelCount {
	counts, left := make(map[string]*api.LabelCount), maxCounted
	of := func(name string) *api.LabelCount {
		if counts[name] == nil {
			counts[name] = &api.LabelCount{Label: name}
		}
		return counts[name]
	}
	for _, a := range s.all() {
		left = s.countLabels(ctx, a, left, of)
	}
	all := []api.LabelCount{}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, *counts[name])
	}
	return all
}

// countLabels counts the labels of at most this many clusters of a space. It returns how many may
// still be counted. What cannot be read is not counted.
func (s *Service) countLabels(
	ctx context.Context, a *asked, left int, of func(name string) *api.LabelCount,
) int {
	v, err := a.View()
	if err != nil {
		return left
	}
	defer v.Release()
	if labels := v.AsOf().Labels; labels != nil {
		for name, flood := range labels.Flood {
			c := of(name)
			c.Hits += flood.Hits
			c.AboveFlood = c.AboveFlood || flood.Above(s.options.Config.Labels.Flood)
		}
	}
	for _, centre := range v.Labelled() {
		if left == 0 || ctx.Err() != nil {
			break
		}
		left--
		c, ok, err := v.Get(centre.Seq)
		if err != nil || !ok {
			continue
		}
		for _, l := range c.Labels.All() {
			of(l.Name).Clusters++
		}
	}
	return left
}
