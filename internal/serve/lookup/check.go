package lookup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

const (
	// MaxTexts is how many texts a question may have.
	MaxTexts = 100
	// MaxRunnersUp is how many further clusters it may ask for.
	MaxRunnersUp = 10
)

// A Question is some texts of which one wants to know what they would join.
type Question struct {
	Texts     []Text
	RunnersUp int     // how many clusters to name beside that
	Partition *int    // of the input; nil where all of it is one space, or Value says where
	Value     *string // of cluster.scope_field; nil where articles are not divided by one
}

// A Text is an article that nobody stores.
type Text struct {
	Title, Content string
	PublishedAt    time.Time // zero where it does not say
}

// An Answer says what would become of a text that came next.
type Answer struct {
	space.Answer
	AsOf AsOf
	// Story is the one that a new cluster would join, empty for none. It is as of the batch in hand.
	Story           string
	StorySimilarity uint32 // in millionths
}

// Check returns an answer for each text, in order. Each is as of a position of its own; the first
// is the oldest.
func (s *Service) Check(ctx context.Context, q Question) ([]Answer, error) {
	if err := q.check(&s.options.Config.Cluster); err != nil {
		return nil, err
	}
	of, err := s.asked(&q)
	if err != nil {
		return nil, err
	}
	answers := make([]Answer, len(q.Texts))
	for i := range q.Texts {
		if answers[i], err = s.check(ctx, of, &q.Texts[i], &q); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// asked returns the space that a question is about. Without a partition, it is the one that has the
// value.
func (s *Service) asked(q *Question) (*asked, error) {
	switch {
	case q.Partition != nil:
		return s.of(*q.Partition)
	case q.Value == nil:
		return s.of(0)
	}
	var have []*asked
	for _, a := range s.all() {
		if a.Has(*q.Value) {
			have = append(have, a)
		}
	}
	if len(have) == 1 {
		return have[0], nil
	}
	if len(s.all()) == 0 {
		return nil, ErrNotReady
	}
	where := "no partition of the input that this instance has is known to have"
	if len(have) > 1 {
		where = "several partitions of the input have"
	}
	return nil, &InvalidError{"partition", fmt.Sprintf("%s the space %.80q: say to which one the "+
		"article would go", where, *q.Value)}
}

func (q *Question) check(c *config.Cluster) error {
	byField := c.Scope == config.ByField
	switch {
	case len(q.Texts) == 0 || len(q.Texts) > MaxTexts:
		return &InvalidError{"articles", fmt.Sprintf("there are %d texts; 1 to %d are possible",
			len(q.Texts), MaxTexts)}
	case q.RunnersUp < 0 || q.RunnersUp > MaxRunnersUp:
		return &InvalidError{"runners_up", fmt.Sprintf("%d are asked for; 0 to %d are possible",
			q.RunnersUp, MaxRunnersUp)}
	case byField && q.Value == nil:
		return &InvalidError{"space", "say of which space the article would be: with cluster.scope: " +
			"field each value of " + c.ScopeField + " has clusters of its own; empty is that of articles " +
			"without one"}
	case !byField && q.Value != nil:
		return &InvalidError{"space", "there are no spaces by a field: cluster.scope is " + c.Scope}
	case q.Value != nil && len(*q.Value) > article.MaxSpaceBytes:
		return &InvalidError{"space", fmt.Sprintf("it has %d bytes; at most %d are possible",
			len(*q.Value), article.MaxSpaceBytes)}
	case q.Partition == nil && c.Scope == "partition":
		return &InvalidError{"partition", "say to which partition of the input the article would go: " +
			"with cluster.scope: partition each has clusters of its own"}
	}
	return nil
}

func (s *Service) check(ctx context.Context, of *asked, t *Text, q *Question) (Answer, error) {
	f, err := s.fingerprint(ctx, t)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	if q.Value != nil {
		f.Fingerprint.Space = *q.Value
	}
	if f.Comparable {
		a.Answer, err = of.Check(ctx, space.Question{
			Fingerprint: f.Fingerprint, PublishedAt: t.PublishedAt, RunnersUp: q.RunnersUp,
		})
	} else {
		a.Answer, err = of.Unclustered()
	}
	if err != nil {
		return Answer{}, asNotReady(err)
	}
	a.AsOf = s.asOf(of.name, a.Answer.AsOf)
	if a.Status == article.New {
		if d, joins := of.CheckStory(&f); joins {
			a.Story, a.StorySimilarity = d.Story, d.Similarity
		}
	}
	return a, nil
}

// asNotReady turns the error of a space that was closed meanwhile into [ErrNotReady].
func asNotReady(err error) error {
	if errors.Is(err, space.ErrNoView) {
		return fmt.Errorf("%w (%w)", ErrNotReady, err)
	}
	return err
}

// fingerprint fingerprints a text when it is its turn.
func (s *Service) fingerprint(ctx context.Context, t *Text) (f fingerprint.Article, err error) {
	if n, most := len(t.Title)+len(t.Content), s.options.Config.Input.MaxBytes; n > most {
		return f, &InvalidError{"content", fmt.Sprintf("the text has %d bytes, and an article has at "+
			"most input.max_bytes, %d", n, most)}
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

// A Comparison says what the method makes of two texts.
type Comparison struct {
	// Distance is in the measure of the method; +Inf where that rules out that they are the same.
	Distance   float64
	Threshold  float64
	Same       bool
	Comparable [2]bool // whether there is anything to compare in each; else all above is zero
	// Fingerprints are as results write them; zero where there is nothing to compare.
	Fingerprints [2]article.Fingerprint
}

// Compare says whether the method takes two texts as the same.
func (s *Service) Compare(ctx context.Context, a, b Text) (Comparison, error) {
	by, err := s.method()
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Threshold: by.Threshold()}
	var made [2]fingerprint.Article
	for i, t := range []*Text{&a, &b} {
		if made[i], err = s.fingerprint(ctx, t); err != nil {
			return Comparison{}, err
		}
		if c.Comparable[i] = made[i].Comparable; c.Comparable[i] {
			c.Fingerprints[i] = article.Fingerprint(made[i].Fingerprint.Hash)
		}
	}
	if c.Comparable[0] && c.Comparable[1] {
		x, y := made[0].Fingerprint, made[1].Fingerprint
		c.Distance, c.Same = by.Distance(x, y), method.Same(by.Method, x, y)
	}
	return c, nil
}
