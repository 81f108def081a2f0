// Package carry gives a space the labels of another space that clusters the same articles in
// another way. Clusters and contacts of the old space go in, and how many articles its clusters
// have in common with new clusters; label records for the new space come out.
package carry

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/cli/migrate/overlap"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
)

// Old is the part of the old space that has to do with labels.
type Old struct {
	Clusters map[string]cluster.Cluster // with labels, exceptions or contacts, by id
	Contacts []Contact                  // that have marks, in the order of their keys
}

// A Contact is one of a space of the old configuration.
type Contact struct {
	cluster.Contact
	Partition *int // with cluster.scope partition: the one of the input; nil for all
}

// New is the same articles in the new space.
type New struct {
	Clusters []overlap.Cluster
	Members  map[string]Member // by their addresses: the articles that have an exception
	Contacts bool              // labels mark contacts, in the same spaces
}

// A Member is an article as its result of the new space has it.
type Member struct {
	ClusterID   string               `json:"cluster_id"`
	ArticleID   string               `json:"article_id"`
	Fingerprint *article.Fingerprint `json:"fingerprint"`
	Position    uint64               `json:"-"`
}

// A Plan is the label records for the new space, and the labels that have no place there.
type Plan struct {
	Records                      []Record // in the order in which they are to be applied
	Clusters, Articles, Contacts int      // how many records are for each
	Lost                         []string // labels without a place, each as TARGET: LABEL: why
}

// A Record is a label record for the new space. Two equal records are the same label.
type Record struct {
	Target         article.Target       `json:"target,omitempty"`
	ClusterID      string               `json:"cluster_id,omitempty"`
	ArticleID      string               `json:"article_id,omitempty"`
	Source         string               `json:"source,omitempty"`
	MemberPosition *uint64              `json:"member_position,omitempty"`
	Fingerprint    *article.Fingerprint `json:"fingerprint,omitempty"`
	Contact        string               `json:"contact,omitempty"`
	Space          string               `json:"space,omitempty"`
	Partition      *int                 `json:"partition,omitempty"`
	Label          string               `json:"label"`
	Action         article.Action       `json:"action"`
	By             string               `json:"by,omitempty"`
	At             time.Time            `json:"at"`
	Note           string               `json:"note,omitempty"`
	Trial          bool                 `json:"trial,omitempty"`
}

// Key returns the key of the label record.
func (r *Record) Key() []byte {
	if r.Target == article.TargetContact {
		return []byte(r.Contact)
	}
	return []byte(r.ClusterID)
}

// JSON returns the value of the label record.
func (r *Record) JSON() []byte {
	value, _ := json.Marshal(r) // texts, numbers, and times that were checked always can be
	return value
}

func (r Record) of(l *article.Label) Record {
	r.Action = article.AddLabel
	r.Label, r.By, r.At, r.Note, r.Trial = l.Name, l.By, l.At, l.Note, l.Trial
	return r
}

// Carry says which label records give the new space what the old one has: labels of clusters first,
// whose clicks mark contacts, then labels of articles, then labels of contacts.
func Carry(o *Old, n *New) (p Plan) {
	p.clusters(o, n)
	p.articles(o, n)
	if n.Contacts {
		p.contacts(o)
	}
	return p
}

// kind is what two labels of a cluster differ in.
type kind struct {
	name  string
	trial bool
}

func kindOf(l *article.Label) kind { return kind{l.Name, l.Trial} }

// clusters carries the labels that somebody has put on clusters. A new cluster gets a label if at
// least half of its articles are in old clusters that have it, so that a few of them do not label
// many others.
func (p *Plan) clusters(o *Old, n *New) {
	carried := make(map[string]map[kind]bool) // by old cluster
	for _, c := range n.Clusters {
		total, with := 0, make(map[kind]int)
		byHand := make(map[kind]article.Label) // of the old cluster with most articles
		var order []kind
		for _, part := range c.Parts {
			total += part.Articles
			for _, l := range o.labels(part.ID) {
				k := kindOf(&l)
				with[k] += part.Articles
				if _, has := byHand[k]; !has && l.Contact == "" {
					byHand[k], order = l, append(order, k)
				}
			}
		}
		for _, k := range order {
			if 2*with[k] < total {
				continue
			}
			p.Records = append(p.Records, Record{ClusterID: c.ID}.of(new(byHand[k])))
			p.Clusters++
			for _, part := range c.Parts {
				if carried[part.ID] == nil {
					carried[part.ID] = make(map[kind]bool)
				}
				carried[part.ID][k] = true
			}
		}
	}
	for _, id := range o.ids() {
		for _, l := range o.labels(id) {
			if l.Contact == "" && !carried[id][kindOf(&l)] {
				p.lose(id, &l, "no new cluster has half of its articles from old ones with this label")
			}
		}
	}
}

