// Package answers makes what the parts of clusterd know the messages of the HTTP interface. Calls
// of the interfaces of package v1 go in; they become those of lookup, members, tail, submit and
// reread, and their answers and errors what v1 understands.
package answers

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/serve/lookup"
)

// Spaces answers of clusters, as [v1.Spaces] says.
type Spaces struct {
	Lookup *lookup.Service
	Allow  []string // labels.allow
	Flood  float64  // labels.flood
	Hidden bool     // nothing that articles say is told
	Fresh  *Fresh
}

// Check implements [v1.Spaces].
func (s *Spaces) Check(
	ctx context.Context, texts []api.Text, o api.CheckOptions,
) ([]api.Checked, error) {
	q := lookup.Question{RunnersUp: o.RunnersUp, Partition: o.Partition, Value: o.Space}
	for _, t := range texts {
		q.Texts = append(q.Texts, lookup.Text(t))
	}
	answers, err := s.Lookup.Check(ctx, q)
	isNew := func(a lookup.Answer) bool { return a.Status == article.New }
	if err == nil && slices.ContainsFunc(answers, isNew) && s.Fresh.seen(ctx) {
		answers, err = s.Lookup.Check(ctx, q)
	}
	if err != nil {
		return nil, understood(err)
	}
	all := make([]api.Checked, len(answers))
	for i := range answers {
		all[i] = s.checked(&answers[i])
	}
	return all, nil
}

func (s *Spaces) checked(a *lookup.Answer) api.Checked {
	c := api.Checked{
		Status: a.Status, Matched: a.Matched, Labels: present(a.Carried.Labels),
		TrialLabels: present(a.Carried.Trial), LabelledBy: s.labelledBy(a.Carried.By),
		AsOf: asOf(&a.AsOf), Story: nearStory(a),
	}
	if a.Status == article.Joined {
		joined := s.cluster(&a.Cluster, &a.AsOf)
		c.Cluster, c.Distance = &joined, &a.Distance
	}
	for i := range a.RunnersUp {
		n := &a.RunnersUp[i]
		c.RunnersUp = append(c.RunnersUp,
			api.Near{Cluster: s.cluster(&n.Cluster, &a.AsOf), Distance: n.Distance})
	}
	if n := a.Suspect; n != nil {
		c.Suspect = &api.Near{Cluster: s.cluster(&n.Cluster, &a.AsOf), Distance: n.Distance}
	}
	return c
}

// Compare implements [v1.Spaces].
func (s *Spaces) Compare(ctx context.Context, a, b api.Text) (api.Comparison, error) {
	found, err := s.Lookup.Compare(ctx, lookup.Text(a), lookup.Text(b))
	if err != nil {
		return api.Comparison{}, understood(err)
	}
	c := api.Comparison{
		Threshold: found.Threshold, Same: found.Same, Fingerprints: make([]*article.Fingerprint, 2),
	}
	for i := range found.Fingerprints {
		if found.Comparable[i] {
			c.Fingerprints[i] = &found.Fingerprints[i]
		}
	}
	if found.Comparable[0] && found.Comparable[1] && !math.IsInf(found.Distance, 0) {
		c.Distance = &found.Distance
	}
	return c, nil
}

// Cluster implements [v1.Spaces].
func (s *Spaces) Cluster(ctx context.Context, id string) (api.Cluster, api.AsOf, error) {
	var c cluster.Cluster
	var at lookup.AsOf
	err := s.known(ctx, func() (err error) {
		c, at, err = s.Lookup.Cluster(ctx, id)
		return err
	}, id)
	if err != nil {
		return api.Cluster{}, api.AsOf{}, understood(err)
	}
	return s.cluster(&c, &at), asOf(&at), nil
}

// known asks about a cluster or stories, and once more if there is none of these ids and the space
// may not have taken its article in yet.
func (s *Spaces) known(ctx context.Context, ask func() error, ids ...string) error {
	return known(ctx, ask, lookup.ErrUnknown, func(ctx context.Context) error {
		for _, id := range ids {
			if err := s.Fresh.arrived(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Suspects returns the clusters without labels that are nearest to labelled ones.
func (s *Spaces) Suspects(ctx context.Context) ([]api.Suspect, error) {
	found, err := s.Lookup.Suspects(ctx)
	if err != nil {
		return nil, understood(err)
	}
	var all []api.Suspect
	for i := range found {
		one := &found[i]
		all = append(all, api.Suspect{
			Cluster: s.cluster(&one.Cluster, &one.AsOf),
			Near: api.Near{
				Cluster: s.cluster(&one.Near.Cluster, &one.AsOf), Distance: one.Near.Distance,
			},
		})
	}
	return all, nil
}

// AsOf implements [v1.Spaces].
func (s *Spaces) AsOf() []api.AsOf {
	all := []api.AsOf{}
	for _, a := range s.Lookup.AsOf() {
		all = append(all, asOf(&a))
	}
	return all
}

// cluster returns a cluster as the interface has it.
func (s *Spaces) cluster(c *cluster.Cluster, at *lookup.AsOf) api.Cluster {
	out := api.Cluster{
		ClusterID: c.ID(), Size: c.Size, Labels: s.labels(c, at), Exceptions: exceptions(c),
		Carried:   present(label.Carry(c.Labels.All(), c.Size, s.Allow).Labels),
		FirstSeen: moment(c.FirstSeen), LastSeen: moment(c.LastSeen),
		Representative: c.Representative, Fingerprint: article.Fingerprint(c.Fingerprint.Hash),
		StoryID: c.Story, StorySimilarity: c.StorySimilarity,
	}
	if s.Hidden {
		hideRepresentative(&out.Representative)
	}
	if c.Signals != "" {
		out.Signals = &api.Signals{
			Publishers: article.NewPublishers(c.Signals.Publishers()),
			Recent:     c.Signals.RecentAt(at.StreamTime),
		}
	}
	return out
}

func asOf(a *lookup.AsOf) api.AsOf {
	out := api.AsOf{
		Space: a.Space, Position: a.Position, State: a.State, Role: a.Role, Offsets: a.Offsets,
	}
	if out.State == "" { // it has just come or gone
		out.State = "recovering"
	}
	if out.Offsets == nil {
		out.Offsets = map[int]int64{}
	}
	if a.Position > 0 && a.StreamTime >= 0 {
		at := moment(a.StreamTime)
		out.StreamTime = &at
	}
	return out
}

// present returns a list that JSON has as one, also where it is empty.
func present(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// moment returns the time of so many Unix milliseconds.
func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// understood returns an error as package v1 knows it.
func understood(err error) error {
	var (
		invalid   *lookup.InvalidError
		elsewhere *lookup.ElsewhereError
	)
	switch {
	case errors.As(err, &invalid):
		return &v1.InvalidError{Field: invalid.Field, Reason: invalid.Reason}
	case errors.As(err, &elsewhere):
		return &v1.ElsewhereError{
			Space: strconv.Itoa(elsewhere.Partition), Reason: elsewhere.Error(),
		}
	case errors.Is(err, lookup.ErrUnknown):
		return v1.ErrUnknown
	case errors.Is(err, lookup.ErrNotReady):
		return v1.ErrNotReady
	}
	return err
}
