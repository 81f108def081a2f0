package checkpoint

import (
	"errors"
	"fmt"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/label"
)

// Labels are how far a space is with labels. What a checkpoint has of it is never written to.
type Labels struct {
	Topic string `json:"topic"` // of the labels
	// Offsets are, by partition of that topic, the first that were not read.
	Offsets map[int]int64 `json:"offsets"`
	// Flood is, by label, what the flood guard counts.
	Flood map[string]label.FloodCount `json:"flood,omitempty"`
	// Corrections are the changes of which not all members have been told.
	Corrections []Correction `json:"corrections,omitempty"`
	// Due are the contacts whose clusters are not in step with their marks yet.
	Due []Due `json:"due,omitempty"`
	// Adopt is, where an earlier version has labelled the clusters, the seq of the first cluster whose
	// labels have not marked contacts yet; nil for none.
	Adopt *uint64 `json:"adopt,omitempty"`
	// Since is, where labels were off after a space had some, the position from which on results carry
	// labels again: no label record was applied before it while they were off.
	Since uint64 `json:"since,omitempty"`
}

// A Due is a contact whose clusters are to be brought in step with its marks, or are to forget it,
// and because of which label record.
type Due struct {
	Contact string `json:"contact"`
	Space   string `json:"space,omitempty"` // the value to which it belongs
	// Erase is whether the clusters with seqs below Before are to forget it.
	Erase  bool   `json:"erase,omitempty"`
	Before uint64 `json:"before,omitempty"`
	// Click is whether clusters without a label may get it: somebody has labelled another one.
	Click  bool      `json:"click,omitempty"`
	Label  string    `json:"label,omitempty"` // empty where the contact is erased
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at"`
	Note   string    `json:"note,omitempty"`
	Record string    `json:"record"`
}

// A Correction is a change of which the members from a position on have not been told.
type Correction struct {
	article.LabelChange
	Next uint64 `json:"next"`
	// Article is the one that the change is of; nil for all members of the cluster.
	Article *article.Member `json:"article,omitempty"`
	// Excepted are the articles that carry other labels than LabelChange says, by their exceptions.
	Excepted []Excepted `json:"excepted,omitempty"`
	// Early are the first members, where a label by a contact reaches only these, by their numbers.
	Early []Early `json:"early,omitempty"`
}

// An Early says what the first articles of a cluster carry, as far as they are no earlier ones.
type Early struct {
	Members  int        `json:"members"`
	Labels   []string   `json:"labels"`
	Excepted []Excepted `json:"excepted,omitempty"`
}

// An Excepted is what the articles of a cluster that have one fingerprint carry.
type Excepted struct {
	Source      string              `json:"source"` // address of one of them
	Fingerprint article.Fingerprint `json:"fingerprint"`
	Labels      []string            `json:"labels"`
}

// LabelsOf returns what a member carries from the change on.
func (c *Correction) LabelsOf(m *article.Member) []string {
	labels, excepted := c.Labels, c.Excepted
	for i := range c.Early {
		if e := &c.Early[i]; m.Size > 0 && m.Size <= e.Members {
			labels, excepted = e.Labels, e.Excepted
			break
		}
	}
	for i := range excepted {
		e := &excepted[i]
		if m.Fingerprint != nil && *m.Fingerprint == e.Fingerprint ||
			m.Fingerprint == nil && m.Source.String() == e.Source {
			return e.Labels
		}
	}
	return labels
}

func (c *Correction) check() error {
	l := article.Label{Name: c.Label, By: c.By, At: c.At, Note: c.Note, Record: c.Record}
	_, err := article.ParseAddress(c.ClusterID)
	most := article.MaxLabels
	if c.Article != nil {
		most *= 2 // those of the cluster, and its own
	}
	if err = errors.Join(err, l.Check()); err != nil || c.Next > c.Position ||
		c.Position > maxNextPosition || len(c.Labels) > most || len(c.Early) > article.MaxLabels ||
		len(c.Excepted) > article.MaxExceptions {
		return fmt.Errorf("a pending correction of cluster %.80q", c.ClusterID)
	}
	return nil
}

// MaxCorrections is how many corrections may be pending.
const MaxCorrections = 100

func (p *Labels) validate() error {
	if p == nil {
		return nil
	}
	if p.Topic == "" || p.Offsets == nil {
		return errors.New("labels without a topic or offsets")
	}
	for partition, offset := range p.Offsets {
		if partition < 0 || offset < 0 || offset > maxNextOffset {
			return fmt.Errorf("offset %d of partition %d of the labels", offset, partition)
		}
	}
	for name, count := range p.Flood {
		err := article.CheckLabelName(name)
		if err != nil || min(count.Hits, count.Before) < 0 ||
			max(count.Hits, count.Before) > label.Bucket {
			return fmt.Errorf("%d hits of label %.80q, after %d", count.Hits, name, count.Before)
		}
	}
	if len(p.Corrections) > MaxCorrections {
		return fmt.Errorf("%d pending corrections: at most %d are possible", len(p.Corrections),
			MaxCorrections)
	}
	for i := range p.Due {
		d := &p.Due[i]
		l := article.Label{Name: d.Label, By: d.By, At: d.At, Note: d.Note, Record: d.Record}
		if d.Erase {
			l.Name = string(article.Erase) // it has no label
		}
		if err := l.Check(); err != nil || d.Contact == "" {
			return fmt.Errorf("a contact that is due, %.80q", d.Contact)
		}
	}
	for i := range p.Corrections {
		if err := p.Corrections[i].check(); err != nil {
			return err
		}
	}
	return nil
}
