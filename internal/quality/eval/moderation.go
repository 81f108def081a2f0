package eval

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
)

// A Moderator reads a stream. If a positive document, such as spam, does not carry the label, the
// moderator labels its cluster, which also marks the contacts of the cluster's founder.
type Moderator struct {
	Feedback Feedback // empty: [ArticleFeedback]
	// Late is how many more documents arrive before the moderator looks at one.
	Late int
	// Every is of how many honest documents that carry the label the moderator reports one. 0 is all.
	Every int
}

// Feedback says what a moderator does about an honest document that carries the label.
type Feedback string

// The kinds of feedback.
const (
	NoFeedback      Feedback = "none"
	ArticleFeedback Feedback = "article" // an exception for this document
	// ContactFeedback says that the contact by which the document has the label is harmless. It is an
	// exception where the document has the label by its text.
	ContactFeedback Feedback = "contact"
)

// A Moderation is what labels save a moderator of a stream.
type Moderation struct {
	Work
	// Parts has the work in each part of the stream. Parts have equally many documents, give or take
	// one. A label of one part holds in the later parts.
	Parts []Work `json:"parts"`
}

// Work counts what a moderator does in a stream, or in a part of it. A document without a label is
// neither positive nor honest. A document without words, or which is no article, joins no cluster:
// it is neither caught nor hit, and costs no click.
type Work struct {
	Documents int `json:"documents"`
	Positive  int `json:"positive"`
	Caught    int `json:"caught"` // positive documents that carried the label when they arrived
	Honest    int `json:"honest"` // with another label
	Hit       int `json:"hit"`    // honest documents that carried the label when they arrived
	// Later counts honest documents that got the label after they had arrived, by a contact.
	Later    int `json:"hit_later"`
	Clicks   int `json:"clicks"`   // clusters that were labelled by hand
	Feedback int `json:"feedback"` // reports of honest documents that carried the label

	CaughtShare    float64 `json:"caught_share"`     // of the positive documents
	HitPerThousand float64 `json:"hit_per_thousand"` // honest documents
}

func (w *Work) add(o Work) {
	w.Documents += o.Documents
	w.Positive += o.Positive
	w.Caught += o.Caught
	w.Honest += o.Honest
	w.Hit += o.Hit
	w.Later += o.Later
	w.Clicks += o.Clicks
	w.Feedback += o.Feedback
}

func (w *Work) shares() {
	if w.Positive > 0 {
		w.CaughtShare = float64(w.Caught) / float64(w.Positive)
	}
	if w.Honest > 0 {
		w.HitPerThousand = float64(1000*w.Hit) / float64(w.Honest)
	}
}

// The labels that the moderator uses. Ham wins over spam.
const spamLabel, hamLabel = "spam", "ham"

// Moderate returns the work of the options' moderator on the documents, in all and in parts. They
// are clustered at this threshold. Package space makes clusters, labels and marks of contacts, as
// in the daemon.
func (p *Prepared) Moderate(
	ctx context.Context, threshold float64, o Options,
) (m Moderation, err error) {
	now := p.now.UTC().Truncate(time.Millisecond) // as labels have it
	d := desk{
		Moderator: o.Moderator, positive: o.Positive, now: now, docs: p.docs, prints: p.prints,
		arrived: make([]arrival, len(p.docs)), honest: make(map[string][]int),
	}
	if d.space, err = p.newSpace(threshold, now); err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, d.space.Close()) }()
	n := len(p.docs)
	m.Parts = make([]Work, min(o.Parts, n))
	for part := range m.Parts {
		w := &m.Parts[part]
		for i := part * n / len(m.Parts); i < (part+1)*n/len(m.Parts); i++ {
			if err := errors.Join(ctx.Err(), d.arrive(i, w)); err != nil {
				return m, err
			}
			if seen := i - o.Moderator.Late; seen >= 0 {
				if err := d.judge(seen, w); err != nil {
					return m, err
				}
			}
		}
		m.add(*w)
		w.shares()
	}
	m.shares()
	return m, nil
}

// newSpace returns an empty space. Labels mark contacts there if contacts.join is true.
func (p *Prepared) newSpace(threshold float64, now time.Time) (*space.Space, error) {
	index, err := p.method.NewIndex(threshold)
	if err != nil {
		return nil, err
	}
	store, err := state.OpenInMemory(state.Identity{Input: inputTopic})
	if err != nil {
		return nil, err
	}
	rule := space.OptionsOf(p.config, threshold)
	rule.Divided, rule.Stories = false, space.Stories{}
	rule.Labels.On, rule.Labels.Allow, rule.Labels.Flood = true, []string{hamLabel}, 1
	return space.New(index, store, rule, func() time.Time { return now }), nil
}

