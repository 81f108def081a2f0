// Package replay feeds a model with the articles of a space, in the recorded order, and holds what
// results, records of clusters and tombstones say to it.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/labels"
	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/topics"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
)

// An Audit is what a replay needs beside its space.
type Audit struct {
	Config   config.Config
	Cut      topics.Cut
	Expected *Outcomes
	Complete bool // no result has been deleted by retention
	Counts   *report.Counts
	Advance  func(int64)

	Order, Rule, Clusters, Input *report.Check
	Signals                      *report.Check // nil where there are none
	Unmeasured                   int64         // distances that are not known
	// Erased are the founders whose text is to be erased, and the label records that say so.
	Erased map[wire.Address]wire.Address
}

// ErasedText is the digest of a representative without its text, which somebody has erased.
const ErasedText = 1

// ErasedContacts is the digest of contacts of which one was erased that nothing names any more.
const ErasedContacts = 1

// A replay is a space on its way through the model.
type replay struct {
	*Audit
	space   *Space
	model   *model.Model
	records []clusterRecords     // by number of the cluster
	last    map[int32]taken      // by input partition
	expired map[wire.Address]int // numbers of clusters that have a tombstone; -1 until founded
	checked int                  // tombstones that have been looked at
	next    int64                // position
	labels  *labels.Space        // nil where there are none
	signals bool                 // there was a result with signals
	highest int64                // event time below the next position of the last checkpoint
	strayed bool                 // a result is not where that says
}

// clusterRecords are what the clusters topic must say of a cluster, and does.
type clusterRecords struct {
	due    int64        // position of the last member that the clusters topic must know, or -1
	last   int64        // position of the last record of it, or -1
	lastAt wire.Address // of that record
	// earlier is that a version founded it which found other contacts, by which articles joined.
	earlier bool
	erased  bool // the text of the founder is gone
}

func newReplay(a *Audit, s *Space, l *labels.Space) *replay {
	r := &replay{
		Audit: a, space: s, labels: l, last: make(map[int32]taken), expired: make(map[wire.Address]int),
	}
	rule := model.Rule{Window: a.Config.Cluster.Window}
	if a.Config.Signals.Enabled {
		rule.Recent = a.Config.Signals.Window
	}
	if HashIsAll(a.Config) {
		r.model = model.New(a.Config.Cluster.Distance, rule)
	} else {
		r.model = model.NewFollowing(rule, r.distance)
	}
	if l != nil {
		l.Replay(r.model)
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
	distance, known, err = r.Expected.Distance(member, founder)
	if err == nil && !known {
		r.Unmeasured++
	}
	return distance, known, err
}

// Run replays a space, with its labels, which are nil where there are none.
func Run(ctx context.Context, a *Audit, s *Space, l *labels.Space) error {
	return newReplay(a, s, l).run(ctx)
}

func (r *replay) run(ctx context.Context) error {
	r.checkOffsets()
	r.checkSettings()
	results, clusters := r.space.Results.Reader(), r.space.Clusters.Reader()
	end, tail := r.space.Results.End(), false
	for position := int64(0); position < end || position < r.space.Required; position++ {
		if position%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.Advance(min(4096, end-position))
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
			if err := r.take(position, row, recorded, hasRecord); err != nil {
				return err
			}
		case ok:
			r.Counts.Later++
		case position >= r.space.Required:
			// A part of a transaction that was not over when the cut was made: not all that it wrote is
			// below the ends of the topics.
			tail = true
		case r.Complete:
			r.Order.Violate(
				fmt.Sprintf("%s, position %d", r.Cut.Results.Topic, position), "a result", "none",
			)
			if hasRecord {
				r.Clusters.Violate(recorded.At.In(r.Cut.Clusters.Topic),
					fmt.Sprintf("a result at position %d", position), "none")
			}
		}
	}
	if err := r.checkRestUnclustered(); err != nil {
		return err
	}
	if !r.Complete {
		return nil
	}
	r.checkStreamTime()
	if r.labels != nil {
		if err := r.labels.End(); err != nil {
			return err
		}
	}
	r.finish()
	return nil
}

