package space

import (
	"context"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/state"
)

// A part knows something as of the last article, while the store is behind: batches are assigned
// before those before them are committed. Only these methods of [Space] call those of the parts, of
// all in their order: Load, newBatch, assignAll, Publish and Rollback.
type part interface {
	// load takes what is committed from the store. No batch is open.
	load(ctx context.Context) error
	begin()          // a batch, behind the others
	seal(out *Batch) // ends that batch, and says in out what it changes
	commit()         // makes the oldest batch last, once it is in the store
	rollback()       // takes back all batches, of which none is committed
}

// join makes the parts. They seal in this order: stories tell clusters where they belong, clusters
// that expire take the marks of their contacts along, and then the rule knows no more articles.
func (s *Space) join() {
	if s.stories = s.newStories(); s.stories != nil {
		s.parts = append(s.parts, s.stories)
	}
	s.members.Space, s.guards.Space = s, s
	s.parts = append(s.parts, &s.members, &s.contacts, &s.guards)
	s.guards.resume()
}

// An overlay is what batches that are not committed make of things in the store, by their keys.
type overlay[K comparable, V any] struct {
	batches []map[K]V // oldest first
}

func (o *overlay[K, V]) load(context.Context) error { return nil }

func (o *overlay[K, V]) begin() { o.batches = append(o.batches, make(map[K]V)) }

func (o *overlay[K, V]) commit() { o.batches = slices.Delete(o.batches, 0, 1) }

func (o *overlay[K, V]) rollback() { o.batches = nil }

// inHand returns what the batch that began last has looked at.
func (o *overlay[K, V]) inHand() map[K]V { return o.batches[len(o.batches)-1] }

// before returns a thing as the batches before that left it; false where none has looked at it.
func (o *overlay[K, V]) before(key K) (v V, ok bool) {
	for i := len(o.batches) - 2; i >= 0; i-- {
		if v, ok = o.batches[i][key]; ok {
			return v, true
		}
	}
	return v, false
}

// clusters are the part of the rule: the clusters that batches have looked at, and its index.
type clusters struct {
	*Space
	overlay[uint64, *member]
	sealed []Batch // that are not committed, oldest first
}

func (c *clusters) load(context.Context) error {
	c.resume()
	return nil
}

// resume sets the rule to where the store is.
func (c *clusters) resume() {
	m := c.store.Meta()
	c.rule.Resume(singlepass.State{StreamTime: m.StreamTime, Next: m.Next})
}

func (c *clusters) seal(out *Batch) {
	if c.err == nil {
		c.partition(out)
	}
	out.after, out.Clusters = c.rule.State(), c.rule.Len()
	out.Ahead = c.rule.Seal()
	c.sealed = append(c.sealed, *out)
}

func (c *clusters) commit() {
	c.overlay.commit()
	c.sealed = slices.Delete(c.sealed, 0, 1)
}

func (c *clusters) rollback() {
	if len(c.sealed) == 0 {
		return
	}
	for i := range c.sealed {
		for _, founded := range c.sealed[i].founded {
			c.rule.Remove(founded)
		}
	}
	c.rule.Resume(c.sealed[0].before)
	c.sealed = nil
	c.overlay.rollback()
}

// contacts are the contacts that batches have looked at.
type contacts struct {
	overlay[contactKey, *marked]
}

// seal says which contacts the batch changes, in the order of their values and names.
func (c *contacts) seal(out *Batch) {
	// What is not touched may lack marks that are dead: the next batch has to find out itself.
	maps.DeleteFunc(c.inHand(), func(_ contactKey, m *marked) bool { return !m.touched })
	for _, m := range c.inHand() {
		out.Contacts = append(out.Contacts, state.ContactChange{Contact: m.Contact})
	}
	slices.SortFunc(out.Contacts, state.CompareContacts)
}

// guards watch for floods of labels.
type guards struct {
	*Space
	all []*label.Guard // as the store has it, then after each batch that is not committed
}

// last returns the guard as of the last article.
func (g *guards) last() *label.Guard { return g.all[len(g.all)-1] }

func (g *guards) load(context.Context) error {
	g.resume()
	return nil
}

// resume takes the guard from the store.
func (g *guards) resume() {
	m := g.store.Meta()
	var flood map[string]label.FloodCount
	if c := m.Checkpoint; c != nil && c.Labels != nil {
		flood = c.Labels.Flood
	}
	g.all = []*label.Guard{label.NewGuard(g.options.Labels.Flood, m.Next, flood)}
}

func (g *guards) begin() { g.all = append(g.all, g.last().Clone()) }

// seal says what the batch changes of the guard.
func (g *guards) seal(out *Batch) {
	out.Flood.Counts = g.last().Flood(g.rule.State().Next)
	before := g.all[len(g.all)-2].Above()
	for _, name := range g.last().Above() {
		if !slices.Contains(before, name) {
			out.Flood.Above = append(out.Flood.Above, name)
		}
	}
}

func (g *guards) commit() { g.all = slices.Delete(g.all, 0, 1) }

func (g *guards) rollback() { g.all = g.all[:1] }
