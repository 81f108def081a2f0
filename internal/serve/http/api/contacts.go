package api

import (
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
)

// A ContactRef names a contact.
type ContactRef struct {
	Contact string `json:"contact,omitzero"` // such as number:+447700900123
	// Space is the value to which it belongs, with cluster.scope field.
	Space *string `json:"space,omitzero"`
	// Partition is that of the input to which it belongs, with cluster.scope partition or field.
	Partition *int `json:"partition,omitzero"`
}

// Contacts is a page of contacts.
type Contacts struct {
	Contacts []Contact `json:"contacts"`
	Next     string    `json:"next,omitzero"` // the cursor of the next page
	AsOf     []AsOf    `json:"as_of"`
}

// A Contact is one that clusters share or that labels have marked.
type Contact struct {
	ContactRef
	Clusters int      `json:"clusters"` // without labels that have it, to 1,000
	Oldest   *Cluster `json:"oldest"`   // of these; nil: there are none
	Marks    []Mark   `json:"marks"`
}

// A Mark is what labels have made of a contact: by it, further clusters get the label.
type Mark struct {
	Label string `json:"label"`
	Trial bool   `json:"trial,omitzero"`
	// Votes is how many labels speak for the mark. A label on a cluster that has several contacts
	// gives each a part of a vote.
	Votes float64 `json:"votes"`
	Hams  int     `json:"hams"` // how many people said that it is harmless
	// Excepted is how many clusters had the label by it when somebody said that one of their articles
	// is harmless.
	Excepted int  `json:"excepted"`
	Counts   bool `json:"counts"` // whether clusters get the label by it
	Used     int  `json:"used"`   // how many clusters got the label by it
	Reach    int  `json:"reach"`  // how many may
	Clicked  []By `json:"clicked"`
	Harmless []By `json:"harmless"`
}

// By is who labelled, when, and with which record.
type By struct {
	By        string    `json:"by,omitzero"`
	At        time.Time `json:"at"`
	Note      string    `json:"note,omitzero"`
	Record    string    `json:"record"`
	ClusterID string    `json:"cluster_id,omitzero"` // that was labelled; empty: the contact itself
	Label     string    `json:"label,omitzero"`      // of who said that the contact is harmless
}

// An Exception is the labels of the articles of a cluster that are equal to one.
type Exception struct {
	ArticleID      string              `json:"article_id"`
	Source         string              `json:"source"` // topic/partition/offset of its record in the input
	MemberPosition uint64              `json:"member_position"`
	Fingerprint    article.Fingerprint `json:"fingerprint"`
	Labels         []Label             `json:"labels"`
}

// LabelsOfArticle returns the labels that an article of the cluster with this fingerprint has of
// its own. Without a fingerprint there are no such labels.
func (c *Cluster) LabelsOfArticle(fingerprint *article.Fingerprint) []Label {
	for i := range c.Exceptions {
		if e := &c.Exceptions[i]; fingerprint != nil && e.Fingerprint == *fingerprint {
			return e.Labels
		}
	}
	return nil
}
