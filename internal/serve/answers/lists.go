package answers

import (
	"context"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/serve/lookup"
)

// Clusters implements [v1.Spaces].
func (s *Spaces) Clusters(ctx context.Context, q v1.ClusterQuery) (api.Clusters, error) {
	if s.Hidden && q.Title != "" {
		return api.Clusters{}, errHidden("title")
	}
	found, err := s.Lookup.Clusters(ctx, lookup.Query{
		Sort: lookup.Sort(q.Sort), Minutes: q.Minutes, Label: q.Label, Title: q.Title, Limit: q.Limit,
		After: q.After,
	})
	if err != nil {
		return api.Clusters{}, understood(err)
	}
	page := s.page(&found)
	if q.Sort == v1.ByGrowth {
		for i := range page.Clusters {
			page.Clusters[i].Growth = &found.Clusters[i].Growth
		}
	}
	return page, nil
}

// Labelled implements [v1.Spaces].
func (s *Spaces) Labelled(ctx context.Context, after string, limit int) (api.Clusters, error) {
	found, err := s.Lookup.Labelled(ctx, after, limit)
	if err != nil {
		return api.Clusters{}, understood(err)
	}
	return s.page(&found), nil
}

func (s *Spaces) page(found *lookup.Page) api.Clusters {
	page := api.Clusters{
		Clusters: []api.Cluster{}, Next: found.Next, Complete: found.Complete, AsOf: []api.AsOf{},
	}
	if !found.Since.IsZero() {
		page.Since = moment(found.Since.UnixMilli())
	}
	at := make(map[string]*lookup.AsOf)
	for i := range found.AsOf {
		a := &found.AsOf[i]
		at[a.Space] = a
		page.AsOf = append(page.AsOf, asOf(a))
	}
	for i := range found.Clusters {
		c := &found.Clusters[i]
		page.Clusters = append(page.Clusters, s.cluster(&c.Cluster, at[c.Space]))
	}
	return page
}

// Applied implements [v1.Spaces]. A record of no cluster is for each space.
func (s *Spaces) Applied(clusterID string, record article.Address) bool {
	if clusterID != "" {
		return s.Lookup.Applied(clusterID, record)
	}
	for _, a := range s.Lookup.AsOf() {
		if l := a.Labels; l == nil || l.Topic != record.Topic || l.Offsets[record.Partition] <=
			record.Offset {
			return false
		}
	}
	return true
}

// maxCounted is how many labelled clusters are counted at most.
const maxCounted = 10_000

// LabelCounts returns what labels do, by name.
func (s *Spaces) LabelCounts(ctx context.Context) []api.LabelCount {
	counts := make(map[string]api.LabelCount)
	for _, a := range s.Lookup.AsOf() {
		if a.Labels == nil {
			continue
		}
		for name, flood := range a.Labels.Flood {
			c := counts[name]
			c.Hits += flood.Hits
			c.AboveFlood = c.AboveFlood || flood.Above(s.Flood)
			counts[name] = c
		}
	}
	after, counted := "", 0
	for counted < maxCounted {
		page, err := s.Lookup.Labelled(ctx, after, api.MaxPage)
		if err != nil {
			break // it is not ready: the counts are of what is known
		}
		for i := range page.Clusters {
			for _, l := range page.Clusters[i].Labels.All() {
				c := counts[l.Name]
				c.Clusters++
				counts[l.Name] = c
			}
		}
		if counted += len(page.Clusters); page.Next == "" {
			break
		}
		after = page.Next
	}
	all := []api.LabelCount{}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		c := counts[name]
		c.Label = name
		all = append(all, c)
	}
	return all
}
