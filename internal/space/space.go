// Package space assigns articles to the clusters of one space: articles that are compared with one
// another. Fingerprinted articles go in, in order and in batches; out comes a [Batch] of what
// became of them and of which clusters that changes. The caller makes it last somewhere else, and
// then commits it here, or rolls it back. The package knows neither Kafka nor files.
package space

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/signals"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
)

// A Space is the rule over the centres in memory, and the clusters of these on disk. Its methods
// are not safe for concurrent use, but that any number of goroutines may call [Space.Check] and
// [Space.View] beside the one that calls the others.
type Space struct {
	rule    *singlepass.Space
	store   *state.Store
	options Options
	now     func() time.Time
	loaded  bool // the index holds what is on disk

	parts    []part // all that runs ahead of the store
	members  clusters
	contacts contacts
	guards   guards
	stories  *stories // nil where they are off
	err      error    // of the store, while a batch is assigned

	views views
	watch func(Changes) // nil: nobody does
	// settled is as of when readers see what comes from elsewhere, nil for as of when it comes
	settled *checkpoint.Record
}

// Options say by which rule a space assigns, and what its results say of that.
type Options struct {
	singlepass.Rule
	// Explained is whether results say how an article matched its cluster.
	Explained bool
	// Threshold is the largest distance at which texts are the same. Beyond it, one contains the
	// other.
	Threshold float64
	// Distance is that of the method; nil: no check says which labelled cluster is nearest.
	Distance func(a, b singlepass.Fingerprint) float64
	// Signals is the rule by which clusters tell of their articles; by the zero Rule they do not.
	Signals signals.Rule
	Labels  Labels
	// Marks is whether labels mark contacts.
	Marks   bool
	Stories Stories
}

// OptionsOf returns those of a configuration, with the threshold of its method.
func OptionsOf(c config.Config, threshold float64) Options {
	o := Options{
		Rule: c.Rule(), Explained: c.Explains(), Threshold: threshold, Labels: labelsOf(&c),
		Marks:   c.Contacts.Join,
		Stories: Stories{On: c.Stories.Topic != "", Rule: c.Stories.Rule()},
	}
	if c.Signals.Enabled {
		o.Signals = signals.NewRule(c.Signals.Window)
	}
	return o
}

// New returns a Space of the clusters in the store, which it owns from now on. The index is empty:
// unless the store is, too, the Space has to [Space.Load] before it assigns. now is the clock that
// event times are held to.
func New(index singlepass.Index, store *state.Store, o Options, now func() time.Time) *Space {
	s := &Space{store: store, options: o, now: now}
	s.rule = singlepass.NewSpace(index, o.Rule, func(seq uint64) int64 {
		return s.member(seq).SeenAs()
	})
	s.join()
	return s
}

