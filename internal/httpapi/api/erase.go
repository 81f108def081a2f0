package api

import (
	"time"

	"github.com/clusterd/clusterd/internal/article"
)

// EraseRequest asks to erase what is kept of the text of an article: of a cluster's founder, or of
// the article with an id.
type EraseRequest struct {
	ClusterID ID     `json:"cluster_id,omitzero"`
	ArticleID ID     `json:"article_id,omitzero"`
	Note      string `json:"note,omitzero"`
}

// Erased answers what became of it.
type Erased struct {
	ClusterID string `json:"cluster_id"`
	Source    string `json:"source"` // the address of the article in the input topic
	// Founder is whether the article founded the cluster. Of other articles no text is kept.
	Founder bool   `json:"founder"`
	Record  string `json:"record"`  // the address of the record that says so
	Applied bool   `json:"applied"` // it is committed; false: it has not been read yet
}

// EraseRecord is a record of labels.topic that erases an article.
type EraseRecord struct {
	Action    Action    `json:"action"`
	Target    string    `json:"target"`
	ClusterID string    `json:"cluster_id"`
	Source    string    `json:"source"`
	By        string    `json:"by,omitzero"`
	At        time.Time `json:"at"`
	Note      string    `json:"note,omitzero"`
}

// NewEraseRecord returns the record that erases an article of a cluster.
func NewEraseRecord(clusterID, source string) EraseRecord {
	return EraseRecord{
		Action: Erase, Target: string(article.TargetArticle), ClusterID: clusterID, Source: source,
	}
}
