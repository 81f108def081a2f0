// Package account keeps the headline and terms of stories, and how many articles and publishers
// they have. Articles of clusters go in, one after the other, and label records about stories. The
// rule of package story decides, and the stories change.
package account

import (
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/signals"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/story/words"
)

// recently is the event time in which an article of a story is recent.
const recently = time.Hour

// A Book keeps the stories of a space. It is for the goroutine that assigns.
type Book struct {
	Rule    *story.Space
	ranks   cluster.Ranks
	story   func(id string) *cluster.Story
	signals signals.Rule
}

// New returns a Book. The function returns a story by its id, after the last article and to be
// changed; an empty story if there is no such story.
func New(rule *story.Space, ranks cluster.Ranks, of func(id string) *cluster.Story) *Book {
	return &Book{Rule: rule, ranks: ranks, story: of, signals: signals.NewRule(recently)}
}

// An Article is an article and its cluster, which has counted it.
type Article struct {
	*cluster.Cluster
	ID        string // of the cluster
	Founds    bool   // the cluster
	Words     words.Words
	Publisher string
	Position  uint64
	EventTime int64 // that counts, Unix milliseconds
}

// Take gives the cluster of an article its story. A cluster whose story somebody made part of
// another keeps its story, so that the two can be taken apart: the article counts for both.
func (b *Book) Take(a *Article) {
	living := a.Story // it was founded while stories were off, or its story has expired
	if a.Founds {
		b.found(a)
		living = a.Story
	} else if home, whole, ok := b.Rule.Touch(a.Story, a.EventTime); ok {
		a.Story, living = home, whole
	}
	for id := a.Story; id != "" && b.counted(id, a) && id != living; {
		id = b.whole(id)
	}
}

// counted counts an article for a story: the article is in a cluster of this story or of a part. It
// reports whether the story is there. If it has expired, the cluster is kept for its labels.
func (b *Book) counted(id string, a *Article) bool {
	s := b.story(id)
	if s.Address == "" {
		return false
	}
	s.Position = a.Position
	s.Articles++
	s.Signals = b.signals.Add(s.Signals, b.Rule.StreamTime(), a.EventTime, a.Publisher)
	if id == a.Story && s.OwnHeadline.Cluster != "" {
		s.OwnSignals = b.signals.Add(s.OwnSignals, b.Rule.StreamTime(), a.EventTime, a.Publisher)
	}
	return true
}

// whole returns the story that somebody made one part of, which may be a part itself; empty for
// none.
func (b *Book) whole(id string) string {
	s, ok := b.Rule.Of(id)
	for ok && s.Into != "" {
		if s, ok = b.Rule.Of(s.Into); s.Into == "" || s.Apart {
			return s.Address
		}
	}
	return ""
}

// found decides the story of a cluster that an article founds.
func (b *Book) found(a *Article) {
	d := b.Rule.Assign(story.Article{
		Address: a.ID, Seq: a.Seq, EventTime: a.EventTime, Words: a.Words.Vector, Han: a.Words.Han,
	})
	a.Story, a.StorySimilarity = d.Story, article.Similarity(d.Similarity)
	s := b.story(d.Story)
	if !d.Joined {
		*s = cluster.Story{}
	}
	s.Story, _ = b.Rule.Of(d.Story)
	headline := headlineOf(a.Cluster, a.ID, a.EventTime)
	headline.Publisher, headline.Rank = a.Publisher, b.ranks.Of(a.Publisher)
	if d.Joined {
		headline.Similarity = a.StorySimilarity
	}
	s.Headline = best(s.Headline, headline)
	if s.OwnHeadline.Cluster != "" {
		s.OwnHeadline = best(s.OwnHeadline, headline)
	}
	terms := split(a.Words.Terms)
	own := terms
	if d.Merged != "" {
		younger := b.story(d.Merged)
		_, _, ofYounger := younger.Alone()
		terms = slices.Concat(terms, split(younger.Terms))
		own = slices.Concat(own, split(ofYounger))
		b.merge(s, younger, a.Position)
	}
	s.Terms = name(s.Vector, s.Terms, terms)
	if s.Apart {
		s.OwnTerms = name(s.Own, s.OwnTerms, own)
	}
}

// best returns the better of two headlines. The first may be empty.
func best(h, other cluster.Headline) cluster.Headline {
	if h.Cluster == "" {
		return other
	}
	return h.Better(other)
}

// merge adds to a story what is known of another that the rule made part of it, except for the
// terms.
func (b *Book) merge(s, younger *cluster.Story, position uint64) {
	if s.Apart {
		of, headline, terms := s.Alone()
		more, other, _ := younger.Alone()
		s.OwnSignals, s.OwnHeadline = b.signals.Merge(of, more), headline.Better(other)
		s.OwnTerms = terms
		younger.OwnSignals, younger.OwnHeadline, younger.OwnTerms = "", cluster.Headline{}, ""
	}
	b.add(s, younger, position)
}

// add adds to a story what is known of another that became part of it, except for the terms.
func (b *Book) add(s, younger *cluster.Story, position uint64) {
	younger.Position = position
	s.Articles += younger.Articles
	s.Signals = b.signals.Merge(s.Signals, younger.Signals)
	s.Headline = s.Headline.Better(younger.Headline)
}

func split(terms string) []string {
	if terms == "" {
		return nil
	}
	return strings.Split(terms, "\n")
}

// name returns the terms of a story with this vector: the heaviest of its terms and others.
func name(vector story.Vector, terms string, more []string) string {
	all := append(split(terms), more...)
	// A single term would be what it is a part of, such as a whole record.
	return strings.Clone(strings.Join(story.Top(vector, all, cluster.MaxTerms), "\n"))
}

// headlineOf returns the headline that the founder of a cluster gives a story of its own, without
// the publisher.
func headlineOf(c *cluster.Cluster, id string, at int64) cluster.Headline {
	h := cluster.Headline{
		Cluster: id, ArticleID: c.Representative.ID, Title: c.Representative.Title,
		Rank: cluster.Unranked, At: at, Similarity: article.MaxSimilarity,
	}
	if strings.TrimSpace(h.Title) == "" {
		h.Title = c.Representative.Excerpt
	}
	return h
}
