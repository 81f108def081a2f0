package api

import (
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
)

// Story is a story: clusters that tell of the same event.
type Story struct {
	StoryID  string           `json:"story_id"`
	Headline article.Headline `json:"headline"`
	Clusters int              `json:"clusters"`
	Articles int              `json:"articles"`
	article.Publishers
	Recent    int       `json:"recent"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Terms     []string  `json:"terms"`
	SplitFrom string    `json:"split_from,omitzero"`
}

// UnmarshalJSON reads what this version or an earlier one answers.
func (s *Story) UnmarshalJSON(value []byte) error {
	type plain Story
	return article.UnmarshalPublishers(value, (*plain)(s), &s.Publishers)
}

// Stories answers which there are.
type Stories struct {
	Stories []Story `json:"stories"`
	AsOf    []AsOf  `json:"as_of"` // by space
}

// OneStory answers what a story is.
type OneStory struct {
	Story    Story     `json:"story"`
	Merged   string    `json:"merged,omitzero"` // the id that was asked for, where it is part of the story
	Clusters []Cluster `json:"clusters"`        // in founding order
	Next     string    `json:"next,omitzero"`   // cursor of further ones
	AsOf     AsOf      `json:"as_of"`
}

// NearStory is the story that a new cluster would join.
type NearStory struct {
	StoryID    string             `json:"story_id"`
	Similarity article.Similarity `json:"similarity"`
}

// MergeRequest asks for a story to become one with another, or for the two to be two again.
type MergeRequest struct {
	Other string `json:"other"`
	Note  string `json:"note,omitzero"`
}

// SplitRequest asks for a cluster to leave its story.
type SplitRequest struct {
	ClusterID string `json:"cluster_id"`
	Note      string `json:"note,omitzero"`
}

// StoryChanged answers what became of any of these.
type StoryChanged struct {
	Record  string `json:"record"`  // the address of the record that says so
	Applied bool   `json:"applied"` // it is committed; false: it has not been read yet
}

// StoryRecord is a record of labels.topic that merges stories, takes them apart, or splits one.
type StoryRecord struct {
	Action    Action    `json:"action"`
	StoryID   string    `json:"story_id,omitzero"`   // with Merge and Unmerge, as Other
	Other     string    `json:"other,omitzero"`      // the id of the other story
	ClusterID string    `json:"cluster_id,omitzero"` // with Split, as all below but who says so
	Words     []byte    `json:"words,omitempty"`     // of the founder, as the rule of stories has them
	Han       bool      `json:"han,omitzero"`        // most of them are Chinese
	Terms     string    `json:"terms,omitzero"`      // the first ones
	By        string    `json:"by,omitzero"`
	At        time.Time `json:"at"`
	Note      string    `json:"note,omitzero"`
}
