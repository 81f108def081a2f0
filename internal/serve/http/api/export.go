package api

import "iter"

// Records returns the label records that would label clusters, articles and contacts as they are. A
// label by a contact has none, since the labels that have marked the contact have one.
func (page *Clusters) Records() iter.Seq[LabelRecord] {
	return func(yield func(LabelRecord) bool) {
		for i := range page.Clusters {
			for _, r := range page.Clusters[i].Records() {
				if !yield(r) {
					return
				}
			}
		}
		for i := range page.Contacts {
			for _, r := range page.Contacts[i].Records() {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// Records returns those of a cluster and of its articles.
func (c *Cluster) Records() (all []LabelRecord) {
	for i := range c.Labels {
		if l := &c.Labels[i]; l.Contact == "" {
			all = append(all, l.record(LabelRecord{ClusterID: c.ClusterID}))
		}
	}
	for i := range c.Exceptions {
		e := &c.Exceptions[i]
		for j := range e.Labels {
			all = append(all, e.Labels[j].record(LabelRecord{
				Target: ForArticle, ClusterID: c.ClusterID, ArticleID: e.ArticleID, Source: e.Source,
				MemberPosition: &e.MemberPosition, Fingerprint: &e.Fingerprint,
			}))
		}
	}
	return all
}

// Records returns those of a contact that are for no cluster that has it: first who labelled it,
// then who said that it is harmless, which counts for all its marks.
func (c *Contact) Records() (all []LabelRecord) {
	known := make(map[string]bool) // by the address of the record
	add := func(b *By, name string, trial bool) {
		if known[b.Record] || b.ClusterID != "" {
			return
		}
		known[b.Record] = true
		l := Label{Label: name, By: b.By, At: b.At, Note: b.Note, Trial: trial}
		all = append(all, l.record(LabelRecord{Target: ForContact, ContactRef: c.ContactRef}))
	}
	for i := range c.Marks {
		for j := range c.Marks[i].Clicked {
			add(&c.Marks[i].Clicked[j], c.Marks[i].Label, c.Marks[i].Trial)
		}
	}
	for i := range c.Marks {
		for j := range c.Marks[i].Harmless {
			add(&c.Marks[i].Harmless[j], c.Marks[i].Harmless[j].Label, false)
		}
	}
	return all
}

func (l *Label) record(r LabelRecord) LabelRecord {
	r.Label, r.Action, r.By, r.At, r.Note, r.Trial = l.Label, Add, l.By, l.At, l.Note, l.Trial
	return r
}
