package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/state"
)

// outcome is what became of one record: a result, or a rejection.
type outcome struct {
	*fingerprinted
	result    article.Result
	position  uint64 // of an article that was clustered, in the order of the space
	eventTime int64  // of an article that was clustered, Unix milliseconds

	// What the result points to, here so that it is allocated with the outcomes of the batch.
	clusterID      string
	distance       float64
	print          article.Fingerprint
	representative article.Representative
}

// changes are what a batch does to a space: one outcome a record, and the clusters that it touched and
// that are to go because they have expired, in founding order.
type changes struct {
	outcomes   []outcome
	touched    []state.Cluster
	expired    []state.Cluster
	founded    []singlepass.Centre // among the touched, or expired since
	adjusted   adjusted
	checkpoint *article.Checkpoint // of when it is committed; nil where there is no topic to hold it
	compared   uint64              // centres with articles
	before     singlepass.State    // to undo it
}

// adjusted counts the articles of a batch that have another event time than they say, by why.
type adjusted struct {
	ahead, old int
	example    *outcome // the first
	at         int64    // its event time
}

func (a *adjusted) add(o *outcome, at int64, why singlepass.Adjustment) {
	switch why {
	case singlepass.Ahead:
		a.ahead++
	case singlepass.Old:
		a.old++
	default:
		return
	}
	if a.example == nil {
		a.example, a.at = o, at
	}
}

// space is one space of articles that are compared with one another: the rule over the centres in
// memory, and what a result needs beside it from disk. It is not safe for concurrent use.
//
// A batch is assigned, and then either applied, when it is committed, or undone.
type space struct {
	rule     *singlepass.Space
	store    *state.Store
	window   time.Duration
	identity string
	now      func() time.Time

	batch map[uint64]*member // by seq: what the batch in hand has looked at
	err   error              // of the store, while a batch is assigned
}

// member is a cluster that a batch looks at.
type member struct {
	state.Cluster
	id      string
	touched bool // an article of the batch belongs to it
}

// collected is how many expired clusters a batch takes away beside as many as it founds. Where more
// have expired at once, the next batches take them: each costs some microseconds, and no batch
// shall wait for a million.
const collected = 1000

func newSpace(index singlepass.Index, window time.Duration, identity string, store *state.Store, now func() time.Time) *space {
	s := &space{store: store, window: window, identity: identity, now: now}
	s.rule = singlepass.NewSpace(index, window, func(c singlepass.Centre) int64 { return s.cluster(c.Seq).LastSeen })
	return s
}

// cluster is a cluster that is in the index. An error of the store is kept for the end of the batch.
func (s *space) cluster(seq uint64) *member {
	if m, ok := s.batch[seq]; ok {
		return m
	}
	c, ok, err := s.store.Get(seq)
	if err == nil && !ok {
		err = fmt.Errorf("%w: cluster %d is missing", state.ErrDamaged, seq)
	}
	if err != nil && s.err == nil {
		s.err = err
	}
	m := &member{Cluster: c, id: c.Founder.String()}
	s.batch[seq] = m
	return m
}

// assign takes the articles of a batch in, in order. After an error, undo the changes.
func (s *space) assign(batch []fingerprinted) (changes, error) {
	out := changes{outcomes: make([]outcome, len(batch)), before: s.rule.State()}
	s.batch, s.err = make(map[uint64]*member), nil
	compared := s.rule.Candidates()
	for i := range batch {
		o := &out.outcomes[i]
		o.fingerprinted = &batch[i]
		switch {
		case o.rejection != nil:
		case !o.comparable:
			o.result = s.newResult(o.fingerprinted, article.Unclustered)
		default:
			s.assignOne(o, &out)
		}
	}
	out.compared = s.rule.Candidates() - compared
	if s.err == nil {
		s.divide(&out)
	}
	s.batch = nil
	return out, s.err
}

