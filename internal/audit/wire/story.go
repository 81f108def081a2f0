package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// storyPrefix begins the keys of stories in the clusters topic. No cluster id begins so.
const storyPrefix = "story:"

// The first byte of the state of a story: one that is apart, or has left another, says more.
const (
	storyVersion = 1
	byHand       = 2
)

// A Similarity is one from 0 to 1.
type Similarity float64

// millionth is how many steps of similarities there are.
const millionth = 1e6

// Millionths returns the similarity as a number of steps.
func (s Similarity) Millionths() uint32 { return uint32(math.Round(float64(s) * millionth)) }

// A Story is what a record says of a story: of its state in the clusters topic, or of what is told
// of it in the topic of stories, which has no vector.
type Story struct {
	Seq, Clusters, Articles int64
	FirstSeen, LastSeen     int64 // Unix milliseconds
	Vector                  string
	Into                    string // the story that it is part of; empty for none
	Publishers              Publishers
	Recent                  int64
	Headline                Headline
	Terms                   string // joined by line breaks
	SplitFrom               string
	SplitAt, MergedAt       int64
	// Apart says that somebody made it part of another, or another part of it, such that this can be
	// undone. Then Own is what it is without the others.
	Apart bool
	Own   Own
	// LeftFrom is the story that it was taken out of again, LeftMerged at which position it was made
	// part of that.
	LeftFrom           string
	LeftMerged, LeftAt int64
	Position           int64 // of its last article
}

// Own is what a story is without those that somebody made part of it.
type Own struct {
	Vector     string
	Publishers Publishers
	Recent     int64
	Headline   Headline
	Terms      string
}

// A Headline is the founder by whose title a story is told.
type Headline struct {
	Cluster, Article, Title, Publisher string
	Rank                               int64 // of its publisher
	At                                 int64 // event time, Unix milliseconds
	Similarity                         int64 // in millionths
}

// Unranked is the rank of a publisher that has none.
const Unranked = math.MaxUint32

// Better returns which of two headlines a story has, h where they are as good: one with a title,
// then by the rank of the publisher, the event time, the similarity.
func (h Headline) Better(other Headline) Headline {
	untitled := func(h Headline) int {
		if h.Title == "" {
			return 1
		}
		return 0
	}
	if cmp.Or(cmp.Compare(untitled(other), untitled(h)), cmp.Compare(other.Rank, h.Rank),
		cmp.Compare(other.At, h.At), cmp.Compare(h.Similarity, other.Similarity)) < 0 {
		return other
	}
	return h
}

// StoryID returns the id of a story of which a record of the clusters topic is the state, or the
// tombstone of it.
func StoryID(r *kgo.Record) (id string, ok bool) {
	return strings.CutPrefix(string(r.Key), storyPrefix)
}

// ParseState reads the state of a story, in either form.
func ParseState(r *kgo.Record) (s Story, err error) {
	state := r.Value
	if len(state) == 0 || state[0] >= '\t' { // JSON begins with a brace or white space
		if state, err = stateIn(r); err != nil {
			return s, err
		}
	}
	if s, err = parseState(state); err != nil {
		return s, err
	}
	s.Position, err = NumberHeader(r, HeaderPosition)
	return s, err
}

// stateIn returns the state in a record that is JSON.
func stateIn(r *kgo.Record) ([]byte, error) {
	var v struct {
		StoryID string `json:"story_id"`
		State   []byte `json:"state"`
	}
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return nil, err
	}
	if storyPrefix+v.StoryID != string(r.Key) {
		return nil, fmt.Errorf("story_id %.80q under the key %.80q", v.StoryID, r.Key)
	}
	return v.State, nil
}

