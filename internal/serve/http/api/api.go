// Package api holds the messages of the HTTP interface: what a request may say, and what is
// answered, as Go structs whose tags are the names in JSON. openapi.json describes each of them,
// and a test of package v1 holds the two together.
package api

import (
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
)

// Limits of requests.
const (
	MaxBody      = 1 << 20 // bytes of a request's body
	MaxTexts     = 100     // of one check
	MaxRunnersUp = 10
	MaxPage      = 200 // clusters, or members, of one answer
	MaxLabels    = 1000
	MaxLabel     = 64  // bytes of a label's name
	MaxNote      = 256 // bytes
	MaxQuery     = 256 // bytes of a parameter that is searched for
)

// Text is what is asked about: an article that nobody has published yet.
type Text struct {
	Title       string
	Content     string
	PublishedAt time.Time // zero: now
}

// TextRequest is a text as requests have it: text, which is content alone, or title and content,
// of which one may be missing.
type TextRequest struct {
	Text        *string    `json:"text,omitzero"`
	Title       *string    `json:"title,omitzero"`
	Content     *string    `json:"content,omitzero"`
	PublishedAt *time.Time `json:"published_at,omitzero"`
}

// CheckRequest asks for the cluster that a text would join, or for those of several texts.
type CheckRequest struct {
	TextRequest
	Articles []TextRequest `json:"articles,omitzero"`
	CheckOptions
}

// CheckOptions say what else is asked, and where.
type CheckOptions struct {
	RunnersUp int  `json:"runners_up,omitzero"` // how many of the next nearest clusters
	Partition *int `json:"partition,omitzero"`  // of the input; with cluster.scope: partition or field
	// Space is the value of cluster.scope_field that the text would have; with cluster.scope: field.
	Space *string `json:"space,omitzero"`
}

// AsOf says of which moment an answer is.
type AsOf struct {
	Space    string `json:"space"`    // "all", or the number of a partition
	Position uint64 `json:"position"` // of the next article that is clustered
	// StreamTime is the highest event time of an article; nil before the first one.
	StreamTime *time.Time    `json:"stream_time"`
	State      string        `json:"state"` // live, standby or recovering
	Role       string        `json:"role"`  // all, fingerprint, assign or serve
	Offsets    map[int]int64 `json:"offsets"`
}

// Cluster is a cluster as of a moment.
type Cluster struct {
	ClusterID      string                 `json:"cluster_id"`
	Size           int                    `json:"size"`
	Growth         *int                   `json:"growth,omitzero"` // where a list is sorted by it
	Labels         []Label                `json:"labels"`
	Exceptions     []Exception            `json:"exceptions,omitzero"` // labels of single articles
	Carried        []string               `json:"carried"`             // by results: names, after labels.allow
	Signals        *Signals               `json:"signals,omitzero"`
	FirstSeen      time.Time              `json:"first_seen"`
	LastSeen       time.Time              `json:"last_seen"`
	Representative article.Representative `json:"representative"`
	Fingerprint    article.Fingerprint    `json:"fingerprint"`
	// StoryID is its story as of its last article, and StorySimilarity that of its founder to it.
	StoryID         string             `json:"story_id,omitzero"`
	StorySimilarity article.Similarity `json:"story_similarity,omitzero"`
}

// Label is one of those that a cluster has.
type Label struct {
	Label    string    `json:"label"`
	By       string    `json:"by,omitzero"`
	At       time.Time `json:"at"`
	Note     string    `json:"note,omitzero"`
	Trial    bool      `json:"trial,omitzero"`
	Record   string    `json:"record,omitzero"` // the address of the record that set it
	Position uint64    `json:"position"`        // of the first article whose result may carry it
	// ContactRef is the contact by which the cluster has it; empty: somebody labelled the cluster.
	ContactRef
}

// Signals are what a cluster tells of its articles beside how many they are.
type Signals struct {
	article.Publishers
	Recent int `json:"recent"`
}

// UnmarshalJSON reads what this version or an earlier one answers.
func (s *Signals) UnmarshalJSON(value []byte) error {
	type plain Signals
	return article.UnmarshalPublishers(value, (*plain)(s), &s.Publishers)
}

// Near is a cluster, and how far the text is from its founder.
type Near struct {
	Cluster  Cluster `json:"cluster"`
	Distance float64 `json:"distance"`
}

// Suspect is a cluster without labels, and the nearest one that has some.
type Suspect struct {
	Cluster Cluster
	Near    Near
}

// Checked is what would become of a text.
type Checked struct {
	Status   article.Status `json:"status"`
	Cluster  *Cluster       `json:"cluster"`  // that it would join; nil: none
	Distance *float64       `json:"distance"` // nil unless it matched by its text
	Matched  article.Match  `json:"matched,omitzero"`
	// Labels are what the result would carry, and TrialLabels those that are on trial. LabelledBy
	// names the ones that it would carry by a contact.
	Labels      []string             `json:"labels"`
	TrialLabels []string             `json:"trial_labels"`
	LabelledBy  []article.LabelledBy `json:"labelled_by,omitzero"`
	RunnersUp   []Near               `json:"runners_up,omitzero"`
	// Suspect is the nearest labelled cluster, where it is another one.
	Suspect *Near `json:"suspect,omitzero"`
	// Story is the one that a new cluster would join; nil: it would be the first of one, or stories
	// are off.
	Story *NearStory `json:"story,omitzero"`
	AsOf  AsOf       `json:"as_of"`
}

// CheckedAll answers a check of several texts, in their order. The stream may go on between them.
type CheckedAll struct {
	Results []Checked `json:"results"`
	AsOf    AsOf      `json:"as_of"` // of the first, which is the oldest
}

// CompareRequest asks how near two texts are.
type CompareRequest struct {
	A TextRequest `json:"a"`
	B TextRequest `json:"b"`
}

// Comparison says how near two texts are.
type Comparison struct {
	// Distance is nil where one of them has nothing to compare.
	Distance     *float64               `json:"distance"`
	Threshold    float64                `json:"threshold"`
	Same         bool                   `json:"same"`
	Fingerprints []*article.Fingerprint `json:"fingerprints"` // of both; nil: nothing to compare
}

// Clusters are a page of clusters.
type Clusters struct {
	Clusters []Cluster `json:"clusters"`
	// Contacts are those that labels have marked, behind the last labelled cluster.
	Contacts []Contact `json:"contacts,omitzero"`
	Next     string    `json:"next,omitzero"` // the cursor of the next page; empty: this is the last
	// Complete is false while it is still being found out which clusters are the largest.
	Complete bool `json:"complete"`
	// Since is when counting of growth began, if that is less than the minutes that were asked for:
	// an instance does not know which articles joined before it loaded the clusters. Only in a list
	// by growth.
	Since time.Time `json:"since,omitzero"`
	AsOf  []AsOf    `json:"as_of"` // of each space
}

// OneCluster answers the question for one cluster.
type OneCluster struct {
	Cluster
	AsOf AsOf `json:"as_of"`
}