func (s *space) assignOne(o *outcome, out *changes) {
	at, why := s.eventTime(o.fingerprinted)
	out.adjusted.add(o, at, why)
	a := s.rule.Assign(o.fingerprint, at)
	status := article.Joined
	if !a.Joined {
		status = article.New
		s.batch[a.Centre.Seq] = found(o.fingerprinted, a.Centre, at)
		out.founded = append(out.founded, a.Centre)
	}
	c := s.cluster(a.Centre.Seq)
	c.touched = true
	c.Size++
	c.Position = a.Position
	c.FirstSeen, c.LastSeen = min(c.FirstSeen, at), max(c.LastSeen, at)

	o.position, o.eventTime = a.Position, at
	o.clusterID, o.distance, o.print, o.representative = c.id, a.Distance, article.Fingerprint(o.fingerprint.Hash), c.Representative
	o.result = s.newResult(o.fingerprinted, status)
	o.result.ClusterID, o.result.Distance, o.result.Fingerprint = &o.clusterID, &o.distance, &o.print
	o.result.Size, o.result.Representative = c.Size, &o.representative
}

// divide makes the clusters that the batch touched those that live on and those that have expired, and
// adds to these as many of the others that have expired as a batch may take away.
func (s *space) divide(out *changes) {
	for _, m := range s.batch {
		switch {
		case !m.touched:
		case s.done(m.Cluster):
			out.expired = append(out.expired, m.Cluster)
		default:
			out.touched = append(out.touched, m.Cluster)
		}
	}
	slices.SortFunc(out.touched, inFoundingOrder)
	defer func() { slices.SortFunc(out.expired, inFoundingOrder) }()
	before, ok := s.rule.Horizon()
	if !ok {
		return
	}
	overdue, err := s.store.Overdue(before, collected+len(out.founded))
	if err != nil {
		s.err = err
		return
	}
	for _, c := range overdue {
		// One that the batch touched is dealt with: the store does not know yet when it was last seen.
		if m := s.batch[c.Seq]; (m == nil || !m.touched) && s.done(c) {
			out.expired = append(out.expired, c)
		}
	}
}

func inFoundingOrder(a, b state.Cluster) int { return cmp.Compare(a.Seq, b.Seq) }

// done reports whether a cluster has expired and may go. That of the last article stays until the next
// one: the position from which the space goes on is recovered from it.
func (s *space) done(c state.Cluster) bool {
	return s.rule.Expired(c.LastSeen) && c.Position+1 != s.rule.State().Next
}

// apply makes the changes of a committed batch last, with up to where the clusters topic is on disk then.
func (s *space) apply(c changes, marks map[int]mark) error {
	m := s.store.Meta()
	now := s.rule.State()
	m.StreamTime, m.Next = now.StreamTime, now.Next
	if c.checkpoint != nil {
		m.Checkpoint = c.checkpoint
	}
	note(&m, c.touched, marks)
	if err := s.store.Apply(c.touched, c.expired, m); err != nil {
		return err
	}
	for _, gone := range c.expired {
		s.rule.Remove(centre(gone))
	}
	return nil
}

// undo takes a batch back that was not committed, or of which that is not known.
func (s *space) undo(c changes) {
	for _, founded := range c.founded {
		s.rule.Remove(founded)
	}
	s.rule.Resume(c.before)
}

func found(f *fingerprinted, c singlepass.Centre, at int64) *member {
	return &member{id: f.address().String(), Cluster: state.Cluster{
		Seq: c.Seq, Fingerprint: c.Hash, Sketch: c.Sketch, Founder: f.address(), FirstSeen: at, LastSeen: at, Representative: f.representative,
	}}
}

func centre(c state.Cluster) singlepass.Centre {
	return singlepass.Centre{Fingerprint: singlepass.Fingerprint{Hash: c.Fingerprint, Sketch: c.Sketch}, Seq: c.Seq}
}

func (s *space) newResult(f *fingerprinted, status article.Status) article.Result {
	r := article.Result{ArticleID: f.representative.ID, Status: status, Source: f.address(), Pipeline: s.identity}
	if !f.publishedAt.IsZero() {
		r.PublishedAt = &f.publishedAt
	}
	return r
}

// eventTime is the event time that counts for an article, and why it is another than it says.
func (s *space) eventTime(f *fingerprinted) (at int64, a singlepass.Adjustment) {
	return singlepass.Dates{
		Published: f.publishedAt, Recorded: f.record.Time, StreamTime: s.rule.State().StreamTime, Now: s.now(), Window: s.window,
	}.EventTime()
}