func parseState(state []byte) (s Story, err error) {
	in := binaryReader{in: bytes.NewReader(state)}
	version := in.fixed(1)
	if version != storyVersion && version != byHand && in.err == nil {
		return s, fmt.Errorf("version %d", version)
	}
	s.Seq, s.Clusters, s.Articles = in.number(), in.number(), in.number()
	s.FirstSeen = in.signed()
	s.LastSeen = s.FirstSeen + in.number()
	s.Vector, s.Into = in.text(), in.text()
	s.Publishers, s.Recent = signalsOf(in.text())
	s.Terms = in.text()
	s.Headline = headlineIn(&in)
	s.SplitFrom, s.SplitAt, s.MergedAt = in.text(), in.number(), in.number()
	if version == byHand {
		s.Apart, s.Own.Vector = in.fixed(1) == 1, in.text()
		s.Own.Publishers, s.Own.Recent = signalsOf(in.text())
		s.Own.Terms, s.Own.Headline = in.text(), headlineIn(&in)
		s.LeftFrom, s.LeftMerged, s.LeftAt = in.text(), in.number(), in.number()
	}
	if in.err == nil && in.in.Len() > 0 {
		return s, fmt.Errorf("%d bytes are behind its end", in.in.Len())
	}
	return s, in.err
}

func headlineIn(in *binaryReader) Headline {
	return Headline{
		Cluster: in.text(), Article: in.text(), Title: in.text(), Publisher: in.text(),
		Rank: in.number(), At: in.signed(), Similarity: in.number(),
	}
}

// signalsOf reads how many publishers the state of signals has, and how many recent articles:
// behind two numbers, how many counts of articles there are, and these.
func signalsOf(state string) (publishers Publishers, recent int64) {
	in := binaryReader{in: bytes.NewReader([]byte(state))}
	in.number()
	in.number()
	for range in.number() {
		recent += in.number()
	}
	return Publishers(in.number()), recent
}

// ParseTold reads what is told of a story.
func ParseTold(r *kgo.Record) (s Story, err error) {
	var v struct {
		StoryID    string     `json:"story_id"`
		Seq        int64      `json:"seq"`
		Clusters   int64      `json:"clusters"`
		Articles   int64      `json:"articles"`
		Publishers Publishers `json:"publishers"`
		More       bool       `json:"publishers_more"`
		Recent     int64      `json:"recent"`
		FirstSeen  time.Time  `json:"first_seen"`
		LastSeen   time.Time  `json:"last_seen"`
		Terms      []string   `json:"terms"`
		MergedInto string     `json:"merged_into"`
		SplitFrom  string     `json:"split_from"`
		Headline   struct {
			Title     string `json:"title"`
			ClusterID string `json:"cluster_id"`
			ArticleID string `json:"article_id"`
			Publisher string `json:"publisher"`
		} `json:"headline"`
	}
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return s, err
	}
	if v.StoryID != string(r.Key) {
		return s, fmt.Errorf("story_id %q under the key %.80q", v.StoryID, r.Key)
	}
	s = Story{
		Seq: v.Seq, Clusters: v.Clusters, Articles: v.Articles,
		FirstSeen: v.FirstSeen.UnixMilli(), LastSeen: v.LastSeen.UnixMilli(), Into: v.MergedInto,
		Headline: Headline{
			Cluster: v.Headline.ClusterID, Article: v.Headline.ArticleID, Title: v.Headline.Title,
			Publisher: v.Headline.Publisher,
		},
		Recent: v.Recent, Terms: strings.Join(v.Terms, "\n"), SplitFrom: v.SplitFrom,
	}
	if s.Publishers, err = v.Publishers.and(v.More); err != nil {
		return s, err
	}
	s.Position, err = NumberHeader(r, HeaderPosition)
	return s, err
}

// Told returns what is to be told of the state of a story.
func (s Story) Told() Story {
	s.Vector, s.SplitAt, s.MergedAt = "", 0, 0
	s.Apart, s.Own, s.LeftFrom, s.LeftMerged, s.LeftAt = false, Own{}, "", 0, 0
	s.Headline.Rank, s.Headline.At, s.Headline.Similarity = 0, 0, 0
	return s
}