// Load fills the index from the store. It is not cut short when ctx ends, since whoever comes next
// would have to start over. After an error the index is half full, and the Space has to be closed.
func (s *Space) Load(ctx context.Context, check func(singlepass.Fingerprint) error) error {
	var failed error
	reached := make(map[string]int64)
	s.rule.BulkLoad(s.store.Len(), func(yield func(singlepass.Centre, int64) bool) {
		each := func(c singlepass.Centre, lastSeen int64) error {
			if err := check(c.Fingerprint); err != nil {
				return fmt.Errorf("%w: cluster %d: %w", state.ErrDamaged, c.Seq, err)
			}
			yield(c, lastSeen)
			return nil
		}
		if !s.options.Divided {
			failed = s.store.Centres(context.WithoutCancel(ctx), each)
			return
		}
		failed = s.store.Clusters(context.WithoutCancel(ctx), func(c *cluster.Cluster) error {
			reach(reached, c)
			return each(c.Centre, c.SeenAs())
		})
	})
	if failed != nil {
		return failed
	}
	s.rule.Reach(reached)
	for _, p := range s.parts {
		if err := p.load(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	s.loaded = true
	s.publish(singlepass.Commit{})
	s.scrub()
	return nil
}

// reach notes that the value of a cluster has been seen when the cluster was.
func reach(reached map[string]int64, c *cluster.Cluster) {
	if at, ok := reached[c.Space]; !ok || at < c.LastSeen {
		reached[c.Space] = c.LastSeen
	}
}

// Loaded reports whether the index holds what is in the store.
func (s *Space) Loaded() bool { return s.loaded }

// State returns where the rule is: after a batch in hand, until that is rolled back.
func (s *Space) State() singlepass.State { return s.rule.State() }

// Meta returns what the store knows beside clusters.
func (s *Space) Meta() state.Meta { return s.store.Meta() }

// Len returns the number of clusters, with those that have expired and were not removed yet.
func (s *Space) Len() int { return s.rule.Len() }

// Get returns the committed cluster of this seq, and whether there is one.
func (s *Space) Get(seq uint64) (cluster.Cluster, bool, error) { return s.store.Get(seq) }

// Find returns the committed cluster of this founder, and whether there is one.
func (s *Space) Find(founder article.Address) (cluster.Cluster, bool, error) {
	return s.store.Find(founder)
}

// CopyTo makes dir a store of what this space has stored, as [state.Store.CopyTo] does.
func (s *Space) CopyTo(dir string) (state.Copy, error) { return s.store.CopyTo(dir) }

// Close waits until all views are released and closes the store.
func (s *Space) Close() error { return errors.Join(s.views.close(), s.store.Close()) }

// Assign assigns the articles of a batch, in order, which must stay as they are. Of these, n is
// about how many. After an error, roll the batch back.
func (s *Space) Assign(articles iter.Seq[*fingerprint.Article], n int) (Batch, error) {
	return s.assignAll(s.newBatch(n), articles)
}

// newBatch begins a batch of about n articles.
func (s *Space) newBatch(n int) Batch {
	s.err = nil
	for _, p := range s.parts {
		p.begin()
	}
	return Batch{Assignments: make([]Assignment, 0, n), before: s.rule.State()}
}

func (s *Space) assignAll(out Batch, articles iter.Seq[*fingerprint.Article]) (Batch, error) {
	compared := s.rule.Candidates()
	for a := range articles {
		if a.Comparable {
			out.Assignments = append(out.Assignments, s.assign(a, &out))
		} else {
			s.stories.note(nil)
			out.Assignments = append(out.Assignments, s.unclustered(a))
		}
	}
	out.Candidates = s.rule.Candidates() - compared
	for _, p := range s.parts {
		p.seal(&out)
	}
	return out, s.err
}

// assign decides the cluster of an article.
func (s *Space) assign(a *fingerprint.Article, out *Batch) Assignment {
	at, why := s.eventTime(a)
	decision := s.rule.Assign(a.Fingerprint, at)
	if !decision.Joined {
		s.members.inHand()[decision.Centre.Seq] = found(a, decision.Centre, at)
		out.founded = append(out.founded, decision.Centre)
	}
	m := s.member(decision.Centre.Seq)
	m.touched = true
	if decision.Joined {
		m.joined++
	}
	before := m.SeenAs()
	m.Join(decision.Position, at)
	if m.Kept != 0 {
		s.rule.Seen(m.Seq, before, m.SeenAs())
	}
	m.Signals = s.options.Signals.Add(m.Signals, s.rule.StreamTime(m.Space), at, a.Publisher)
	if !decision.Joined {
		s.inherit(m)
	}
	s.stories.note(m)
	assigned := clustered(a, m, decision, at)
	assigned.Matched = s.options.matched(&decision)
	assigned.Carried = s.carry(m, a, decision.Position)
	out.Adjusted.add(&assigned, why)
	return assigned
}

// found returns the cluster that an article founds, without a member yet.
func found(a *fingerprint.Article, centre singlepass.Centre, at int64) *member {
	return &member{id: a.Source.String(), Cluster: cluster.Cluster{
		Centre: centre, Founder: a.Source, FirstSeen: at, LastSeen: at, Representative: a.Representative,
	}}
}

// eventTime returns the event time that counts for an article, and why it is another than it says.
func (s *Space) eventTime(a *fingerprint.Article) (at int64, why singlepass.Adjustment) {
	return singlepass.Dates{
		Published: a.PublishedAt, Recorded: a.RecordedAt, Now: s.now(), Window: s.options.Window,
		StreamTime: s.rule.StreamTime(a.Fingerprint.Space),
	}.EventTime()
}

// maxCollected is how many expired clusters a batch removes beside as many as it founds. Where more
// have expired at once, the next batches remove them: each costs some microseconds, and no batch
// shall wait for a million.
const maxCollected = 1000

// partition divides the clusters that the batch touched into those that live on and those that have
// expired, and adds to these as many of the others that have expired as a batch may remove.
func (s *Space) partition(out *Batch) {
	batch := s.members.inHand()
	touched := make([]*member, 0, len(batch))
	for _, m := range batch {
		switch {
		case !m.touched:
		case s.removable(&m.Cluster):
			m.expired = true
			s.forget(&m.Cluster)
			out.Expired = append(out.Expired, m.Cluster)
		default:
			touched = append(touched, m)
		}
	}
	slices.SortFunc(touched, func(a, b *member) int { return cmp.Compare(a.Seq, b.Seq) })
	out.Touched, out.joined = make([]cluster.Cluster, len(touched)), make([]int, len(touched))
	for i, m := range touched {
		out.Touched[i], out.joined[i] = m.Cluster, m.joined
	}
	defer func() { slices.SortFunc(out.Expired, cluster.ByAge) }()
	limit := maxCollected + len(out.founded)
	for _, value := range s.values(out) {
		before, ok := s.rule.Horizon(value)
		if !ok || limit <= 0 {
			return
		}
		overdue, err := s.store.Overdue(value, before, limit)
		if err != nil {
			s.err = err
			return
		}
		limit -= len(overdue)
		s.collect(overdue, out)
	}
}

// values returns the values whose clusters may have expired since the last batch, each once: those
// of the articles of the batch. A space that is not divided has one, which is empty.
func (s *Space) values(out *Batch) []string {
	if !s.options.Divided {
		return []string{""}
	}
	var values []string
	seen := make(map[string]struct{})
	for i := range out.Assignments {
		a := &out.Assignments[i]
		if _, ok := seen[a.Fingerprint.Space]; !ok && a.Status != article.Unclustered {
			seen[a.Fingerprint.Space] = struct{}{}
			values = append(values, a.Fingerprint.Space)
		}
	}
	return values
}

// collect adds clusters that are overdue to those that are removed.
func (s *Space) collect(overdue []cluster.Cluster, out *Batch) {
	for _, c := range overdue {
		// One that was touched is dealt with, or will be: the store does not know yet when it was last
		// seen.
		if !s.changed(c.Seq) && s.removable(&c) {
			s.members.inHand()[c.Seq] = &member{Cluster: c, expired: true}
			s.forget(&c)
			out.Expired = append(out.Expired, c)
		}
	}
}

// removable reports whether a cluster has expired and may go. That of the last article stays until
// the next one: the position from which the space goes on is recovered from it.
func (s *Space) removable(c *cluster.Cluster) bool {
	return s.rule.Expired(c.Space, c.SeenAs()) && c.Position+1 != s.rule.State().Next
}
