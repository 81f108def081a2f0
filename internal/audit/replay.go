package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/expect"
	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// replayAll feeds the model with the articles of each space, in the recorded order.
func (a *audit) replayAll(ctx context.Context) error {
	for _, key := range slices.Sorted(maps.Keys(a.spaces)) {
		if err := a.newReplay(a.spaces[key]).run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A replay is a space on its way through the model.
type replay struct {
	*audit
	space   *space
	model   *model.Model
	records []clusterRecords     // by number of the cluster
	last    map[int32]int64      // by input partition: the highest offset so far
	expired map[wire.Address]int // numbers of clusters that have a tombstone; -1 until founded
	checked int                  // tombstones that have been looked at
	next    int64                // position
}

// clusterRecords are what the clusters topic must say of a cluster, and does.
type clusterRecords struct {
	due    int64        // position of the last member that the clusters topic must know, or -1
	last   int64        // position of the last record of it, or -1
	lastAt wire.Address // of that record
}

func (a *audit) newReplay(s *space) *replay {
	r := &replay{
		audit: a, space: s, last: make(map[int32]int64), expired: make(map[wire.Address]int),
	}
	rule := model.Rule{Window: a.config.Cluster.Window, Contacts: a.expected.Contacts}
	if a.config.Contacts.Join {
		rule.ContactLimit = a.config.Contacts.Limit
	}
	if expect.HashIsAll(a.config) {
		r.model = model.New(a.config.Cluster.Distance, rule)
	} else {
		r.model = model.NewFollowing(rule, r.distance)
	}
	for _, t := range s.tombstones {
		r.expired[t.founder] = -1
	}
	slices.SortStableFunc(s.tombstones, func(x, y tombstone) int { return cmp.Compare(x.by, y.by) })
	return r
}

// distance returns how far an article is from the founder of its cluster.
func (r *replay) distance(
	member, founder model.Fingerprint,
) (distance float64, known bool, err error) {
	distance, known, err = r.expected.Distance(member, founder)
	if err == nil && !known {
		r.unmeasured++
	}
	return distance, known, err
}

func (r *replay) run(ctx context.Context) error {
	results, clusters := r.space.results.Reader(), r.space.clusters.Reader()
	end, tail := r.space.results.End(), false
	for position := int64(0); position < end || position < r.space.required; position++ {
		if position%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.advance(min(4096, end-position))
		}
		row, ok, err := results.Next()
		if err != nil {
			return err
		}
		recorded, hasRecord, err := clusters.Next()
		if err != nil {
			return err
		}
		switch {
		case ok && !tail:
			r.checkOrder(position, row)
			if !r.complete {
				continue
			}
			cluster, err := r.assign(position, row)
			if err != nil {
				return err
			}
			if hasRecord {
				r.checkRecord(position, cluster, recorded)
			}
			r.checkTombstones(position)
		case ok:
			r.report.Counts.Later++
		case position >= r.space.required:
			// A part of a transaction that was not over when the cut was made: not all that it wrote is
			// below the ends of the topics.
			tail = true
		case r.complete:
			r.order.Violate(
				fmt.Sprintf("%s, position %d", r.cut.Results.Topic, position), "a result", "none",
			)
			if hasRecord {
				r.clusters.Violate(recorded.At.In(r.cut.Clusters.Topic),
					fmt.Sprintf("a result at position %d", position), "none")
			}
		}
	}
	if r.complete {
		r.finish()
	}
	return nil
}

// checkOrder holds an article to the order of its partition.
func (r *replay) checkOrder(position int64, row resultRow) {
	r.order.Checked++
	source := row.Article.Source
	if last, ok := r.last[source.Partition]; ok && source.Offset <= last {
		r.order.Violate(row.At.In(r.cut.Results.Topic),
			fmt.Sprintf("%s/%d to be taken in by ascending offsets", r.cut.Input.Topic, source.Partition),
			fmt.Sprintf("offset %d at position %d, after offset %d", source.Offset, position, last))
	}
	r.last[source.Partition] = max(r.last[source.Partition], source.Offset)
}

// An outcome is what becomes of an article.
type outcome struct {
	cluster        wire.Address // the founder
	distance       float64
	joined         bool
	matched        match
	contact        uint64 // a digest
	size           int64
	representative uint64
}

// assign feeds the model with an article, and holds its result to what comes out. It returns the
// number of the cluster.
func (r *replay) assign(position int64, row resultRow) (number int, err error) {
	r.rule.Checked++
	r.next = position + 1
	article, at := row.Article, row.At.In(r.cut.Results.Topic)
	if now := max(0, r.model.StreamTime()); row.Timeless && article.EventTime != now {
		r.input.Violate(at, "the stream time "+report.Clock(now)+
			" as the event time, since nothing else is known", report.Clock(article.EventTime))
	}
	p, err := r.model.Assign(article, position)
	if err != nil {
		return 0, err
	}
	c := r.model.Cluster(p.Cluster)
	want := outcome{
		c.Founder, p.Distance, p.Joined, r.matched(p), p.Contact, c.Size, c.Representative,
	}
	got := outcome{
		article.Cluster, article.Distance, article.Joined, row.Matched, article.Contact, row.Size,
		row.Representative,
	}
	mayJoin, err := r.mayJoin(article.Fingerprint, c.Fingerprint, p)
	if err != nil {
		return 0, err
	}
	switch {
	case !mayJoin:
		r.rule.Violate(at,
			fmt.Sprintf("at most %v from the founder %s%s", r.expected.Threshold(),
				c.Founder.In(r.cut.Input.Topic), r.ofLong()),
			r.describe(got)+fmt.Sprintf(", and it is %v from it", p.Distance))
	case want != got:
		expected, found := r.describe(want), r.describe(got)
		if want.representative != got.representative {
			expected += ", represented by the founder"
			found += ", with another representative"
		}
		if want.contact != got.contact && want.matched == got.matched {
			expected += ", by another contact"
		}
		r.rule.Violate(at, expected, found)
	}
	if !p.Joined {
		r.records = append(r.records, clusterRecords{due: -1, last: -1})
		if _, ok := r.expired[c.Founder]; ok {
			r.expired[c.Founder] = p.Cluster
		}
	}
	if article.Source.Offset < r.cut.Committed[article.Source.Partition] {
		r.records[p.Cluster].due = position
	}
	return p.Cluster, nil
}

// matched returns how a result must say that its article joined.
func (r *replay) matched(p model.Placement) match {
	switch {
	case !p.Joined || !r.config.Explains():
		return unexplained
	case p.Contact != 0:
		return byContact
	case p.Distance > r.expected.Threshold():
		return contained
	default:
		return byText
	}
}

// mayJoin reports whether an article may be placed so: it founds a cluster, joins by a contact, or
// is the same as the founder. Where the fingerprints are not known, what cluster.containment and
// cluster.long_similarity would make of them is not known either, and the result is believed.
func (r *replay) mayJoin(
	member, founder model.Fingerprint, p model.Placement,
) (ok bool, err error) {
	if !p.Joined || p.Contact != 0 {
		return true, nil
	}
	same, known, err := r.expected.Same(member, founder)
	if known || err != nil {
		return same, err
	}
	return p.Distance <= r.expected.Threshold() || r.config.Contains(), nil
}

// ofLong says what is asked of long texts beside the threshold.
func (r *replay) ofLong() string {
	least := r.config.Cluster.LongSimilarity
	if least == 0 {
		return ""
	}
	return fmt.Sprintf(", and similar by %v where both are long", least)
}

func (r *replay) describe(o outcome) string {
	status := wire.StatusNew
	if o.joined {
		status = wire.StatusJoined
	}
	how := map[match]string{
		byText: " by its text", contained: " by containment", byContact: " by a contact",
	}[o.matched]
	return fmt.Sprintf("%s %s%s: distance %v, size %d",
		status, o.cluster.In(r.cut.Input.Topic), how, o.distance, o.size)
}
