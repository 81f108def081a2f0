package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/signals"
	"github.com/clusterd/clusterd/internal/story"
)

// A Story is a story as it is committed, with at least one cluster. As of a cluster, a copy of it
// is a story of its own.
type Story struct {
	story.Story        // what the rule decides by; its Address is the story's id
	Position    uint64 // of the last article of the story, or where it was merged or split by hand
	Articles    int    // of all clusters that ever joined it
	Signals     signals.State
	Headline    Headline
	Terms       string // words, joined by line breaks, those that weigh most in its vector first
	// SplitFrom is the id of the story that somebody took it out of, and SplitAt the position of the
	// first article after that; empty and 0 where it is an article that founded it.
	SplitFrom string
	SplitAt   uint64
	// MergedAt is, of a story that somebody made part of another, the position of the first article
	// after that; 0 where an article did it.
	MergedAt uint64
	// Of a story that is Apart: what it has without its parts by hand. An earlier clusterd merged
	// stories by hand without this, and they cannot be taken apart.
	OwnSignals  signals.State
	OwnHeadline Headline
	OwnTerms    string
	// LeftFrom is the id of the story that somebody last took it out of. LeftMerged is the position of
	// the first article after the merge, and LeftAt of the first one after the undo. Empty and 0 if
	// nobody has.
	LeftFrom           string
	LeftMerged, LeftAt uint64
}

// Alone returns what a story has without its parts by hand.
func (s *Story) Alone() (of signals.State, h Headline, terms string) {
	if s.OwnHeadline.Cluster != "" {
		return s.OwnSignals, s.OwnHeadline, s.OwnTerms
	}
	return s.Signals, s.Headline, s.Terms
}

// A Headline is the founder of a cluster whose title tells the story.
type Headline struct {
	Cluster    string // its id
	ArticleID  string
	Title      string // or the excerpt, where there is none
	Publisher  string
	Rank       uint32 // of its publisher, from 0 on; [Unranked] of one that has none
	At         int64  // event time, Unix milliseconds
	Similarity article.Similarity
}

// Unranked is behind all ranks.
const Unranked = math.MaxUint32

// Better returns the headline that tells a story best: one that has a title, of the publisher with
// the best rank, the earliest, the most similar to the story, and h where all are the same.
func (h Headline) Better(other Headline) Headline {
	order := cmp.Or(
		cmp.Compare(min(1, len(other.Title)), min(1, len(h.Title))),
		cmp.Compare(h.Rank, other.Rank), cmp.Compare(h.At, other.At),
		cmp.Compare(other.Similarity, h.Similarity),
	)
	if order > 0 {
		return other
	}
	return h
}

// MaxTerms is how many terms a story has at most.
const MaxTerms = 8

// maxTermsBytes is how long they are at most, all together.
const maxTermsBytes = 4 << 10

// Validate returns an error for a story that no clusterd can have made. What is read from outside
// goes through it before anything is done with it.
func (s *Story) Validate() error {
	if err := s.validateIDs(); err != nil {
		return err
	}
	switch {
	case s.Position > MaxPosition || s.Seq > s.Position:
		return fmt.Errorf("seq %d, and position %d of the last article", s.Seq, s.Position)
	case s.Clusters < 1 && s.Into == "" || s.Articles < 0 ||
		uint64(s.Articles) > s.Position+1:
		return fmt.Errorf("%d clusters with %d articles", s.Clusters, s.Articles)
	case s.FirstSeen < 0 || s.LastSeen < s.FirstSeen || s.LastSeen > MaxTime:
		return fmt.Errorf("seen from %d to %d ms since 1970: not from 1970 on, one after the other",
			s.FirstSeen, s.LastSeen)
	case s.Into != "" && s.Vector != "":
		return errors.New("it is part of another story, and has a vector")
	case s.SplitAt > MaxPosition || (s.SplitFrom == "") != (s.SplitAt == 0):
		return fmt.Errorf("split from %.80q at %d", s.SplitFrom, s.SplitAt)
	case s.MergedAt > MaxPosition || s.MergedAt != 0 && s.Into == "":
		return fmt.Errorf("merged into %.80q at %d", s.Into, s.MergedAt)
	case s.LeftAt > MaxPosition || s.LeftMerged > s.LeftAt || (s.LeftFrom == "") != (s.LeftAt == 0):
		return fmt.Errorf("part of %.80q from %d to %d", s.LeftFrom, s.LeftMerged, s.LeftAt)
	case s.Apart != (s.OwnHeadline.Cluster != ""), !s.Apart && (s.Own != "" || s.OwnSignals != "" ||
		s.OwnTerms != "" || s.OwnHeadline != Headline{}):
		return errors.New("what it is by itself is there in part")
	}
	return errors.Join(s.validateContent(s.Vector, s.Signals, &s.Headline, s.Terms),
		s.validateContent(s.Own, s.OwnSignals, &s.OwnHeadline, s.OwnTerms))
}

