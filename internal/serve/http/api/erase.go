package api

import "time"

// EraseRequest asks to erase what is kept of the text of an article, which is a cluster's founder
// or has an id; or to erase a contact.
type EraseRequest struct {
	ClusterID ID `json:"cluster_id,omitzero"`
	ArticleID ID `json:"article_id,omitzero"`
	ContactRef
	Note string `json:"note,omitzero"`
}

// Erased answers what became of it.
type Erased struct {
	ClusterID string `json:"cluster_id,omitzero"` // of the article
	Source    string `json:"source,omitzero"`     // the address of the article in the input topic
	// Founder is whether the article founded the cluster. Of other articles no text is kept.
	Founder *bool `json:"founder,omitzero"`
	ContactRef
	Record  string `json:"record"`  // the address of the record that says so
	Applied bool   `json:"applied"` // it is committed; false: it has not been read yet
}

// EraseRecord is a record of labels.topic that erases an article or a contact.
type EraseRecord struct {
	Action    Action `json:"action"`
	Target    Target `json:"target"`
	ClusterID string `json:"cluster_id,omitzero"`
	Source    string `json:"source,omitzero"`
	ContactRef
	By   string    `json:"by,omitzero"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitzero"`
}

// NewEraseRecord returns the record that erases what an answer names.
func NewEraseRecord(e *Erased) EraseRecord {
	target := ForArticle
	if e.Contact != "" {
		target = ForContact
	}
	return EraseRecord{
		Action: Erase, Target: target, ClusterID: e.ClusterID, Source: e.Source, ContactRef: e.ContactRef,
	}
}
