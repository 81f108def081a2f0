package lookup

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// Check answers what would become of each text if it came next, in their order. Each answer is as
// of a position of its own; the first is the oldest.
func (s *Service) Check(
	ctx context.Context, texts []api.Text, o api.CheckOptions,
) ([]api.Checked, error) {
	answers, err := s.checkAll(ctx, texts, &o)
	isNew := func(c api.Checked) bool { return c.Status == article.New }
	if err == nil && slices.ContainsFunc(answers, isNew) && s.awaitTold(ctx) {
		return s.checkAll(ctx, texts, &o)
	}
	return answers, err
}

func (s *Service) checkAll(
	ctx context.Context, texts []api.Text, o *api.CheckOptions,
) ([]api.Checked, error) {
	if err := s.validate(o); err != nil {
		return nil, err
	}
	of, err := s.asked(o.Partition, o.Space)
	if err != nil {
		return nil, err
	}
	answers := make([]api.Checked, len(texts))
	for i := range texts {
		if answers[i], err = s.check(ctx, of, &texts[i], o); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// asked returns the space of a partition. Without one, it is the space that has the value.
func (s *Service) asked(partition *int, value *string) (*asked, error) {
	switch {
	case partition != nil:
		return s.of(*partition)
	case value == nil:
		return s.of(0)
	}
	var have []*asked
	for _, a := range s.all() {
		if a.Has(*value) {
			have = append(have, a)
		}
	}
	if len(have) == 1 {
		return have[0], nil
	}
	if len(s.all()) == 0 {
		return nil, api.ErrNotReady
	}
	where := "no partition of the input that this instance has is known to have"
	if len(have) > 1 {
		where = "several partitions of the input have"
	}
	return nil, api.Invalid("partition", "%s the space %.80q: say to which one the article would go",
		where, *value)
}

// validate refuses what does not fit cluster.scope.
func (s *Service) validate(o *api.CheckOptions) error {
	c := &s.options.Config.Cluster
	switch {
	case s.byField() && o.Space == nil:
		return api.Invalid("space", "say of which space the article would be: with cluster.scope: "+
			"field each value of %s has clusters of its own; empty is that of articles without one",
			c.ScopeField)
	case !s.byField() && o.Space != nil:
		return api.Invalid("space", "there are no spaces by a field: cluster.scope is %s", c.Scope)
	case o.Space != nil && len(*o.Space) > article.MaxSpaceBytes:
		return api.Invalid("space", "it has %d bytes; at most %d are possible", len(*o.Space),
			article.MaxSpaceBytes)
	case o.Partition == nil && c.Scope == config.ByPartition:
		return api.Invalid("partition", "say to which partition of the input the article would go: "+
			"with cluster.scope: partition each has clusters of its own")
	}
	return nil
}

func (s *Service) check(
	ctx context.Context, of *asked, t *api.Text, o *api.CheckOptions,
) (api.Checked, error) {
	f, err := s.fingerprint(ctx, t)
	if err != nil {
		return api.Checked{}, err
	}
	if o.Space != nil {
		f.Fingerprint.Space = *o.Space
	}
	var a space.Answer
	if f.Comparable {
		a, err = of.Check(ctx, space.Question{
			Fingerprint: f.Fingerprint, PublishedAt: t.PublishedAt, RunnersUp: o.RunnersUp,
		})
	} else {
		a, err = of.Unclustered()
	}
	if err != nil {
		return api.Checked{}, notReady(err)
	}
	c := s.checked(of, &a)
	if a.Status == article.New {
		if d, joins := of.CheckStory(&f); joins {
			c.Story = &api.NearStory{StoryID: d.Story, Similarity: article.Similarity(d.Similarity)}
		}
	}
	return c, nil
}

func (s *Service) checked(of *asked, a *space.Answer) api.Checked {
	near := func(n *space.Neighbour) api.Near {
		return api.Near{
			Cluster: s.cluster(&n.Cluster, of.name, a.AsOf.StreamTime), Distance: n.Distance,
		}
	}
	c := api.Checked{
		Status: a.Status, Matched: a.Matched, Labels: present(a.Carried.Labels),
		TrialLabels: present(a.Carried.Trial), LabelledBy: s.labelledBy(a.Carried.By),
		AsOf: s.asOf(of.name, a.AsOf),
	}
	if a.Status == article.Joined {
		joined := near(&a.Neighbour)
		c.Cluster, c.Distance = &joined.Cluster, &joined.Distance
	}
	for i := range a.RunnersUp {
		c.RunnersUp = append(c.RunnersUp, near(&a.RunnersUp[i]))
	}
	if a.Suspect != nil {
		suspect := near(a.Suspect)
		c.Suspect = &suspect
	}
	return c
}

// notReady returns [api.ErrNotReady] for the error of a space that was closed meanwhile.
func notReady(err error) error {
	if errors.Is(err, space.ErrNoView) {
		return api.ErrNotReady
	}
	return err
}

// fingerprint fingerprints a text when it is its turn.
func (s *Service) fingerprint(ctx context.Context, t *api.Text) (f fingerprint.Article, err error) {
	if n, most := len(t.Title)+len(t.Content), s.options.Config.Input.MaxBytes; n > most {
		return f, api.Invalid("content", "the text has %d bytes, and an article has at "+
			"most input.max_bytes, %d", n, most)
	}
	by, err := s.method()
	if err != nil {
		return f, err
	}
	select {
	case s.turns <- struct{}{}:
	case <-ctx.Done():
		return f, context.Cause(ctx)
	}
	defer func() { <-s.turns }()
	return by.One(article.Article{
		Title: t.Title, Content: t.Content, PublishedAt: t.PublishedAt,
	}), nil
}

// Compare says whether the method takes two texts as the same.
func (s *Service) Compare(ctx context.Context, a, b api.Text) (api.Comparison, error) {
	by, err := s.method()
	if err != nil {
		return api.Comparison{}, err
	}
	c := api.Comparison{Threshold: by.Threshold(), Fingerprints: make([]*article.Fingerprint, 2)}
	var made [2]fingerprint.Article
	for i, t := range []*api.Text{&a, &b} {
		if made[i], err = s.fingerprint(ctx, t); err != nil {
			return api.Comparison{}, err
		}
		if made[i].Comparable {
			hash := article.Fingerprint(made[i].Fingerprint.Hash)
			c.Fingerprints[i] = &hash
		}
	}
	if made[0].Comparable && made[1].Comparable {
		x, y := made[0].Fingerprint, made[1].Fingerprint
		c.Same = method.Same(by.Method, x, y)
		if d := by.Distance(x, y); !math.IsInf(d, 0) {
			c.Distance = &d
		}
	}
	return c, nil
}
