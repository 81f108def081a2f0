package audit

import (
	"context"
	"maps"
	"math"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/labels"
	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/stories"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// prepareStories makes what the topics say of stories a place.
func (a *audit) prepareStories() (err error) {
	if a.grouped == nil {
		return nil
	}
	rule := a.config.Stories.Rule()
	a.stories, err = stories.New(stories.Options{
		Input: a.config.Input.Topic, Results: a.cut.Results.Topic, Clusters: a.cut.Clusters.Topic,
		Told: a.cut.Stories.Topic, Labels: a.config.Labels.Topic, Rule: model.StoryRule{
			Threshold: rule.Threshold, Han: rule.Han, Merge: rule.Merge,
			Window: max(0, rule.Window.Milliseconds()), ArticleTerms: rule.ArticleTerms,
			StoryTerms: rule.StoryTerms, List: rule.List, Postings: rule.Postings,
			Candidates: rule.Candidates,
		}, Check: a.grouped, Seed: a.seed,
		Space: a.spaceKey, IsQuiet: maps.Equal(a.cut.Committed, a.cut.Applied) &&
			maps.Equal(a.cut.Read, a.cut.ReadApplied),
	}, &a.config, a.dir)
	return err
}

// addState takes the state of a story, which is in the partition of its first cluster.
func (a *audit) addState(r *kgo.Record, id string) {
	if a.stories == nil {
		return // they were on once
	}
	first, _ := wire.ParseAddress(id, a.config.Input.Topic) // it is checked with the state
	a.stories.State(r, id, wire.ClusterPartition(first, len(a.cut.Clusters.To)))
}

// readStories reads what is told of stories, and the words of the articles that founded clusters,
// and feeds the rule.
func (a *audit) readStories(ctx context.Context) error {
	n, err := a.topics.ReadData(ctx, a.cut.Stories, a.stories.Tell)
	a.data += n
	if err != nil {
		return err
	}
	input := a.cut.Input
	input.To = a.read
	if _, err = a.topics.ReadAny(ctx, input, a.config.Input.MaxBytes, a.stories.Founder); err != nil {
		return err
	}
	if !a.complete {
		a.grouped.Skip("the rule needs all results from the first one on")
		return nil
	}
	return a.stories.Replay(ctx, func(space int32) int64 {
		s, err := a.space(space)
		if err != nil {
			return 0
		}
		end := min(s.Required, s.Results.End())
		if a.labels != nil { // what people did in a transaction is known with its checkpoint
			end = min(end, a.labelSpace(space).Position())
		}
		return end
	}, func(space int32) labels.OfStories {
		if a.labels == nil {
			return labels.OfStories{Since: math.MaxInt64}
		}
		return a.labelSpace(space).OfStories()
	})
}
