package space

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/state"
)

// A Question is an article that nobody stores.
type Question struct {
	Fingerprint singlepass.Fingerprint
	PublishedAt time.Time // zero where it does not say
	RunnersUp   int       // how many clusters to name beside the one that it would join
}

// An Answer says what would become of an article that came next.
type Answer struct {
	Status    article.Status
	Neighbour               // what it would join; nothing of a new cluster
	Matched   article.Match // how it would join; empty of a new cluster
	Carried   label.Carried // by its result
	RunnersUp []Neighbour   // the next ones within the threshold, the nearest first
	// Suspect is the nearest cluster that has labels, however far it is; nil where that is the one
	// that it would join, or none is known.
	Suspect   *Neighbour
	EventTime int64 // that counts, in Unix milliseconds
	AsOf      AsOf
}

// A Neighbour is a cluster, and how far an article is from its centre, in the method's measure.
type Neighbour struct {
	cluster.Cluster
	Distance float64
}

// Has reports whether there was a committed article of a value. It may be called by any goroutine.
func (s *Space) Has(value string) bool { return s.rule.CommittedStreamTime(value) != math.MinInt64 }

// Check says what [Space.Assign] would make of an article that was written now, behind the last
// committed batch, whatever is in hand meanwhile. It stores nothing.
func (s *Space) Check(ctx context.Context, q Question) (Answer, error) {
	c := checking{Space: s, Question: q}
	found, err := s.rule.Find(ctx, singlepass.Query{
		Fingerprint: q.Fingerprint, Others: q.RunnersUp, Begin: c.begin,
	})
	if c.view != nil {
		defer c.view.Release()
	}
	if err == nil {
		err = c.err
	}
	if err != nil {
		return Answer{}, err
	}
	return c.answer(found)
}

// Unclustered says what [Space.Check] would of an article in which there is nothing to compare.
func (s *Space) Unclustered() (Answer, error) {
	v, err := s.View()
	if err != nil {
		return Answer{}, err
	}
	defer v.Release()
	return Answer{Status: article.Unclustered, AsOf: v.AsOf()}, nil
}

// maxCompared is how many bytes of fingerprints a check compares to find a suspect: about a
// millisecond. The clusters that were founded last come first.
const maxCompared = 1 << 20

// suspect returns the nearest cluster that has labels, among equals the oldest.
func (c *checking) suspect(joined *singlepass.Assignment) (*Neighbour, error) {
	labelled := c.view.Labelled()
	if c.options.Distance == nil || len(labelled) == 0 {
		return nil, nil
	}
	var failed error
	best := singlepass.NewNearest(math.Inf(1), func(centre singlepass.Centre) bool {
		k, ok, err := c.view.Get(centre.Seq)
		failed = errors.Join(failed, err)
		return ok && k.Labels != ""
	})
	compared, own := 0, 8+len(c.Fingerprint.Sketch)
	for _, centre := range slices.Backward(labelled) {
		if centre.Space != c.Fingerprint.Space {
			continue
		}
		if compared += own + 8 + len(centre.Sketch); compared > maxCompared {
			break
		}
		d := c.options.Distance(c.Fingerprint, centre.Fingerprint)
		if !math.IsInf(d, 1) {
			best.Offer(centre, centre.Seq, d)
		}
	}
	centre, distance, ok := best.Result()
	if failed != nil || !ok || joined.Joined && centre.Seq == joined.Centre.Seq {
		return nil, failed
	}
	k, _, err := c.view.Get(centre.Seq)
	return &Neighbour{k, distance}, err
}

// checking is a check at work.
type checking struct {
	*Space
	Question
	view *View
	at   int64
	err  error
}

// begin takes the view of the last commit.
func (c *checking) begin(now singlepass.State) (
	at int64, lastSeen func(uint64) (int64, bool),
) {
	if c.view != nil {
		c.view.Release()
	}
	clock := c.now()
	c.at, _ = singlepass.Dates{
		Published: c.PublishedAt, Recorded: clock, StreamTime: now.StreamTime, Now: clock,
		Window: c.options.Window,
	}.EventTime()
	c.view, c.err = c.views.acquire()
	return c.at, c.lastSeen
}

func (c *checking) lastSeen(seq uint64) (at int64, ok bool) {
	if c.err != nil {
		return 0, false
	}
	k, ok, err := c.view.snapshot.Get(seq)
	c.err = err
	return k.SeenAs(), ok
}

func (c *checking) answer(found []singlepass.Assignment) (Answer, error) {
	first := &found[0]
	a := Answer{Status: article.New, EventTime: c.at, AsOf: c.view.AsOf()}
	var err error
	if a.Suspect, err = c.suspect(first); err != nil {
		return a, err
	}
	if !first.Joined {
		a.Carried, err = c.inherited()
		return a, err
	}
	all := make([]Neighbour, len(found))
	for i := range found {
		var ok bool
		var err error
		all[i].Distance = found[i].Distance
		if all[i].Cluster, ok, err = c.view.snapshot.Get(found[i].Centre.Seq); err == nil && !ok {
			err = fmt.Errorf("%w: cluster %d is missing", state.ErrDamaged, found[i].Centre.Seq)
		}
		if err != nil {
			return Answer{}, err
		}
	}
	a.Status, a.Neighbour, a.RunnersUp = article.Joined, all[0], all[1:]
	a.Matched = c.options.match(first)
	a.Carried = label.Carry(labelsOfArticle(&a.Cluster, c.Fingerprint.Hash), a.Size+1,
		c.options.Labels.Allow)
	return a, nil
}

// inherited returns what the result of a new cluster would carry, by its contacts.
func (c *checking) inherited() (label.Carried, error) {
	if !c.options.Marks {
		return label.Carried{}, nil
	}
	var labels label.Set
	for name := range c.Fingerprint.Contacts.All() {
		k, _, err := c.view.snapshot.Contact(c.Fingerprint.Space, name)
		if err != nil {
			return label.Carried{}, err
		}
		for _, m := range k.Marks {
			_, live, err := c.view.Get(m.Last)
			if err != nil {
				return label.Carried{}, err
			}
			if _, has := labels.Get(m.Name, m.Trial); has || !live || !m.MayLabel(name) {
				continue
			}
			if set, err := labels.With(m.Use(name, 0, 0)); err == nil {
				labels = set
			}
		}
	}
	return label.Carry(labels.All(), 1, c.options.Labels.Allow), nil
}
