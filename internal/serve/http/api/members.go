package api

import (
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
)

// Member is an article of a cluster, as its result says.
type Member struct {
	ArticleID   string          `json:"article_id"`
	Status      article.Status  `json:"status"`
	Distance    *float64        `json:"distance"`
	Matched     article.Match   `json:"matched,omitzero"`
	Publisher   string          `json:"publisher,omitzero"`
	EventTime   time.Time       `json:"event_time"`
	Position    uint64          `json:"position"`
	Source      article.Address `json:"source"`
	Labels      []string        `json:"labels,omitzero"`
	TrialLabels []string        `json:"trial_labels,omitzero"`
	// Fingerprint is that of the article; nil if results do not say it.
	Fingerprint *article.Fingerprint `json:"fingerprint,omitzero"`
	// Text is what the article said: nil where nobody asked for it, and a nil pointer where it is
	// gone.
	Text **FullText `json:"text,omitempty"`
	Gone string     `json:"gone,omitzero"` // why the text is
}

// FullText is what an article said.
type FullText struct {
	Title   string `json:"title"`
	Content string `json:"content"`
}

// Members are a page of the members of a cluster, in the order in which they came.
type Members struct {
	Members []Member `json:"members"`
	Next    string   `json:"next,omitzero"`
	View    View     `json:"view"`
}

// View says how much of the results the view of members has.
type View struct {
	Lag      int64 `json:"lag"`      // results that it has not read yet
	Complete bool  `json:"complete"` // it has all that the results topic has held since it began
}

// Article answers the question for one article. Of an unclustered one the cluster is nil.
type Article struct {
	Member
	ClusterID *string  `json:"cluster_id"`
	Cluster   *Cluster `json:"cluster"` // nil also where it has expired, or is another instance's
	View      View     `json:"view"`
}

// NewArticle is an article that is to be published.
type NewArticle struct {
	Text
	ID     string // empty: the address of its record
	Source string // who publishes it; may be empty
	// Others are the other fields of its record, as JSON values by their names.
	Others map[string][]byte
}

// Accepted says where an article is whose result is not there yet.
type Accepted struct {
	Source article.Address `json:"source"`
}
