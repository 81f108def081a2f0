package members

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
)

// A Page is some members of a cluster, in the order of their positions.
type Page struct {
	Members []Member
	Next    uint64 // the position to go on from
	More    bool   // there may be members from there on
	// Complete says that none of the cluster's was left out for want of space, as far as the topic is
	// read.
	Complete bool
	Lag      int64 // as in [Stats]
}

// Range returns the members of a cluster whose positions are in [from, before), in ascending
// order, at most limit, which is at most [MaxPage]. A cluster that is not known has none.
func (v *View) Range(
	ctx context.Context, clusterID string, from, before uint64, limit int,
) (page Page, err error) {
	founder, err := article.ParseAddress(clusterID)
	if err != nil {
		return Page{}, err
	}
	limit = min(max(limit, 1), MaxPage)
	err = v.read(func(generations []*generation) error {
		page = Page{Lag: v.lag()}
		if founder.Topic != v.Input {
			return nil
		}
		c, err := v.cluster(generations, founder)
		if err != nil {
			return err
		}
		page.Complete = c.founder != nil
		page.Members, page.More, err = c.members(ctx, from, before, limit)
		return err
	})
	page.Next = from
	if n := len(page.Members); n > 0 {
		page.Next = page.Members[n-1].Position + 1
	}
	return page, err
}

// A clusterView is what the generations have of one cluster.
type clusterView struct {
	*View
	generations []*generation
	keys        []byte
	founder     *Member // nil where it was left out
}

// cluster looks for the founder.
func (v *View) cluster(generations []*generation, founder article.Address) (clusterView, error) {
	c := clusterView{View: v, generations: generations, keys: keysOfCluster(founder)}
	for _, g := range slices.Backward(generations) {
		value, ok, err := g.Get(keyOfMember(c.keys, 0))
		if err != nil || !ok {
			if err != nil {
				return c, err
			}
			continue
		}
		m, err := v.decode(value, c.keys)
		if err != nil {
			return c, err
		}
		c.founder = &m
		break
	}
	return c, nil
}

// clockSkew is how much the clocks of instances may differ.
const clockSkew = time.Minute

// stale reports whether a member is of a time before its cluster was founded: another group has
// written to the topic before, or this one was started anew.
func (c *clusterView) stale(m *Member) bool {
	f := c.founder
	if f == nil {
		return false
	}
	if m.Result.Partition == f.Result.Partition {
		return m.Result.Offset < f.Result.Offset
	}
	return m.Written < f.Written-clockSkew.Milliseconds()
}

// members returns those with positions in [from, before), at most limit, and whether there may be
// more.
func (c *clusterView) members(
	ctx context.Context, from, before uint64, limit int,
) (found []Member, more bool, err error) {
	if f := c.founder; f != nil && f.Position >= from && f.Position < before {
		found = append(found, *f)
	}
	for _, g := range c.generations {
		n := len(found)
		start, end := keyOfMember(c.keys, max(1, from)), keyOfMember(c.keys, before)
		if bytes.Compare(start, end) >= 0 {
			break
		}
		scanned := 0
		scanErr := g.Scan(start, end, func(_, value []byte) bool {
			var m Member
			if m, err = c.decode(value, c.keys); err != nil {
				return false
			}
			if !c.stale(&m) {
				found = append(found, m)
			}
			if scanned++; scanned%checkEvery == 0 {
				err = ctx.Err()
			}
			return err == nil && len(found)-n <= limit
		})
		if err := errors.Join(scanErr, err); err != nil {
			return nil, false, err
		}
	}
	slices.SortStableFunc(found, byPosition)
	if len(found) > limit {
		return found[:limit], true, nil
	}
	return found, false, nil
}

func byPosition(a, b Member) int { return cmp.Compare(a.Position, b.Position) }

// checkEvery is after how many members a question looks whether it is still wanted.
const checkEvery = 1 << 12

// maxSameHash is how many articles of one hash a question looks at.
const maxSameHash = 64

