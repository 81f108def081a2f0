package carry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/cli/migrate/carry"
	"github.com/clusterd/clusterd/internal/cli/migrate/overlap"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/singlepass"
)

var at = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

// labelOf reads label, label/trial or label@contact.
func labelOf(text string) article.Label {
	l := article.Label{By: "alice", At: at, Record: "labels/0/0"}
	l.Name, l.Contact, _ = strings.Cut(text, "@")
	l.Name, l.Trial = strings.CutSuffix(l.Name, "/trial")
	return l
}

// clusterOf returns a cluster by its id, its labels and the contacts of its founder.
func clusterOf(id, labels, contacts string) cluster.Cluster {
	var c cluster.Cluster
	c.Founder, _ = article.ParseAddress(id)
	var set []article.Label
	for _, text := range strings.Fields(labels) {
		set = append(set, labelOf(text))
	}
	c.Labels, c.Contacts = label.Of(set), singlepass.NewContacts(strings.Fields(contacts))
	return c
}

func oldOf(all ...cluster.Cluster) *carry.Old {
	o := &carry.Old{Clusters: make(map[string]cluster.Cluster)}
	for _, c := range all {
		o.Clusters[c.ID()] = c
	}
	return o
}

// made returns a new cluster, of clusters and how many articles it has of each by turns.
func made(id string, parts ...any) overlap.Cluster {
	c := overlap.Cluster{ID: id}
	for i := 0; i < len(parts); i += 2 {
		c.Parts = append(c.Parts, overlap.Part{ID: parts[i].(string), Articles: parts[i+1].(int)})
	}
	return c
}

// said returns the records in short.
func said(p *carry.Plan) (all []string) {
	for i := range p.Records {
		r := &p.Records[i]
		text := strings.Join(strings.Fields(r.ClusterID+" "+r.Source+" "+r.Contact+" "+r.Label), " ")
		if r.Trial {
			text += "/trial"
		}
		all = append(all, text)
	}
	return all
}

// homeless is why a label of a cluster is lost.
const homeless = ": no new cluster has half of its articles from old ones with this label"

// A label goes to each new cluster of which half of the articles have it.
func TestLabelsOfClusters(t *testing.T) {
	const a, b, c, n, m = "in/0/1", "in/0/2", "in/0/3", "in/0/10", "in/0/20"
	for name, tt := range map[string]struct {
		old        []cluster.Cluster
		clusters   []overlap.Cluster
		want, lost []string
	}{
		"the same": {
			[]cluster.Cluster{clusterOf(a, "spam", "")},
			[]overlap.Cluster{made(n, a, 3)},
			[]string{"in/0/10 spam"},
			nil,
		},
		"split": {
			[]cluster.Cluster{clusterOf(a, "spam spam/trial", "")},
			[]overlap.Cluster{made(n, a, 3), made(m, a, 1)},
			[]string{"in/0/10 spam", "in/0/10 spam/trial", "in/0/20 spam", "in/0/20 spam/trial"},
			nil,
		},
		"merged, and half has it": {
			[]cluster.Cluster{clusterOf(a, "spam", "")},
			[]overlap.Cluster{made(n, a, 2, b, 2)},
			[]string{"in/0/10 spam"},
			nil,
		},
		"merged with many others": {
			[]cluster.Cluster{clusterOf(a, "spam", "")},
			[]overlap.Cluster{made(n, b, 3, a, 2)},
			nil,
			[]string{"in/0/1: spam" + homeless},
		},
		"merged with one that has it by a contact": {
			[]cluster.Cluster{clusterOf(a, "spam", ""), clusterOf(b, "spam@name:alexis17", "")},
			[]overlap.Cluster{made(n, c, 3, b, 2, a, 1)},
			[]string{"in/0/10 spam"},
			nil,
		},
		"by a contact alone": {
			[]cluster.Cluster{clusterOf(a, "spam@name:alexis17", "")},
			[]overlap.Cluster{made(n, a, 3)},
			nil, nil,
		},
		"several labels": {
			[]cluster.Cluster{clusterOf(a, "ham", ""), clusterOf(b, "spam", "")},
			[]overlap.Cluster{made(n, b, 2, a, 1)},
			[]string{"in/0/10 spam"},
			[]string{"in/0/1: ham" + homeless},
		},
		"without articles": {
			[]cluster.Cluster{clusterOf(a, "spam/trial", "")},
			nil, nil,
			[]string{"in/0/1: spam (on trial)" + homeless},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := carry.Carry(oldOf(tt.old...), &carry.New{Clusters: tt.clusters})
			if diff := cmp.Diff(tt.want, said(&p)) + cmp.Diff(tt.lost, p.Lost); diff != "" {
				t.Error(diff)
			}
			for _, r := range p.Records {
				if r.By != "alice" || !r.At.Equal(at) || r.Action != article.AddLabel {
					t.Errorf("record %s", r.JSON())
				}
			}
		})
	}
}