// inputTopic and labelsTopic are where documents and labels would stand in Kafka.
const inputTopic, labelsTopic = "articles", "labels"

// A desk has all that a moderator has seen and written.
type desk struct {
	Moderator
	positive string
	now      time.Time
	docs     []Document
	prints   []Print
	space    *space.Space

	arrived []arrival
	honest  map[string][]int      // documents that do not carry the label, by cluster
	due     []checkpoint.Due      // what the last batch has left
	records []article.LabelRecord // that were not applied yet
	written int64                 // records
	hits    int                   // honest documents that carry the label, and were seen
}

// source returns where a document would stand in Kafka.
func source(document int) article.Address {
	return article.Address{Topic: inputTopic, Offset: int64(document)}
}

// An arrival keeps the result of a document.
type arrival struct {
	founder  article.Address // of its cluster; zero without a cluster
	size     int             // of the cluster
	position uint64
	labels   bool // it carried the label
}

// arrive applies the label records and then takes a document in.
func (d *desk) arrive(i int, w *Work) error {
	a := &fingerprint.Article{
		Source: source(i), PublishedAt: d.docs[i].PublishedAt,
		Fingerprint: d.prints[i].Fingerprint, Comparable: d.prints[i].OK,
	}
	b, err := d.space.AssignLabelled(
		space.LabelWork{Due: d.due, Records: d.records, Room: checkpoint.MaxCorrections},
		slices.Values([]*fingerprint.Article{a}), 1)
	if err == nil {
		err = d.space.Commit(b, d.space.Meta())
	}
	if err != nil {
		return err
	}
	d.due, d.records = b.Due, d.records[len(b.Labelled):]
	for _, c := range b.Changes() {
		if c.Contact != "" && slices.Contains(c.Labels, spamLabel) {
			w.Later += len(d.honest[c.ClusterID])
			delete(d.honest, c.ClusterID)
		}
	}
	w.Documents++
	became := &b.Assignments[0]
	if became.Status != article.Unclustered {
		if d.arrived[i].founder, err = article.ParseAddress(became.ClusterID); err != nil {
			return err
		}
		d.arrived[i].size, d.arrived[i].position = became.Size, became.Position
		d.arrived[i].labels = became.Carried != nil && slices.Contains(became.Carried.Labels, spamLabel)
	}
	d.count(i, became.ClusterID, w)
	return nil
}

func (d *desk) count(i int, cluster string, w *Work) {
	labels := d.arrived[i].labels
	switch d.docs[i].Label {
	case "":
	case d.positive:
		w.Positive++
		if labels {
			w.Caught++
		}
	default:
		w.Honest++
		if labels {
			w.Hit++
		} else if cluster != "" {
			d.honest[cluster] = append(d.honest[cluster], i)
		}
	}
}

// judge has the moderator look at a document that has arrived.
func (d *desk) judge(i int, w *Work) error {
	a := &d.arrived[i]
	if d.docs[i].Label == "" || a.founder == (article.Address{}) {
		return nil
	}
	c, ok, err := d.space.Find(a.founder)
	if err != nil || !ok {
		return err
	}
	carried := label.Carry(c.Labels.All(), a.size, []string{hamLabel})
	labels, positive := slices.Contains(carried.Labels, spamLabel), d.docs[i].Label == d.positive
	switch {
	case positive && !labels:
		w.Clicks++
		d.write(spamLabel, a.founder, article.Targeted{})
	case !positive && labels && a.labels && d.Feedback != NoFeedback:
		if d.hits++; d.hits%max(1, d.Every) == 0 {
			w.Feedback++
			d.report(i, carried.By)
		}
	}
	return nil
}

// report reports an honest document that has the label, by these contacts.
func (d *desk) report(i int, by []article.LabelledBy) {
	if d.Feedback == ContactFeedback && len(by) > 0 {
		for _, l := range by {
			d.write(hamLabel, article.Address{},
				article.Targeted{Target: article.TargetContact, Contact: l.Contact})
		}
		return
	}
	a := &d.arrived[i]
	d.write(hamLabel, a.founder, article.Targeted{
		Target: article.TargetArticle, ArticleID: source(i).String(), Source: source(i),
		MemberPosition: a.position, Fingerprint: article.Fingerprint(d.prints[i].Hash),
	})
}

// write writes a label record, which is applied before the next document arrives.
func (d *desk) write(name string, cluster article.Address, t article.Targeted) {
	record := article.Address{Topic: labelsTopic, Offset: d.written}
	d.written++
	d.records = append(d.records, article.LabelRecord{
		Cluster: cluster, Action: article.AddLabel, Targeted: t,
		Label: article.Label{Name: name, At: d.now, Record: record.String()},
	})
}