// take feeds the model with the article at a position, and holds the result and the record of the
// cluster, if there is one, to what comes out.
func (r *replay) take(position int64, row ResultRow, recorded ClusterRow, hasRecord bool) error {
	if err := r.checkOrder(position, row); err != nil || !r.Complete {
		return err
	}
	r.checkPosition(position, &row)
	if err := r.advanceLabels(position, row); err != nil {
		return err
	}
	// A label that was taken off between two articles ends a cluster then: its tombstone is not later
	// than the first of them, and the label record is applied before the second.
	r.checkTombstones(position - 1)
	cluster, err := r.assign(position, row)
	if err == nil && hasRecord {
		err = r.checkRecords(position, cluster, recorded)
	}
	return err
}

// advanceLabels applies what was applied before the article at a position, and holds its result to
// that.
func (r *replay) advanceLabels(position int64, row ResultRow) error {
	if r.labels == nil {
		return nil
	}
	if err := r.labels.Advance(position); err != nil {
		return err
	}
	shown := row.Shown
	shown.Print, shown.Size = row.Article.Fingerprint.Hash, 1
	if number, ok := r.model.Number(row.Article.Cluster); ok {
		shown.Size = r.model.Cluster(number).Size + 1
	}
	if row.Article.Cluster == row.Article.Source {
		if err := r.labels.Found(position, &row.Article, row.Earlier); err != nil {
			return err
		}
	}
	return r.labels.Result(position, row.Article.Cluster, shown, row.At.In(r.Cut.Results.Topic))
}

// An outcome is what becomes of an article.
type outcome struct {
	cluster        wire.Address // the founder
	distance       float64
	joined         bool
	matched        Match
	contact        uint64 // a digest
	size           int64
	representative uint64
}

// assign feeds the model with an article, and holds its result to what comes out. It returns the
// number of the cluster.
func (r *replay) assign(position int64, row ResultRow) (number int, err error) {
	r.Rule.Checked++
	r.next = position + 1
	article, at := row.Article, row.At.In(r.Cut.Results.Topic)
	if now := max(0, r.model.StreamTime(article.Space)); row.Timeless && article.EventTime != now {
		r.Input.Violate(at, "the stream time "+report.Clock(now)+
			" as the event time, since nothing else is known", report.Clock(article.EventTime))
	}
	r.labels.Outlives(&article)
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
	if row.Representative == 0 {
		want.representative = 0
	} else if p.Joined {
		r.erase(&want.representative, row.Representative, p.Cluster)
	}
	mayJoin, err := r.mayJoin(article.Fingerprint, c.Fingerprint, p)
	if err != nil {
		return 0, err
	}
	switch {
	case !mayJoin:
		r.Rule.Violate(at,
			fmt.Sprintf("at most %v from the founder %s%s", r.Expected.Threshold(),
				c.Founder.In(r.Cut.Input.Topic), r.ofLong()),
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
		r.Rule.Violate(at, expected, found)
	}
	if !p.Joined {
		r.labels.Believe(c)
		r.records = append(r.records, clusterRecords{due: -1, last: -1, earlier: row.Earlier})
		if _, ok := r.expired[c.Founder]; ok {
			r.expired[c.Founder] = p.Cluster
		}
	}
	r.checkSignals(row, c)
	if article.Source.Offset < r.Cut.Committed[article.Source.Partition] {
		r.records[p.Cluster].due = position
	}
	return p.Cluster, nil
}

// matched returns how a result must say that its article joined.
func (r *replay) matched(p model.Placement) Match {
	switch {
	case !p.Joined || !r.Config.Explains():
		return unexplained
	case p.Contact != 0:
		return byContact
	case p.Distance > r.Expected.Threshold():
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
	same, known, err := r.Expected.Same(member, founder)
	if known || err != nil {
		return same, err
	}
	return p.Distance <= r.Expected.Threshold() || r.Config.Contains(), nil
}

// ofLong says what is asked of long texts beside the threshold.
func (r *replay) ofLong() string {
	least := r.Config.Cluster.LongSimilarity
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
	how := map[Match]string{
		byText: " by its text", contained: " by containment", byContact: " by a contact",
	}[o.matched]
	return fmt.Sprintf("%s %s%s: distance %v, size %d",
		status, o.cluster.In(r.Cut.Input.Topic), how, o.distance, o.size)
}
