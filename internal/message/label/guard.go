package label

import (
	"maps"
	"slices"
)

// Bucket is within how many positions a [Guard] counts.
const Bucket = 1000

// A FloodCount says how many articles carry a label.
type FloodCount struct {
	Hits   int `json:"hits,omitempty"`   // in the bucket of the next position
	Before int `json:"before,omitempty"` // in the bucket before
	// Suspended is that an earlier version left the label out of results. It is read and not
	// written: such a label counts again.
	Suspended bool `json:"suspended,omitempty"`
}

// Above reports whether more than a share of the articles carry the label, in the bucket of the
// next position or in the bucket before. Nothing is above a share of 1.
func (c FloodCount) Above(share float64) bool {
	return float64(max(c.Hits, c.Before)) > share*Bucket
}

// A Guard watches for labels that hit too many articles. It counts the articles that carry a label
// in each bucket of [Bucket] positions. It is for one goroutine.
type Guard struct {
	share  float64
	bucket uint64
	flood  map[string]FloodCount
}

// NewGuard returns a guard before the article at this position, when flood was known. It watches
// for labels that hit more than this share of the articles.
func NewGuard(share float64, next uint64, flood map[string]FloodCount) *Guard {
	g := &Guard{share: share, bucket: next / Bucket, flood: make(map[string]FloodCount)}
	for name, count := range flood {
		if count.Suspended = false; count != (FloodCount{}) {
			g.flood[name] = count
		}
	}
	return g
}

// Clone returns a guard that knows the same.
func (g *Guard) Clone() *Guard {
	c := *g
	c.flood = maps.Clone(g.flood)
	return &c
}

// Count counts an article that carries these labels. Positions ascend.
func (g *Guard) Count(position uint64, names []string) {
	g.enter(position)
	for _, name := range names {
		count := g.flood[name]
		count.Hits++
		g.flood[name] = count
	}
}

// enter goes on to the bucket of the position.
func (g *Guard) enter(position uint64) {
	passed := position/Bucket - g.bucket
	if passed == 0 {
		return
	}
	g.bucket += passed
	for name, count := range g.flood {
		if passed > 1 || count.Hits == 0 {
			delete(g.flood, name)
		} else {
			g.flood[name] = FloodCount{Before: count.Hits}
		}
	}
}

// Flood returns what [NewGuard] needs to go on from a position; nil for nothing.
func (g *Guard) Flood(next uint64) map[string]FloodCount {
	c := g.Clone()
	c.enter(next)
	if len(c.flood) == 0 {
		return nil
	}
	return c.flood
}

// Above returns the names of the labels that hit more than the share of the articles, sorted.
func (g *Guard) Above() (names []string) {
	for name, count := range g.flood {
		if count.Above(g.share) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
