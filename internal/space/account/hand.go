package account

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/story"
)

// Unknown returns the rejection of a label record that cannot be applied to stories.
func Unknown(format string, args ...any) *article.Rejection {
	return &article.Rejection{Class: article.UnknownStory, Reason: fmt.Sprintf(format, args...)}
}

// Merge makes the younger of two stories part of the older one, before the article at a position.
// Both keep what they are without one another.
func (b *Book) Merge(r *article.LabelRecord, position uint64) *article.Rejection {
	older, younger, ok := b.Rule.Join(r.Cluster.String(), r.Other)
	if !ok {
		return Unknown("stories %s and %s are one, or one of them is not there, or has expired",
			r.Cluster, r.Other)
	}
	s, part := b.story(older), b.story(younger)
	s.OwnSignals, s.OwnHeadline, s.OwnTerms = s.Alone()
	part.OwnSignals, part.OwnHeadline, part.OwnTerms = part.Alone()
	part.MergedAt, s.Position = position, position
	b.add(s, part, position)
	s.Story, _ = b.Rule.Of(older)
	part.Story, _ = b.Rule.Of(younger)
	s.Terms = name(s.Vector, s.Terms, split(part.Terms))
	return nil
}

// Unmerge takes a story out of another that somebody made it part of. Then each story has what its
// own clusters bring.
func (b *Book) Unmerge(r *article.LabelRecord, position uint64) *article.Rejection {
	left, from, ok := b.Rule.Leave(r.Cluster.String(), r.Other)
	if !ok {
		return Unknown("neither of stories %s and %s was made part of the other by hand, by this "+
			"version of clusterd, and is still: or one is not there, or has expired", r.Cluster, r.Other)
	}
	s := b.story(left)
	s.LeftFrom, s.LeftMerged, s.LeftAt = s.Into, s.MergedAt, position
	s.MergedAt, s.Position = 0, position
	for _, id := range from {
		whole := b.story(id)
		whole.Articles, whole.Position = whole.Articles-s.Articles, position
	}
	b.sum(left)
	b.sum(from[len(from)-1])
	return nil
}

// sum gives a story what it has by itself and what its parts have.
func (b *Book) sum(id string) {
	s := b.story(id)
	s.Story, _ = b.Rule.Of(id)
	s.Signals, s.Headline, s.Terms = s.Alone()
	var terms []string
	for _, id := range b.Rule.Parts(id) {
		part := b.story(id)
		s.Signals = b.signals.Merge(s.Signals, part.OwnSignals)
		s.Headline = s.Headline.Better(part.OwnHeadline)
		terms = append(terms, split(part.OwnTerms)...)
	}
	if s.Apart {
		s.Terms = name(s.Vector, s.Terms, terms)
		return
	}
	s.OwnSignals, s.OwnHeadline, s.OwnTerms = "", cluster.Headline{}, ""
}

// Split takes a cluster with this id out of its story, to found one of its own. The story that it
// leaves has fewer clusters and articles, but the same publishers: nobody knows which of them other
// clusters have. If that story is part of another, the same holds for the other.
func (b *Book) Split(
	r *article.LabelRecord, c *cluster.Cluster, position uint64,
) *article.Rejection {
	vector, err := story.ParseVector([]byte(r.Words))
	if err != nil {
		return &article.Rejection{Class: article.BadLabel, Reason: "words: " + err.Error()}
	}
	id := r.Cluster.String()
	from, ok := b.Rule.Split(c.Story, story.Article{
		Address: id, Seq: c.Seq, EventTime: c.FirstSeen, Words: vector, Han: r.Han,
	})
	if !ok {
		return Unknown("cluster %s is the first of its story, or the only one, or has none", id)
	}
	for _, id := range from {
		whole := b.story(id)
		whole.Articles, whole.Position = whole.Articles-c.Size, position
	}
	s := b.story(id)
	*s = cluster.Story{
		Position: position, Articles: c.Size, Signals: b.signals.Merge("", c.Signals),
		SplitFrom: from[len(from)-1], SplitAt: position, Headline: headlineOf(c, id, c.FirstSeen),
	}
	s.Story, _ = b.Rule.Of(id)
	s.Terms = name(s.Vector, s.Terms, split(r.Terms))
	c.Story, c.StorySimilarity = id, 0
	return nil
}
