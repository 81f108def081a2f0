package label

import (
	"maps"
	"slices"
)

// Bucket is within how many positions a [Guard] counts.
const Bucket = 1000

// A FloodCount is what a [Guard] knows of a label.
type FloodCount struct {
	Hits      int  `json:"hits,omitempty"` // in the bucket of the next position
	Suspended bool `json:"suspended,omitempty"`
}

// A Guard suspends labels that hit too many articles. It counts the articles that carry a label in
// each bucket of [Bucket] positions. It is for one goroutine.
type Guard struct {
	limit  float64 // hits in a bucket; more suspend a label
	bucket uint64
	flood  map[string]FloodCount
}

// NewGuard returns a guard before the article at this position, when flood was known. A share of
// articles that is more than the one given suspends a label; 1 is that none does.
func NewGuard(share float64, next uint64, flood map[string]FloodCount) *Guard {
	g := &Guard{
		limit: share * Bucket, bucket: next / Bucket,
		flood: make(map[string]FloodCount),
	}
	maps.Copy(g.flood, flood)
	return g
}

// Clone returns a guard that knows the same.
func (g *Guard) Clone() *Guard {
	c := *g
	c.flood = maps.Clone(g.flood)
	return &c
}

// Pass counts an article that carries these labels, and returns those that are not suspended.
// Positions ascend. The article that is one too many for a label still has it.
func (g *Guard) Pass(position uint64, names []string) (passed []string) {
	g.enter(position)
	for _, name := range names {
		count := g.flood[name]
		if count.Suspended {
			continue
		}
		passed = append(passed, name)
		count.Hits++
		if float64(count.Hits) > g.limit {
			count = FloodCount{Suspended: true}
		}
		g.flood[name] = count
	}
	return passed
}

// enter forgets the hits of another bucket than that of the position.
func (g *Guard) enter(position uint64) {
	bucket := position / Bucket
	if bucket == g.bucket {
		return
	}
	g.bucket = bucket
	maps.DeleteFunc(g.flood, func(_ string, c FloodCount) bool { return !c.Suspended })
}

// Resume lets a label count again, from nothing, and reports whether it was suspended.
func (g *Guard) Resume(name string) bool {
	suspended := g.flood[name].Suspended
	delete(g.flood, name)
	return suspended
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

// Suspended returns the names of the labels that are suspended, sorted.
func (g *Guard) Suspended() (names []string) {
	for name, count := range g.flood {
		if count.Suspended {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
