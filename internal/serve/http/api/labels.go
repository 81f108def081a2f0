package api

import (
	"errors"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
)

// LabelRequest asks for a label on the cluster of an id, of an article, or of a text; on one
// article; or on a contact.
type LabelRequest struct {
	Target    Target `json:"target,omitzero"`
	ClusterID ID     `json:"cluster_id,omitzero"`
	ArticleID ID     `json:"article_id,omitzero"`
	TextRequest
	ContactRef
	Label  string `json:"label,omitzero"`
	Action Action `json:"action,omitzero"` // add, which is the default, remove or resume
	Note   string `json:"note,omitzero"`
	Trial  bool   `json:"trial,omitzero"`
}

// A Target is what a label is put on.
type Target string

// The targets. A request that names no target is for a cluster.
const (
	ForCluster Target = "cluster"
	ForArticle Target = "article"
	ForContact Target = "contact"
)

// UnmarshalText reads one of these words. That of a cluster is empty then.
func (t *Target) UnmarshalText(text []byte) error {
	switch *t = Target(text); *t {
	case ForCluster:
		*t = ""
	case ForArticle, ForContact:
	default:
		return errors.New("must be cluster, article or contact")
	}
	return nil
}

// An Action is what a label record does.
type Action string

// An ID is that of a cluster or an article. Empty it is left out.
type ID string

// UnmarshalText reads an id that is there.
func (id *ID) UnmarshalText(text []byte) error {
	if *id = ID(text); *id == "" {
		return errors.New("is empty")
	}
	return nil
}

// The actions of label records.
const (
	Add     Action = "add"
	Remove  Action = "remove"
	Resume  Action = "resume" // does nothing: no label is suspended, as earlier versions did
	Merge   Action = "merge"  // of stories
	Unmerge Action = "unmerge"
	Split   Action = "split"
	Erase   Action = "erase" // of the text of an article, or of a contact
)

// UnmarshalText reads one of these words.
func (a *Action) UnmarshalText(text []byte) error {
	if *a = Action(text); *a != Add && *a != Remove && *a != Resume {
		return errors.New("must be add, remove or resume")
	}
	return nil
}

// LabelsRequest asks for one label, or for several.
type LabelsRequest struct {
	LabelRequest
	Labels []LabelRequest `json:"labels,omitzero"`
}

// LabelRecord is a record of labels.topic, and a line of an export.
type LabelRecord struct {
	Target         Target               `json:"target,omitzero"`
	ClusterID      string               `json:"cluster_id,omitzero"`
	ArticleID      string               `json:"article_id,omitzero"`
	Source         string               `json:"source,omitzero"`
	MemberPosition *uint64              `json:"member_position,omitzero"`
	Fingerprint    *article.Fingerprint `json:"fingerprint,omitzero"`
	ContactRef
	Label  string    `json:"label"`
	Action Action    `json:"action"`
	By     string    `json:"by,omitzero"`
	At     time.Time `json:"at"`
	Note   string    `json:"note,omitzero"`
	Trial  bool      `json:"trial,omitzero"`
}

// Labelled is what became of a label.
type Labelled struct {
	Target    Target `json:"target,omitzero"`
	ClusterID string `json:"cluster_id,omitzero"`
	ArticleID string `json:"article_id,omitzero"` // with target article
	ContactRef
	Label   string `json:"label"`
	Action  Action `json:"action"`
	Record  string `json:"record,omitzero"` // the address of its record; empty: none was written
	Applied bool   `json:"applied"`
	// Position is that of the first article whose result it may change, once it is applied.
	Position *uint64 `json:"position,omitzero"`
	Members  *int    `json:"members,omitzero"` // of the cluster, once it is applied
	Error    string  `json:"error,omitzero"`   // why it is not applied and will not be
}

// LabelledAll answers a request for labels, in its order.
type LabelledAll struct {
	Results []Labelled `json:"results"`
}
