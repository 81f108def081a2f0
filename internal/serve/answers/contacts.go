package answers

import (
	"context"
	"errors"
	"slices"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/serve/lookup"
)

// Contacts implements [v1.Spaces].
func (s *Spaces) Contacts(ctx context.Context, q v1.ContactQuery) (api.Contacts, error) {
	found, err := s.Lookup.Contacts(ctx, lookup.ContactQuery(q))
	if err != nil {
		return api.Contacts{}, understood(err)
	}
	page := api.Contacts{Contacts: []api.Contact{}, Next: found.Next, AsOf: []api.AsOf{}}
	for i := range found.Contacts {
		page.Contacts = append(page.Contacts, s.contact(&found.Contacts[i]))
	}
	for i := range found.AsOf {
		page.AsOf = append(page.AsOf, asOf(&found.AsOf[i]))
	}
	return page, nil
}

// Contact implements [v1.Spaces].
func (s *Spaces) Contact(of api.ContactRef, name string) (api.Contact, error) {
	found, err := s.Lookup.Contact(of.Contact, of.Space, of.Partition)
	if err == nil && len(found.Marks) == 0 && slices.Contains(s.Allow, name) {
		err = lookup.ErrUnknown // nothing speaks against it
	}
	if err != nil && !errors.Is(err, lookup.ErrUnknown) {
		return api.Contact{}, understood(err)
	}
	return s.contact(&found), understood(err)
}

// AppliedTo implements [v1.Spaces].
func (s *Spaces) AppliedTo(of api.ContactRef, record article.Address) bool {
	return s.Lookup.AppliedTo(of.Space, of.Partition, record)
}

// contact returns a contact as the interface has it.
func (s *Spaces) contact(c *lookup.Contact) api.Contact {
	out := api.Contact{
		ContactRef: api.ContactRef{
			Contact: s.nameOf(c.Name), Partition: lookup.PartitionOf(c.AsOf.Space),
		},
		Clusters: c.Clusters, Marks: []api.Mark{},
	}
	if s.Lookup.ByField() {
		out.Space = &c.Value
	}
	if c.Clusters > 0 {
		oldest := s.cluster(&c.Oldest, &c.AsOf)
		out.Oldest = &oldest
	}
	for i := range c.Marks {
		m := &c.Marks[i]
		out.Marks = append(out.Marks, api.Mark{
			Label: m.Name, Trial: m.Trial, Votes: float64(m.Votes) / label.Vote, Hams: m.Hams,
			Excepted: m.Excepted,
			Counts:   m.Counts(c.Name), Used: m.Used, Reach: m.Reach, Clicked: people(m.Clicked),
			Harmless: people(m.Harmless),
		})
	}
	return out
}

func people(all []label.By) []api.By {
	out := []api.By{}
	for _, b := range all {
		out = append(out, api.By(b))
	}
	return out
}

// nameOf returns the name of a contact, or its kind alone if texts are hidden.
func (s *Spaces) nameOf(contact string) string {
	if s.Hidden {
		return hideContact(contact)
	}
	return contact
}

// labelledBy returns by which contacts labels are carried.
func (s *Spaces) labelledBy(all []article.LabelledBy) (out []article.LabelledBy) {
	for _, l := range all {
		l.Contact = s.nameOf(l.Contact)
		out = append(out, l)
	}
	return out
}

// exceptions returns the labels of single articles of a cluster.
func exceptions(c *cluster.Cluster) (all []api.Exception) {
	for _, e := range c.Exceptions.All() {
		all = append(all, api.Exception{
			ArticleID: e.ArticleID, Source: e.Source, MemberPosition: e.MemberPosition,
			Fingerprint: e.Fingerprint, Labels: labels(e.Labels),
		})
	}
	return all
}

// labels returns the labels of a cluster. A label by a contact also names the value and the
// partition to which the contact belongs, as a label on the contact must. If texts are hidden,
// the contact has no name, so it cannot be labelled.
func (s *Spaces) labels(c *cluster.Cluster, at *lookup.AsOf) []api.Label {
	out := labels(c.Labels.All())
	for i, l := range c.Labels.All() {
		out[i].Contact = s.nameOf(l.Contact)
		if l.Contact == "" || s.Hidden {
			continue
		}
		out[i].Partition = lookup.PartitionOf(at.Space)
		if s.Lookup.ByField() {
			out[i].Space = &c.Space
		}
	}
	return out
}

func labels(all []article.Label) []api.Label {
	out := []api.Label{}
	for _, l := range all {
		out = append(out, api.Label{
			Label: l.Name, By: l.By, At: l.At, Note: l.Note, Trial: l.Trial, Record: l.Record,
			Position: l.Position,
		})
	}
	return out
}