func (s *Story) validateContent(
	vector story.Vector, of signals.State, h *Headline, terms string,
) error {
	if len(terms) > maxTermsBytes || !utf8.ValidString(terms) ||
		strings.Count(terms, "\n") >= MaxTerms {
		return fmt.Errorf("terms of %d bytes: at most %d words are possible", len(terms), MaxTerms)
	}
	if _, err := story.ParseVector([]byte(vector)); err != nil {
		return err
	}
	// A story that clusters were taken out of has their publishers still.
	if err := of.Check(int(s.Position)+1, MaxTime); err != nil {
		return err
	}
	return h.validate()
}

func (s *Story) validateIDs() error {
	first, err := parseID(s.Address)
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	for i, other := range []string{
		s.Headline.Cluster, s.OwnHeadline.Cluster, s.Into, s.SplitFrom, s.LeftFrom,
	} {
		if other == "" {
			continue
		}
		if a, err := parseID(other); err != nil || a.Topic != first.Topic || a == first && i > 1 {
			return fmt.Errorf("story %s has to do with %.80q, which is none beside it", s.Address, other)
		}
	}
	return nil
}

func (h *Headline) validate() error {
	if h.At < 0 || h.At > MaxTime || h.Similarity > article.MaxSimilarity ||
		len(h.Publisher) > article.MaxPublisherBytes+len("…") {
		return fmt.Errorf("headline of %.80q at %d ms with similarity %d", h.Publisher, h.At,
			h.Similarity)
	}
	return validate(&article.Representative{ID: h.ArticleID, Title: h.Title})
}

// parseID returns the address that is the id of a cluster or a story.
func parseID(id string) (article.Address, error) {
	a, err := article.ParseAddress(id)
	if err == nil && (a.String() != id || a.Offset > MaxOffset || a.Partition > math.MaxInt32) {
		err = fmt.Errorf("%.80q is not the address of a record", id)
	}
	return a, err
}

// validateStory checks the story of a cluster.
func (c *Cluster) validateStory() error {
	if c.Story == "" {
		if c.StorySimilarity != 0 {
			return errors.New("a similarity to no story")
		}
		return nil
	}
	of, err := parseID(c.Story)
	if err != nil || of.Topic != c.Founder.Topic || c.StorySimilarity > article.MaxSimilarity {
		return fmt.Errorf("story %.80q with similarity %d: %w", c.Story, c.StorySimilarity,
			cmp.Or(err, errors.New("not of this topic, or beyond 1")))
	}
	return nil
}

// Founder returns the address of the article that founded the first cluster of the story.
func (s *Story) Founder() article.Address {
	a, _ := article.ParseAddress(s.Address) // it has been validated, or was made here
	return a
}

// Follows returns an error if s cannot be what became of the same story as it was before.
func (s *Story) Follows(before *Story) error {
	switch {
	case s.Seq != before.Seq || s.FirstSeen != before.FirstSeen:
		return errors.New("its founder is another than before, and a story's never changes")
	case s.Position < before.Position || s.LastSeen < before.LastSeen:
		return fmt.Errorf("the story goes back, from position %d to %d: the topic's order is not that "+
			"in which it was written", before.Position, s.Position)
	case before.Into != "" && s.Into != before.Into && !before.Apart:
		return fmt.Errorf("it was part of %s, and that never changes", before.Into)
	}
	return nil
}

// Wire returns what others read of the story.
func (s *Story) Wire() article.Story {
	w := article.Story{
		StoryID: s.Address, Seq: s.Seq, Clusters: int(s.Clusters), Articles: s.Articles,
		Publishers: article.NewPublishers(s.Signals.Publishers()), Recent: s.Signals.Recent(),
		FirstSeen: unixTime(s.FirstSeen), LastSeen: unixTime(s.LastSeen),
		MergedInto: s.Into, SplitFrom: s.SplitFrom,
		Headline: article.Headline{
			Title: s.Headline.Title, ClusterID: s.Headline.Cluster, ArticleID: s.Headline.ArticleID,
			Publisher: s.Headline.Publisher,
		},
	}
	if s.Terms != "" {
		w.Terms = strings.Split(s.Terms, "\n")
	}
	return w
}

// EraseText removes the title of a cluster's founder where it is the headline, and the terms, among
// which may be words of the founder. It reports whether there was any.
func (s *Story) EraseText(clusterID string) bool {
	before := [4]string{s.Headline.Title, s.OwnHeadline.Title, s.Terms, s.OwnTerms}
	for _, h := range []*Headline{&s.Headline, &s.OwnHeadline} {
		if h.Cluster == clusterID {
			h.Title = ""
		}
	}
	s.Terms, s.OwnTerms = "", ""
	return before != [4]string{s.Headline.Title, s.OwnHeadline.Title, s.Terms, s.OwnTerms}
}
