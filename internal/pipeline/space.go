package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// cluster is what is known of a live cluster.
type cluster struct {
	article.Cluster
	founder  article.Address
	position uint64 // of its last member, in the order of the space
}

// outcome is what became of one record: a result, or a rejection.
type outcome struct {
	*fingerprinted
	result   article.Result
	position uint64 // of an article that was clustered, in the order of the space
}

// changes are what a batch did: one outcome a record, and the clusters that it touched and that
// expired, in founding order.
type changes struct {
	outcomes []outcome
	touched  []cluster
	expired  []cluster
}

// space is one space of articles that are compared with one another: the rule, and what a result
// needs beside it. It is not safe for concurrent use.
type space struct {
	rule     *singlepass.Space
	clusters map[uint64]*cluster // by seq
	latest   int64               // the highest event time, Unix milliseconds
	identity string
	now      func() time.Time
}

// maxAhead is how far event times may run ahead of the wall clock. Beyond it they are cut: one
// article from the year 2262 must not make every other one old.
const maxAhead = 24 * time.Hour

func newSpace(index string, distance int, window time.Duration, identity string, now func() time.Time) (*space, error) {
	i, err := singlepass.NewIndex(index, distance)
	if err != nil {
		return nil, err
	}
	return &space{
		rule: singlepass.NewSpace(i, window), clusters: make(map[uint64]*cluster), identity: identity, now: now,
	}, nil
}

// restore puts back a live cluster when state is recovered.
func (s *space) restore(c cluster) error {
	if other, ok := s.clusters[c.Seq]; ok {
		return fmt.Errorf("clusters %s and %s have the same founding order %d: they were made with cluster.scope: partition; "+
			"set it so, or start anew with another input.group and another output.clusters_topic", other.ClusterID, c.ClusterID, c.Seq)
	}
	lastSeen := c.LastSeen.UnixMilli()
	s.rule.Restore(singlepass.Centre{Fingerprint: uint64(c.Fingerprint), Seq: c.Seq}, lastSeen, c.position)
	s.clusters[c.Seq] = &c
	s.latest = max(s.latest, lastSeen)
	return nil
}

// assign takes the articles of a batch in, in order.
func (s *space) assign(batch []fingerprinted) changes {
	out := changes{outcomes: make([]outcome, 0, len(batch))}
	touched, expired := make(map[uint64]cluster), make(map[uint64]cluster)
	for i := range batch {
		o := outcome{fingerprinted: &batch[i]}
		switch {
		case o.rejection != nil:
		case !o.hasTokens:
			o.result = s.newResult(o.fingerprinted, article.Unclustered)
		default:
			s.assignOne(&o, touched, expired)
		}
		out.outcomes = append(out.outcomes, o)
	}
	out.touched, out.expired = inOrder(touched), inOrder(expired)
	return out
}

func (s *space) assignOne(o *outcome, touched, expired map[uint64]cluster) {
	at := s.eventTime(o.fingerprinted)
	a, gone := s.rule.Assign(o.fingerprint, at)
	for _, centre := range gone {
		expired[centre.Seq] = *s.clusters[centre.Seq]
		delete(s.clusters, centre.Seq)
		delete(touched, centre.Seq)
	}
	status := article.New
	if a.Joined {
		status = article.Joined
	} else {
		s.clusters[a.Centre.Seq] = s.found(o.fingerprinted, a.Centre, at)
	}
	c := s.clusters[a.Centre.Seq]
	c.Size++
	c.position = a.Position
	if seen := time.UnixMilli(at).UTC(); seen.After(c.LastSeen) {
		c.LastSeen = seen
	} else if seen.Before(c.FirstSeen) {
		c.FirstSeen = seen
	}
	touched[c.Seq] = *c

	o.position = a.Position
	o.result = s.newResult(o.fingerprinted, status)
	id, distance, fingerprint := c.ClusterID, a.Distance, article.Fingerprint(o.fingerprint)
	o.result.ClusterID, o.result.Distance, o.result.Fingerprint = &id, &distance, &fingerprint
	o.result.Size, o.result.Representative = c.Size, &c.Representative
}

func (s *space) found(f *fingerprinted, centre singlepass.Centre, at int64) *cluster {
	seen := time.UnixMilli(at).UTC()
	return &cluster{founder: f.address(), Cluster: article.Cluster{
		ClusterID: f.address().String(), Seq: centre.Seq, Fingerprint: article.Fingerprint(centre.Fingerprint),
		FirstSeen: seen, LastSeen: seen, Representative: f.representative, Pipeline: s.identity,
	}}
}

func (s *space) newResult(f *fingerprinted, status article.Status) article.Result {
	r := article.Result{ArticleID: f.representative.ID, Status: status, Source: f.address(), Pipeline: s.identity}
	if !f.publishedAt.IsZero() {
		r.PublishedAt = &f.publishedAt
	}
	return r
}

// eventTime is when the article was published, else its record's timestamp, else the latest event
// time so far; never before 1970, never more than maxAhead from now.
func (s *space) eventTime(f *fingerprinted) int64 {
	at := s.latest
	switch {
	case !f.publishedAt.IsZero():
		at = f.publishedAt.UnixMilli()
	case f.record.Time.UnixMilli() > 0:
		at = f.record.Time.UnixMilli()
	}
	at = max(0, min(at, s.now().Add(maxAhead).UnixMilli()))
	s.latest = max(s.latest, at)
	return at
}

func inOrder(clusters map[uint64]cluster) []cluster {
	return slices.SortedFunc(maps.Values(clusters), func(a, b cluster) int { return cmp.Compare(a.Seq, b.Seq) })
}