// A label of an article names it as its result of the new space does.
func TestLabelsOfArticles(t *testing.T) {
	c := clusterOf("in/0/1", "", "")
	c.Exceptions = label.ExceptionsOf([]article.Exception{
		{Source: "in/0/5", ArticleID: "x", Fingerprint: 7, Labels: []article.Label{labelOf("ham")}},
		{Source: "in/0/6", ArticleID: "y", Fingerprint: 8, Labels: []article.Label{labelOf("ham")}},
	})
	p := carry.Carry(oldOf(c), &carry.New{Members: map[string]carry.Member{
		"in/0/5": {
			ClusterID: "in/0/4", ArticleID: "x", Fingerprint: new(article.Fingerprint(9)), Position: 3,
		},
	}})
	const want = `{"target":"article","cluster_id":"in/0/4","article_id":"x","source":"in/0/5",` +
		`"member_position":3,"fingerprint":"0000000000000009","label":"ham","action":"add",` +
		`"by":"alice","at":"2026-05-01T10:00:00Z"}`
	if len(p.Records) != 1 || string(p.Records[0].JSON()) != want {
		t.Fatalf("records %+v, want %s", p.Records, want)
	}
	if r, rejection := article.ParseLabelRecord(p.Records[0].JSON(), at,
		article.Address{}); rejection != nil || r.Fingerprint != 9 {
		t.Errorf("read as %+v, %v", r, rejection)
	}
	if diff := cmp.Diff([]string{"in/0/6: ham: the new space has no result of the article with a " +
		"fingerprint"}, p.Lost); diff != "" {
		t.Error(diff)
	}
}

// A mark that counts is carried unless it would label a cluster that does not have the label. What
// says that a contact is harmless is carried once.
func TestLabelsOfContacts(t *testing.T) {
	const contact = "name:alexis17"
	mark := func(name string, votes, hams int) label.Mark {
		m := label.Mark{
			Name: name, Votes: votes * label.Vote, Clicks: votes, Hams: hams, Reach: 6,
			Clicked: []label.By{{By: "alice", At: at, Record: "labels/0/0", ClusterID: "in/0/1"}},
		}
		for range hams {
			m.Harmless = append(m.Harmless, label.By{By: "bob", At: at, Record: "labels/0/9", Label: "ham"})
		}
		return m
	}
	first := 1
	for name, tt := range map[string]struct {
		clusters   []cluster.Cluster
		partition  *int
		marks      label.Marks
		off        bool
		want, lost []string
	}{
		"all have the label": {
			clusters: []cluster.Cluster{
				clusterOf("in/0/1", "spam", contact), clusterOf("in/0/2", "spam@"+contact, contact),
				clusterOf("in/0/3", "", "name:starry17"),
			},
			marks: label.Marks{mark("spam", 1, 0)}, want: []string{"name:alexis17 spam"},
		},
		"one does not": {
			clusters: []cluster.Cluster{
				clusterOf("in/0/1", "spam", contact), clusterOf("in/0/2", "", contact),
			},
			marks: label.Marks{mark("spam", 1, 0)},
			lost:  []string{"name:alexis17: spam: clusters that share the contact do not have the label"},
		},
		"one of another partition does not": {
			clusters: []cluster.Cluster{
				clusterOf("in/1/1", "spam", contact), clusterOf("in/0/2", "", contact),
			},
			partition: &first, marks: label.Marks{mark("spam", 1, 0)}, want: []string{"name:alexis17 spam"},
		},
		"harmless": {
			marks: label.Marks{mark("scam", 1, 1), mark("spam", 3, 1)},
			want:  []string{"name:alexis17 spam", "name:alexis17 ham"},
		},
		"contacts are off in the new space": {marks: label.Marks{mark("spam", 1, 0)}, off: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := oldOf(tt.clusters...)
			o.Contacts = []carry.Contact{{
				Contact: cluster.Contact{Name: contact, Marks: tt.marks}, Partition: tt.partition,
			}}
			// Clusters have a place, so that nothing is said of them.
			n := &carry.New{Contacts: !tt.off}
			for _, c := range tt.clusters {
				n.Clusters = append(n.Clusters, made("in/9/9", c.ID(), 1))
			}
			p := carry.Carry(o, n)
			p.Records = p.Records[p.Clusters:]
			if diff := cmp.Diff(tt.want, said(&p)) + cmp.Diff(tt.lost, p.Lost); diff != "" {
				t.Error(diff)
			}
			for _, r := range p.Records {
				if _, rejection := article.ParseLabelRecord(r.JSON(), at, article.Address{}); rejection != nil {
					t.Errorf("%s: %v", r.JSON(), rejection)
				}
			}
		})
	}
}