// latest returns the article with this id, of several the one whose result was written last, and
// whether there is one.
func (v *View) latest(id string) (newest Member, found bool, err error) {
	err = v.read(func(generations []*generation) error {
		for _, g := range generations {
			m, ok, err := v.articleIn(g, generations, id)
			if err != nil {
				return err
			}
			if ok && (!found || m.Written >= newest.Written) {
				newest, found = m, true
			}
		}
		return nil
	})
	return newest, found, err
}

func (v *View) articleIn(
	g *generation, generations []*generation, id string,
) (m Member, ok bool, err error) {
	keys := keysOfArticle(id, g.seed)
	seen := 0
	scanErr := g.Scan(keys, append(slices.Clone(keys), bytes.Repeat([]byte{0xff}, 9)...),
		func(key, value []byte) bool {
			seen++
			var stale bool
			m, stale, err = v.found(g, generations, key, value)
			ok = err == nil && !stale && m.ArticleID == id
			return err == nil && !ok && seen < maxSameHash
		})
	return m, ok, errors.Join(scanErr, err)
}

// found returns the member that an article's key leads to, and whether it is none any more.
func (v *View) found(
	g *generation, generations []*generation, key, value []byte,
) (m Member, stale bool, err error) {
	if len(key) != clusteredKey {
		m, err = v.decode(value, nil)
		return m, false, err
	}
	member := append([]byte{memberKey}, key[articleBytes:]...)
	stored, ok, err := g.Get(member)
	if err != nil {
		return m, false, err
	}
	if !ok {
		return m, false, fmt.Errorf("%w: %s: an article leads to no member", errDamaged, g.dir)
	}
	if m, err = v.decode(stored, member); err != nil {
		return m, false, err
	}
	founder, err := article.ParseAddress(m.ClusterID)
	if err != nil {
		return m, false, err
	}
	c, err := v.cluster(generations, founder)
	return m, err == nil && c.stale(&m), err
}

// A Timeline is how many members a cluster had in each stretch of event time.
type Timeline struct {
	Counts   []Count // ascending; stretches without members are left out
	Members  int     // in all
	Complete bool    // as in [Page]
	Lag      int64
}

// A Count is how many members are in a stretch of time.
type Count struct {
	Start   int64 // Unix milliseconds
	Members int
}

// MaxCounts is how many stretches a timeline has at most.
const MaxCounts = 10_000

// Timeline counts the members of a cluster by their event times, in stretches of a length. It reads
// all of them. The error says so where they are more than [MaxCounts].
func (v *View) Timeline(
	ctx context.Context, clusterID string, length time.Duration,
) (t Timeline, err error) {
	founder, err := article.ParseAddress(clusterID)
	if err != nil {
		return Timeline{}, err
	}
	step := max(1, length.Milliseconds())
	counts := make(map[int64]int)
	err = v.read(func(generations []*generation) error {
		t = Timeline{Lag: v.lag()}
		if founder.Topic != v.Input {
			return nil
		}
		c, err := v.cluster(generations, founder)
		if err != nil {
			return err
		}
		t.Complete = c.founder != nil
		return c.each(ctx, func(m *Member) error {
			counts[m.EventTime/step*step]++
			t.Members++
			if len(counts) > MaxCounts {
				return fmt.Errorf("the timeline of %s has more than %d stretches of %v: ask for longer ones",
					clusterID, MaxCounts, length)
			}
			return nil
		})
	})
	for _, start := range slices.Sorted(maps.Keys(counts)) {
		t.Counts = append(t.Counts, Count{start, counts[start]})
	}
	return t, err
}

// each hands on all members of the cluster, in no order.
func (c *clusterView) each(ctx context.Context, do func(*Member) error) error {
	if c.founder != nil {
		if err := do(c.founder); err != nil {
			return err
		}
	}
	for _, g := range c.generations {
		var failed error
		scanned := 0
		err := g.Scan(keyOfMember(c.keys, 1), endOfCluster(c.keys), func(_, value []byte) bool {
			var m Member
			if m, failed = c.decode(value, c.keys); failed == nil && !c.stale(&m) {
				failed = do(&m)
			}
			if scanned++; failed == nil && scanned%checkEvery == 0 {
				failed = ctx.Err()
			}
			return failed == nil
		})
		if err := errors.Join(err, failed); err != nil {
			return err
		}
	}
	return nil
}
