package article

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Similarity is one in millionths. JSON has it as a number from 0 to 1.
type Similarity uint32

// MaxSimilarity is that of what is the same.
const MaxSimilarity Similarity = 1_000_000

// Float returns the similarity as a number from 0 to 1.
func (s Similarity) Float() float64 { return float64(s) / float64(MaxSimilarity) }

// AppendTo appends a number from 0 to 1.
func (s Similarity) AppendTo(dst []byte) []byte {
	return strconv.AppendFloat(dst, s.Float(), 'f', -1, 64)
}

// MarshalJSON writes a number from 0 to 1.
func (s Similarity) MarshalJSON() ([]byte, error) { return s.AppendTo(nil), nil }

// UnmarshalJSON reads a number from 0 to 1.
func (s *Similarity) UnmarshalJSON(value []byte) error {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return fmt.Errorf("similarity %.40q: want a number from 0 to 1", value)
	}
	*s = Similarity(math.Round(f * float64(MaxSimilarity)))
	return nil
}

// appendStory appends the story of a cluster, and nothing where it has none.
func appendStory(dst []byte, id string, similarity Similarity) []byte {
	if id != "" {
		dst = appendString(append(dst, `,"story_id":`...), id)
	}
	if similarity != 0 {
		dst = similarity.AppendTo(append(dst, `,"story_similarity":`...))
	}
	return dst
}

// A Story is what others read of one: clusters that tell of the same event.
type Story struct {
	StoryID string `json:"story_id"` // the cluster id of its first cluster; it never changes
	Seq     uint64 `json:"seq"`      // the founding order within the space
	// Headline is the title of the article by which it is best told.
	Headline Headline `json:"headline"`
	Clusters int      `json:"clusters"` // that ever joined it
	Articles int      `json:"articles"` // of all these
	Publishers
	Recent    int       `json:"recent"` // articles within the hour of stream time before the last one
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Terms     []string  `json:"terms"` // of the first words of its clusters, those that weigh most
	// MergedInto is the story that it has become part of. It may leave that again.
	MergedInto string `json:"merged_into,omitempty"`
	// SplitFrom is the story that somebody took its first cluster out of.
	SplitFrom string `json:"split_from,omitempty"`
}

// A Headline is the title of a founder of one of the clusters of a story.
type Headline struct {
	Title     string `json:"title"`
	ClusterID string `json:"cluster_id"`
	ArticleID string `json:"article_id"`
	Publisher string `json:"publisher,omitempty"`
}

// UnmarshalJSON reads what this version or an earlier one wrote.
func (s *Story) UnmarshalJSON(value []byte) error {
	type plain Story
	return UnmarshalPublishers(value, (*plain)(s), &s.Publishers)
}

// AppendJSON appends the story as one line without a line break, with <, > and & as they are.
func (s *Story) AppendJSON(dst []byte) []byte {
	dst = appendString(append(dst, `{"story_id":`...), s.StoryID)
	dst = strconv.AppendUint(append(dst, `,"seq":`...), s.Seq, 10)
	dst = s.Headline.appendJSON(append(dst, `,"headline":`...))
	dst = strconv.AppendInt(append(dst, `,"clusters":`...), int64(s.Clusters), 10)
	dst = strconv.AppendInt(append(dst, `,"articles":`...), int64(s.Articles), 10)
	dst = s.Publishers.appendJSON(append(dst, ','))
	dst = strconv.AppendInt(append(dst, `,"recent":`...), int64(s.Recent), 10)
	dst = appendTime(append(dst, `,"first_seen":`...), s.FirstSeen)
	dst = appendTime(append(dst, `,"last_seen":`...), s.LastSeen)
	if len(s.Terms) > 0 {
		dst = appendStrings(dst, `,"terms":[`, s.Terms)
	} else {
		dst = append(dst, `,"terms":[]`...)
	}
	if s.MergedInto != "" {
		dst = appendString(append(dst, `,"merged_into":`...), s.MergedInto)
	}
	if s.SplitFrom != "" {
		dst = appendString(append(dst, `,"split_from":`...), s.SplitFrom)
	}
	return append(dst, '}')
}

func (h *Headline) appendJSON(dst []byte) []byte {
	dst = appendString(append(dst, `{"title":`...), h.Title)
	dst = appendString(append(dst, `,"cluster_id":`...), h.ClusterID)
	dst = appendString(append(dst, `,"article_id":`...), h.ArticleID)
	if h.Publisher != "" {
		dst = appendString(append(dst, `,"publisher":`...), h.Publisher)
	}
	return append(dst, '}')
}

// A StoryState is all that clusterd needs to recover a story.
type StoryState struct {
	StoryID string `json:"story_id"`
	State   []byte `json:"state"` // in base64
}

// AppendJSON appends the state as one line without a line break.
func (s *StoryState) AppendJSON(dst []byte) []byte {
	dst = appendString(append(dst, `{"story_id":`...), s.StoryID)
	dst = base64.StdEncoding.AppendEncode(append(dst, `,"state":"`...), s.State)
	return append(dst, '"', '}')
}

// ParseStory reads what [Story.AppendJSON] wrote.
func ParseStory(value []byte) (s Story, err error) {
	if err := json.Unmarshal(value, &s); err != nil {
		return Story{}, fmt.Errorf("not a story: %w", err)
	}
	return s, nil
}