// articles carries exceptions. What an article needs in the new space is in its result there.
func (p *Plan) articles(o *Old, n *New) {
	for _, id := range o.ids() {
		c := o.Clusters[id]
		for _, e := range c.Exceptions.All() {
			m, found := n.Members[e.Source]
			for _, l := range e.Labels {
				if !found {
					p.lose(e.Source, &l, "the new space has no result of the article with a fingerprint")
					continue
				}
				p.Records = append(p.Records, Record{
					Target: article.TargetArticle, ClusterID: m.ClusterID, ArticleID: m.ArticleID,
					Source: e.Source, MemberPosition: &m.Position, Fingerprint: m.Fingerprint,
				}.of(&l))
				p.Articles++
			}
		}
	}
}

// contacts carries marks. The clicks on clusters mark contacts again, but no contact that many
// clusters share by now. So a mark is carried as a label on the contact, unless that would label
// clusters that have no such label: then somebody has to decide.
func (p *Plan) contacts(o *Old) {
	having := o.having()
	for i := range o.Contacts {
		c := &o.Contacts[i]
		ref := Record{
			Target: article.TargetContact, Contact: c.Name, Space: c.Value, Partition: c.Partition,
		}
		for j := range c.Marks {
			m := &c.Marks[j]
			if !m.Counts(c.Name) || len(m.Clicked) == 0 {
				continue
			}
			by := m.Clicked[len(m.Clicked)-1]
			l := article.Label{Name: m.Name, By: by.By, At: by.At, Note: by.Note, Trial: m.Trial}
			has := func(id string) bool {
				c := o.Clusters[id]
				_, has := c.Labels.Get(m.Name, m.Trial)
				return has
			}
			if !allOf(having[c.place()], has) {
				p.lose(c.Name, &l, "clusters that share the contact do not have the label")
				continue
			}
			p.Records = append(p.Records, ref.of(&l))
			p.Contacts++
		}
		for _, by := range harmless(c.Marks) {
			l := article.Label{Name: by.Label, By: by.By, At: by.At, Note: by.Note}
			p.Records = append(p.Records, ref.of(&l))
			p.Contacts++
		}
	}
}

// harmless returns who said that a contact is harmless. It counts for all its marks, and stands in
// each.
func harmless(marks label.Marks) (all []label.By) {
	for i := range marks {
		for _, by := range marks[i].Harmless {
			if !slices.ContainsFunc(all, func(b label.By) bool { return b.Record == by.Record }) {
				all = append(all, by)
			}
		}
	}
	return all
}

// A place is a contact of a space.
type place struct {
	contact, value string
	partition      int // -1: all
}

func (c *Contact) place() place {
	if c.Partition != nil {
		return place{c.Name, c.Value, *c.Partition}
	}
	return place{c.Name, c.Value, -1}
}

// having returns the ids of the clusters that have each contact with marks.
func (o *Old) having() map[place][]string {
	found := make(map[place][]string)
	for i := range o.Contacts {
		found[o.Contacts[i].place()] = nil
	}
	for id, c := range o.Clusters {
		for name := range c.Contacts.All() {
			for _, p := range []place{{name, c.Space, -1}, {name, c.Space, c.Founder.Partition}} {
				if _, marked := found[p]; marked {
					found[p] = append(found[p], id)
				}
			}
		}
	}
	return found
}

func allOf(ids []string, has func(string) bool) bool {
	return !slices.ContainsFunc(ids, func(id string) bool { return !has(id) })
}

func (o *Old) labels(id string) []article.Label {
	c := o.Clusters[id]
	return c.Labels.All()
}

// ids returns the ids of the labelled clusters, in order.
func (o *Old) ids() []string {
	ids := make([]string, 0, len(o.Clusters))
	for id, c := range o.Clusters {
		if c.Labelled() {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, strings.Compare)
	return ids
}

func (p *Plan) lose(target string, l *article.Label, why string) {
	name := l.Name
	if l.Trial {
		name += " (on trial)"
	}
	p.Lost = append(p.Lost, target+": "+name+": "+why)
}
