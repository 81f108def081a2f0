package space

import (
	"fmt"
	"strings"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/cluster"
	"github.com/clusterd/clusterd/internal/story"
)

// unknownStory returns the rejection of what cannot be merged or split.
func unknownStory(format string, args ...any) *article.Rejection {
	return &article.Rejection{Class: article.UnknownStory, Reason: fmt.Sprintf(format, args...)}
}

// mergeByHand makes the younger of two stories part of the older one before the next article.
func (t *stories) mergeByHand(r *article.LabelRecord) (changed bool, why *article.Rejection) {
	if t == nil {
		return false, unknownStory("stories are off: set stories.topic")
	}
	older, younger, ok := t.rule.Join(r.Cluster.String(), r.Other)
	if !ok {
		return false, unknownStory("stories %s and %s are one, or one of them is not there, or has "+
			"expired", r.Cluster, r.Other)
	}
	position := t.Space.rule.State().Next
	s, merged := t.story(older), t.story(younger)
	merged.MergedAt = position
	now, _ := t.rule.Of(older)
	s.Position = position
	t.name(s, now.Vector, t.merge(s, younger, position))
	return true, nil
}

// splitByHand takes a cluster out of its story, to found one of its own, before the next article.
// The story that it leaves has fewer clusters and articles, but the same publishers: it is not
// known which of them it has by other clusters.
func (t *stories) splitByHand(
	r *article.LabelRecord, m *member,
) (changed bool, why *article.Rejection) {
	if t == nil {
		return false, unknownStory("stories are off: set stories.topic")
	}
	vector, err := story.ParseVector([]byte(r.Words))
	if err != nil {
		return false, &article.Rejection{Class: article.BadLabel, Reason: "words: " + err.Error()}
	}
	left, ok := t.living(m.Story)
	if ok {
		ok = t.rule.Split(left, story.Article{
			Address: m.id, Seq: m.Seq, EventTime: m.FirstSeen, Words: vector, Han: r.Han,
		})
	}
	if !ok {
		return false, unknownStory("cluster %s is the first of its story, or the only one, or has none",
			m.id)
	}
	position := t.Space.rule.State().Next
	from, s := t.story(left), t.story(m.id)
	from.Articles, from.Position = from.Articles-m.Size, position
	*s = cluster.Story{
		Position: position, Articles: m.Size, Signals: t.signals.Merge("", m.Signals),
		SplitFrom: left, SplitAt: position,
		Headline: headlineOf(m, "", cluster.Unranked, m.FirstSeen, article.MaxSimilarity),
	}
	s.Story, _ = t.rule.Of(m.id)
	t.name(s, s.Vector, splitTerms(r.Terms))
	m.Story, m.StorySimilarity, m.touched = m.id, 0, true
	return true, nil
}

// living returns the story that one is part of by now, and whether there is one.
func (t *stories) living(id string) (living string, ok bool) {
	for {
		s, ok := t.rule.Of(id)
		if !ok || s.Into == "" {
			return id, ok
		}
		id = s.Into
	}
}

// name gives a story its terms: of those that it has and others, the ones that weigh most.
func (t *stories) name(s *cluster.Story, vector story.Vector, more []string) {
	terms := append(splitTerms(s.Terms), more...)
	// A single term would be what it is a part of, such as a whole record.
	s.Terms = strings.Clone(strings.Join(story.Top(vector, terms, cluster.MaxTerms), "\n"))
}

// headlineOf returns the headline that the founder of a cluster makes.
func headlineOf(
	m *member, publisher string, rank uint32, at int64, similarity article.Similarity,
) cluster.Headline {
	h := cluster.Headline{
		Cluster: m.id, ArticleID: m.Representative.ID, Title: m.Representative.Title,
		Publisher: publisher, Rank: rank, At: at, Similarity: similarity,
	}
	if strings.TrimSpace(h.Title) == "" {
		h.Title = m.Representative.Excerpt
	}
	return h
}
