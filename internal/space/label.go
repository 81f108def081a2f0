package space

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/fingerprint"
	"github.com/clusterd/clusterd/internal/label"
)

// Labels say what labels do in a space. The zero value is that there are none.
type Labels struct {
	On    bool
	Allow []string // that win over the others
	Kept  int64    // milliseconds by which a cluster that has labels outlives others
	Flood float64  // the share of articles beyond which a label is to be looked at
}

func labelsOf(c *config.Config) Labels {
	l := Labels{On: c.Labels.Topic != "", Allow: c.Labels.Allow, Flood: c.Labels.Flood}
	if c.Cluster.Window > 0 {
		l.Kept = max(0, (c.Labels.Keep - c.Cluster.Window).Milliseconds())
	}
	return l
}

// A Labelled is what became of a label record.
type Labelled struct {
	article.LabelRecord
	Rejection *article.Rejection // nil: it was applied
	Changed   bool               // of the cluster, or of stories, something is another
	// Carried is the change of what the cluster carries, nil for none.
	Carried *article.LabelChange
}

// CountLabels returns how many label records of the batch changed something, by action, and how
// many articles have results that carry labels that are not on trial.
func (b *Batch) CountLabels() (applied map[string]int, articles int) {
	applied = make(map[string]int)
	for i := range b.Labelled {
		if l := &b.Labelled[i]; l.Changed {
			applied[string(l.Action)]++
		}
	}
	for i := range b.Assignments {
		if c := b.Assignments[i].Carried; c != nil && len(c.Labels) > 0 {
			articles++
		}
	}
	return applied, articles
}

// A Flood is what a batch changes of the flood guard.
type Flood struct {
	Counts map[string]label.FloodCount // as the checkpoint has them; nil for none
	Above  []string                    // labels that hit too many articles since this batch
}

// AssignLabelled applies label records, in order, and then does what [Space.Assign] does. Of a
// cluster of another space nothing is known.
func (s *Space) AssignLabelled(
	records []article.LabelRecord, articles iter.Seq[*fingerprint.Article], n int,
) (Batch, error) {
	out := s.begin(n)
	for i := range records {
		out.Labelled = append(out.Labelled, s.label(&records[i], &out))
	}
	return s.assignAll(out, articles)
}

// label applies a label record before the next article.
func (s *Space) label(r *article.LabelRecord, out *Batch) Labelled {
	done := Labelled{LabelRecord: *r}
	if r.Action == article.ResumeLabel {
		return done // nothing is suspended: producers for earlier versions send it
	}
	if r.Action.OfStories() {
		done.Rejection = s.byHand(r)
		done.Changed = done.Rejection == nil
		return done
	}
	if r.Action == article.EraseText {
		done.Changed, done.Rejection = s.erase(r, out)
		return done
	}
	m := s.labelled(r.Cluster)
	if m == nil {
		done.Rejection = unknownCluster(r.Cluster)
		return done
	}
	position := s.rule.State().Next
	set, err := m.Labels.Apply(r, position)
	if errors.Is(err, label.ErrTooMany) {
		done.Rejection = &article.Rejection{
			Class: article.TooManyLabels,
			Reason: fmt.Sprintf("cluster %s has %d labels, and may have no more: remove one first",
				r.Cluster, article.MaxLabels),
		}
		return done
	}
	if set == m.Labels {
		return done
	}
	before := m.carries(s.options.Labels.Allow).Labels
	m.Labels, m.carried, m.touched, done.Changed = set, nil, true, true
	s.keep(m)
	if after := m.carries(s.options.Labels.Allow).Labels; !slices.Equal(before, after) {
		done.Carried = &article.LabelChange{
			ClusterID: m.id, Label: r.Name, Action: r.Action, Labels: append([]string{}, after...),
			By: r.By, At: r.At, Note: r.Note, Position: position, Record: r.Record,
		}
	}
	return done
}

func unknownCluster(founder article.Address) *article.Rejection {
	return &article.Rejection{
		Class:  article.UnknownCluster,
		Reason: fmt.Sprintf("there is no cluster %s, or it has expired", founder),
	}
}

// labelled returns the cluster of a founder, nil where it is not there or has expired.
func (s *Space) labelled(founder article.Address) *member {
	m := s.kept(founder)
	if m == nil || s.rule.Expired(m.Space, m.SeenAs()) {
		return nil
	}
	return m
}

// keep has a cluster outlive others while it has labels.
func (s *Space) keep(m *member) {
	kept := s.options.Labels.Kept
	if m.Labels == "" {
		kept = 0
	}
	if before := m.SeenAs(); kept != m.Kept {
		m.Kept = kept
		s.rule.Seen(m.Seq, before, m.SeenAs())
	}
}

// carries returns what results of the cluster carry.
func (m *member) carries(allow []string) *label.Carried {
	if m.carried == nil {
		m.carried = new(m.Labels.Carried(allow))
	}
	return m.carried
}

// carry returns what the result of an article of a cluster carries, nil for nothing.
func (s *Space) carry(m *member, position uint64, out *Batch) *label.Carried {
	if m.Labels == "" || !s.options.Labels.On {
		return nil
	}
	all := m.carries(s.options.Labels.Allow)
	if len(all.Labels) == 0 && len(all.Trial) == 0 {
		return nil
	}
	out.guard.Count(position, all.Labels)
	return all
}

// flood returns what the batch changes of the guard.
func (s *Space) flood(g *label.Guard) (f Flood) {
	f.Counts = g.Flood(s.rule.State().Next)
	before := s.lastGuard().Above()
	for _, name := range g.Above() {
		if !slices.Contains(before, name) {
			f.Above = append(f.Above, name)
		}
	}
	return f
}

// FloodLabels returns the labels that hit too many articles, sorted, as of what is committed.
func (s *Space) FloodLabels() []string { return s.guard.Above() }

// newGuard returns the flood guard as the store has it.
func (s *Space) newGuard() *label.Guard {
	m := s.store.Meta()
	var flood map[string]label.FloodCount
	if c := m.Checkpoint; c != nil && c.Labels != nil {
		flood = c.Labels.Flood
	}
	return label.NewGuard(s.options.Labels.Flood, m.Next, flood)
}
