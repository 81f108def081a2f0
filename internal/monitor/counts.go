package monitor

import (
	"maps"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
)

const (
	rateStep = 5 * time.Second
	// rateSteps before the one in hand are what a rate is of: a minute.
	rateSteps = 12
)

// Counts are what an instance has committed since it was started.
type Counts struct {
	Since                    time.Time
	New, Joined, Unclustered int64          // articles
	Rate                     float64        // articles a second, over the last minute
	Clusters                 map[string]int // by space that is loaded
	DeadLetters              map[string]int64
}

// counts are those, and what their rate is made of.
type counts struct {
	Counts
	steps [rateSteps + 1]int64 // articles of each step; the latest is at latest modulo their number
	last  int64                // the number of the latest step since the zero time
}

func newCounts(now time.Time) counts {
	c := counts{Counts: Counts{
		Since: now, Clusters: make(map[string]int), DeadLetters: make(map[string]int64),
	}}
	for _, class := range article.Classes {
		c.DeadLetters[string(class)] = 0
	}
	c.last = c.step(now)
	return c
}

func (c *counts) step(now time.Time) int64 { return int64(now.Sub(c.Since) / rateStep) }

// turn empties the steps that have begun since the latest.
func (c *counts) turn(now time.Time) {
	step := c.step(now)
	for c.last = max(c.last, step-int64(len(c.steps))); c.last < step; {
		c.last++
		c.steps[c.last%int64(len(c.steps))] = 0
	}
}

func (c *counts) add(now time.Time, done *Commit) {
	c.turn(now)
	articles := done.New + done.Joined + done.Unclustered + done.Fingerprinted
	c.steps[c.last%int64(len(c.steps))] += int64(articles)
	c.New += int64(done.New)
	c.Joined += int64(done.Joined)
	c.Unclustered += int64(done.Unclustered)
	for class, n := range done.Rejected {
		c.DeadLetters[class] += int64(n)
	}
}

// rate returns how many articles a second there were, over all whole steps that are kept and the
// one in hand.
func (c *counts) rate(now time.Time) float64 {
	c.turn(now)
	var articles int64
	for _, n := range c.steps {
		articles += n
	}
	since := now.Sub(c.Since)
	if begun := since - since%rateStep - rateSteps*rateStep; begun > 0 {
		since -= begun
	}
	if since <= 0 {
		return 0
	}
	return tenths(float64(articles) / since.Seconds())
}

// Loaded reports how many clusters a space has in memory, with expired clusters that were not taken
// away yet. It is called again when that changes.
func (m *Monitor) Loaded(space string, clusters int) {
	m.metrics.clusters.WithLabelValues(space).Set(float64(clusters))
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.counts.Clusters[space] = clusters
}

// Unloaded reports that the clusters of a space are no longer in memory.
func (m *Monitor) Unloaded(space string) {
	m.metrics.clusters.DeleteLabelValues(space)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.counts.Clusters, space)
}

// Counts returns what the instance has committed.
func (m *Monitor) Counts() Counts {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	c := m.counts.Counts
	c.Since = stamp(c.Since)
	c.Rate = m.counts.rate(m.now())
	c.Clusters, c.DeadLetters = maps.Clone(c.Clusters), maps.Clone(c.DeadLetters)
	return c
}
