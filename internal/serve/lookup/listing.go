package lookup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/space"
)

// A candidate is a cluster that a page may have.
type candidate struct {
	entry
	space int // in the listing's list
}

// A cursor is the last candidate of a page.
type cursor struct {
	growth, size int
	seq          uint64
	space        string
}

func (c *cursor) String() string {
	return fmt.Sprintf("%d.%d.%d.%s", c.growth, c.size, c.seq, c.space)
}

// parseCursor returns nil for the first page.
func parseCursor(text string) (*cursor, error) {
	if text == "" {
		return nil, nil
	}
	var c cursor
	if _, err := fmt.Sscanf(text, "%d.%d.%d.%s", &c.growth, &c.size, &c.seq, &c.space); err != nil {
		return nil, api.Invalid("cursor", "it is not what a page has said of the next one")
	}
	return &c, nil
}

// A listing is an [api.ClusterQuery] at work.
type listing struct {
	api.ClusterQuery
	*Service
	after      *cursor
	spaces     []*asked
	views      []*space.View
	candidates []candidate
	page       api.Clusters
	last       cursor // of the page
}

func (l *listing) release() {
	for _, v := range l.views {
		v.Release()
	}
}

// add takes in the candidates of a space.
func (l *listing) add(of *asked) error {
	v, err := of.View()
	if err != nil {
		return nil // it is being closed
	}
	l.spaces, l.views = append(l.spaces, of), append(l.views, v)
	l.page.AsOf = append(l.page.AsOf, l.asOf(of.name, v.AsOf()))
	of.ranking.fill(of.Space)
	known, complete := of.ranking.by(l.Sort, l.Minutes)
	if l.Sort == api.ByGrowth {
		l.page.Since = later(l.page.Since, known.since)
	}
	entries := known.entries
	if l.Label != "" {
		if entries, err = l.labelled(v, entries); err != nil {
			return err
		}
		slices.SortFunc(entries, orders[l.Sort])
		complete = true
	}
	l.page.Complete = l.page.Complete && complete
	title := strings.ToLower(l.Title)
	for _, e := range entries {
		c := candidate{e, len(l.spaces) - 1}
		if strings.Contains(e.title, title) && l.isAfter(&c) {
			l.candidates = append(l.candidates, c)
		}
	}
	return nil
}

// labelled returns the clusters that have the label, of as many as have any.
func (l *listing) labelled(v *space.View, known []entry) (found []entry, err error) {
	growth := make(map[uint64]int)
	for _, e := range known {
		growth[e.seq] = e.growth
	}
	read := 0
	for _, centre := range slices.Backward(v.Labelled()) {
		if read++; read > listed {
			break
		}
		c, ok, err := v.Get(centre.Seq)
		if err != nil {
			return nil, err
		}
		if ok && hasLabel(&c, l.Label) {
			found = append(found, entry{c.Seq, c.Size, growth[c.Seq], titleOf(&c)})
		}
	}
	return found, nil
}

func hasLabel(c *cluster.Cluster, name string) bool {
	for _, l := range c.Labels.All() {
		if l.Name == name {
			return true
		}
	}
	return false
}

// compare compares candidates of all spaces.
func (l *listing) compare(a, b candidate) int {
	return cmp.Or(orders[l.Sort](a.entry, b.entry),
		compareNames(l.spaces[a.space].name, l.spaces[b.space].name))
}

func (l *listing) isAfter(c *candidate) bool {
	if l.after == nil {
		return true
	}
	last := entry{seq: l.after.seq, size: l.after.size, growth: l.after.growth}
	return cmp.Or(orders[l.Sort](last, c.entry),
		compareNames(l.after.space, l.spaces[c.space].name)) < 0
}

// take fills the page with clusters as they are now.
func (l *listing) take(ctx context.Context) error {
	slices.SortFunc(l.candidates, l.compare)
	for _, c := range l.candidates {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(l.page.Clusters) == l.Limit {
			l.page.Next = l.last.String()
			return nil
		}
		of := l.spaces[c.space]
		found, ok, err := l.views[c.space].Get(c.seq)
		if err != nil {
			return err
		}
		if !ok {
			of.ranking.forget(c.seq)
			continue
		}
		out := l.cluster(&found, of.name, l.views[c.space].AsOf().StreamTime)
		if l.Sort == api.ByGrowth {
			growth := c.growth
			out.Growth = &growth
		}
		l.page.Clusters = append(l.page.Clusters, out)
		l.last = cursor{c.growth, c.size, c.seq, of.name}
	}
	return nil
}
