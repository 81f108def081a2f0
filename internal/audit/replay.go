package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// replayAll feeds the model with the articles of each space, in the recorded order.
func (a *audit) replayAll(ctx context.Context) error {
	for _, key := range slices.Sorted(maps.Keys(a.spaces)) {
		s := a.spaces[key]
		r := replay{
			audit: a, space: s, model: newModel(a.config.Fingerprint.Method, a.config.Cluster.Distance, a.config.Cluster.Window),
			last: make(map[int32]int64), buried: make(map[place]int),
		}
		r.model.measure = a.measure
		for _, t := range s.tombstones {
			r.buried[t.founder] = -1
		}
		slices.SortStableFunc(s.tombstones, func(x, y tombstone) int { return cmp.Compare(x.by, y.by) })
		if err := r.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A replay is a space on its way through the model.
type replay struct {
	*audit
	space  *space
	model  *model
	last   map[int32]int64 // by input partition: the highest offset so far
	buried map[place]int   // clusters that have a tombstone: their index, or -1 until they are founded
	gone   int             // tombstones that have been looked at
	next   int64           // position
}

func (r *replay) run(ctx context.Context) error {
	results, clusters := r.space.results.reader(), r.space.clusters.reader()
	tail := false
	for position := int64(0); position < r.space.results.end || position < r.space.required; position++ {
		if position%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.advance(min(4096, r.space.results.end-position))
		}
		row, ok, err := results.next()
		if err != nil {
			return err
		}
		told, said, err := clusters.next()
		if err != nil {
			return err
		}
		switch {
		case ok && !tail:
			r.inOrder(position, row)
			if r.complete {
				if err := r.article(position, row, told, said); err != nil {
					return err
				}
			}
		case ok:
			r.report.Counts.Later++
		case position >= r.space.required:
			// A part of a transaction that was not over when the cut was made: not all that it wrote is
			// below the ends of the topics.
			tail = true
		case r.complete:
			r.order.violated(fmt.Sprintf("%s, position %d", r.cut.results.topic, position), "a result", "none")
			if said {
				r.clusters.violated(told.At.in(r.cut.clusters.topic), fmt.Sprintf("a result at position %d", position), "none")
			}
		}
	}
	if r.complete {
		r.end()
	}
	return nil
}

// inOrder holds an article to the order of its partition.
func (r *replay) inOrder(position int64, row resultRow) {
	r.order.Checked++
	p := row.Source.Partition
	if last, ok := r.last[p]; ok && row.Source.Offset <= last {
		r.order.violated(row.At.in(r.cut.results.topic), fmt.Sprintf("%s/%d to be taken in by ascending offsets", r.cut.input.topic, p),
			fmt.Sprintf("offset %d at position %d, after offset %d", row.Source.Offset, position, last))
	}
	r.last[p] = max(r.last[p], row.Source.Offset)
}

// article compares a result with the model, and what the clusters topic says of this moment.
func (r *replay) article(position int64, row resultRow, told clusterRow, said bool) error {
	r.rule.Checked++
	r.next = position + 1
	m := r.model
	if now := max(0, m.now); row.Timeless && row.EventTime != now {
		r.input.violated(row.At.in(r.cut.results.topic), "the stream time "+clock(now)+" as the event time, since nothing else is known", clock(row.EventTime))
	}
	i, distance, joined, err := m.assign(row, position)
	if err != nil {
		return err
	}
	c := &m.centres[i]
	want := row
	want.Cluster, want.Distance, want.Joined, want.Size, want.Representative = c.founder, distance, joined, c.size, c.representative
	switch bound := r.method.Bound(); {
	case joined && distance > bound:
		r.rule.violated(row.At.in(r.cut.results.topic), fmt.Sprintf("at most %v from the founder %s", bound, c.founder.in(r.cut.input.topic)), r.assignment(row)+fmt.Sprintf(", and it is %v from it", distance))
	case want != row:
		expected, found := r.assignment(want), r.assignment(row)
		if want.Representative != row.Representative {
			expected, found = expected+", represented by the founder", found+", with another representative"
		}
		r.rule.violated(row.At.in(r.cut.results.topic), expected, found)
	}
	if _, ok := r.buried[c.founder]; ok && !joined {
		r.buried[c.founder] = i
	}
	if row.Source.Offset < r.cut.committed[row.Source.Partition] {
		c.due = position
	}
	if said {
		r.cluster(position, c, told)
	}
	for r.gone < len(r.space.tombstones) && r.space.tombstones[r.gone].by <= position {
		r.tombstone(r.space.tombstones[r.gone], position)
		r.gone++
	}
	return nil
}

// measure is how far an article is from the founder of its cluster.
func (a *audit) measure(member, founder print) (distance float64, known bool, err error) {
	if !member.known || !founder.known {
		a.unmeasured++
		return 0, false, nil
	}
	var prints [2]singlepass.Fingerprint
	for i, p := range []print{member, founder} {
		prints[i].Hash = p.fingerprint
		if prints[i].Sketch, err = a.sketches.get(p.sketch); err != nil {
			return 0, false, err
		}
	}
	return a.method.Distance(prints[0], prints[1]), true, nil
}

func (r *replay) assignment(row resultRow) string {
	status := "new"
	if row.Joined {
		status = "joined"
	}
	return fmt.Sprintf("%s %s: distance %v, size %d", status, row.Cluster.in(r.cut.input.topic), row.Distance, row.Size)
}

// cluster compares a record of the clusters topic with the cluster of the article at its position.
func (r *replay) cluster(position int64, c *centre, told clusterRow) {
	want := clusterRow{
		At: told.At, Founder: c.founder, Fingerprint: c.fingerprint, Seq: c.seq, Size: c.size, FirstSeen: c.firstSeen, LastSeen: c.lastSeen,
		Representative: c.representative, Sketch: c.sketch.Digest,
	}
	if !c.known {
		want.Sketch = told.Sketch
	}
	at := told.At.in(r.cut.clusters.topic)
	if told != want {
		expected, found := r.state(want, position), r.state(told, position)
		if want.Representative != told.Representative {
			expected, found = expected+", represented by the founder", found+", with another representative"
		}
		if want.Sketch != told.Sketch {
			expected, found = expected+", with the founder's sketch", found+", with another sketch"
		}
		r.clusters.violated(at, expected, found)
	}
	if told.Founder != c.founder {
		return
	}
	if c.told >= 0 && told.At.Offset < c.toldAt.Offset {
		r.clusters.violated(at, fmt.Sprintf("the state at position %d to come after that at position %d", position, c.told),
			fmt.Sprintf("it comes before, that one being at offset %d", c.toldAt.Offset))
	}
	c.told, c.toldAt = position, told.At
}

func (r *replay) state(c clusterRow, position int64) string {
	return fmt.Sprintf("%s at position %d: seq %d, fingerprint %016x, size %d, seen from %s to %s",
		c.Founder.in(r.cut.input.topic), position, c.Seq, c.Fingerprint, c.Size, clock(c.FirstSeen), clock(c.LastSeen))
}

// tombstone holds a tombstone to the rule: its cluster must have expired at that position.
func (r *replay) tombstone(t tombstone, position int64) {
	id, at := t.founder.in(r.cut.input.topic), t.at.in(r.cut.clusters.topic)
	i := r.buried[t.founder]
	switch {
	case i < 0:
		r.clusters.violated(at, fmt.Sprintf("no tombstone of %s, which nobody has founded up to position %d", id, position), "a tombstone")
	case !r.model.expired(i):
		r.clusters.violated(at, fmt.Sprintf("%s to live at position %d: last seen %s, stream time %s",
			id, position, clock(r.model.centres[i].lastSeen), clock(r.model.now)), "a tombstone")
	}
}

// end looks at the tombstones that may be as late as the last article, and at clusters of which the
// topic does not say what it should.
func (r *replay) end() {
	for _, t := range r.space.tombstones[r.gone:] {
		r.tombstone(t, r.next-1)
	}
	for i := range r.model.centres {
		c := &r.model.centres[i]
		r.report.Counts.Clusters++
		if !r.model.expired(i) {
			r.report.Counts.Live++
		}
		_, buried := r.buried[c.founder]
		id := c.founder.in(r.cut.input.topic)
		switch {
		case c.told >= c.due || buried:
		case c.told >= 0:
			r.clusters.violated(c.toldAt.in(r.cut.clusters.topic),
				fmt.Sprintf("a later record of %s: it has a member at position %d", id, c.due), fmt.Sprintf("the last one is of position %d", c.told))
		case !r.model.expired(i):
			r.clusters.violated(id, "a record in "+r.cut.clusters.topic, "none")
		}
	}
}

func clock(ms int64) string {
	if ms == math.MinInt64 {
		return "never"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
