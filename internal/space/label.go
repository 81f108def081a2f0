package space

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
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

// LabelCounts are what a batch did about labels.
type LabelCounts struct {
	Applied map[string]int // label records that changed something, by action
	// Articles have results that carry a label that is not on trial, and ByContact of them one that
	// their cluster has by a contact.
	Articles, ByContact int
	EndedMarks          int // which no longer label, since somebody said that the contact is harmless
}

// CountLabels returns what the batch did about labels.
func (b *Batch) CountLabels() LabelCounts {
	n := LabelCounts{Applied: make(map[string]int), EndedMarks: b.endedMarks}
	for i := range b.Labelled {
		if l := &b.Labelled[i]; l.Changed {
			n.Applied[string(l.Action)]++
		}
	}
	for i := range b.Assignments {
		c := b.Assignments[i].Carried
		if c == nil || len(c.Labels) == 0 {
			continue
		}
		n.Articles++
		if slices.ContainsFunc(c.By, func(by article.LabelledBy) bool { return !by.Trial }) {
			n.ByContact++
		}
	}
	return n
}

// Changes returns the changes of what clusters and single articles carry, of which their members
// are to be told, in the order in which they were made.
func (b *Batch) Changes() []checkpoint.Correction { return b.changes }

// A Flood is what a batch changes of the flood guard.
type Flood struct {
	Counts map[string]label.FloodCount // as the checkpoint has them; nil for none
	Above  []string                    // labels that hit too many articles since this batch
}

// A LabelWork is what a batch does about labels before its articles.
type LabelWork struct {
	// Due and Adopt are what the batch before has left.
	Due     []checkpoint.Due
	Adopt   *uint64
	Records []article.LabelRecord // then, in order
	// Room is how many clusters may change. Records for which there is no room are left, and what
	// those before them do to further clusters is due later.
	Room int
}

// AssignLabelled does what is due about labels, applies label records, in order, as many as there
// is room for, and then does what [Space.Assign] does. Of a cluster of another space nothing is
// known.
func (s *Space) AssignLabelled(
	work LabelWork, articles iter.Seq[*fingerprint.Article], n int,
) (Batch, error) {
	out := s.newBatch(n)
	out.Due, out.Adopt, out.room = slices.Clone(work.Due), work.Adopt, work.Room
	s.bringInStep(&out)
	s.adopt(&out)
	for i := range work.Records {
		if len(out.Due) > 0 || out.Adopt != nil || out.room <= 0 {
			break
		}
		out.Labelled = append(out.Labelled, s.label(&work.Records[i], &out))
		s.bringInStep(&out)
	}
	return s.assignAll(out, articles)
}

// bringInStep brings clusters in step with the marks of the contacts that are due.
func (s *Space) bringInStep(out *Batch) {
	for len(out.Due) > 0 && s.err == nil && s.step(&out.Due[0], out) {
		out.Due = out.Due[1:]
	}
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
	if r.Action == article.Erase && r.Target == article.TargetContact {
		done.Changed = s.eraseContact(r, out)
		return done
	}
	if r.Action == article.Erase {
		done.Changed, done.Rejection = s.erase(r, out)
		return done
	}
	if r.Target == article.TargetContact {
		return s.labelContact(r, out)
	}
	m := s.labelled(r.Cluster)
	if m == nil {
		done.Rejection = unknownCluster(r.Cluster)
		return done
	}
	if r.Target == article.TargetArticle {
		return s.except(m, r, out)
	}
	before := m.Labels
	if r.Action == article.RemoveLabel {
		done.Changed = s.unlabel(m, r, out)
	} else {
		done.Changed, done.Rejection = s.labelByHand(m, r, out)
	}
	if !done.Changed {
		return done
	}
	if allow := s.options.Labels.Allow; !m.carriesAsWith(before, allow) {
		out.room--
		done.Carried = &article.LabelChange{
			ClusterID: m.id, Label: r.Name, Action: r.Action, Labels: names(*m.carries(allow)),
			By: r.By, At: r.At, Note: r.Note, Position: s.rule.State().Next, Record: r.Record,
		}
		out.note(m, allow, *done.Carried)
	}
	return done
}

// labelByHand puts a label on a cluster, and has it mark the contacts of the founder. One that the
// cluster has by hand stays.
func (s *Space) labelByHand(
	m *member, r *article.LabelRecord, out *Batch,
) (changed bool, rejection *article.Rejection) {
	if l, has := m.Labels.Get(r.Name, r.Trial); has && l.Contact == "" {
		return false, nil
	}
	l := r.Label
	l.Position = s.rule.State().Next
	set, err := m.Labels.With(l)
	if errors.Is(err, label.ErrTooMany) {
		return false, &article.Rejection{
			Class: article.TooManyLabels,
			Reason: fmt.Sprintf("cluster %s has %d labels, and may have no more: remove one first",
				r.Cluster, article.MaxLabels),
		}
	}
	s.relabel(m, set)
	s.mark(m, l, out)
	return true, nil
}

// mark has a label that somebody has put on a cluster mark contacts, and notes which clusters that
// concerns.
func (s *Space) mark(m *member, l article.Label, out *Batch) {
	l, rare := s.click(m, l)
	set, _ := m.Labels.With(l) // it is there already
	s.relabel(m, set)
	out.due(m.Space, rare, &l, true)
}

// unlabel takes a label off a cluster, and back what it has marked.
func (s *Space) unlabel(m *member, r *article.LabelRecord, out *Batch) (changed bool) {
	l, has := m.Labels.Get(r.Name, r.Trial)
	if !has {
		return false
	}
	s.unclick(m, &l)
	s.relabel(m, m.Labels.Without(r.Name, r.Trial))
	out.due(m.Space, l.Marked, &r.Label, false)
	return true
}

// due notes that the clusters of contacts are to be brought in step with their marks, because of a
// label record.
func (b *Batch) due(value string, contacts []string, l *article.Label, click bool) {
	for _, contact := range contacts {
		b.Due = append(b.Due, checkpoint.Due{
			Contact: contact, Space: value, Click: click, Label: l.Name, By: l.By, At: l.At, Note: l.Note,
			Record: l.Record,
		})
	}
}

// maxAdopted is how many labelled clusters a batch adopts.
const maxAdopted = 1000

// adopt has the labels of an earlier version, which marked no contacts, mark them: each is a click.
func (s *Space) adopt(out *Batch) {
	if out.Adopt == nil {
		return
	}
	v, err := s.View()
	if err != nil {
		s.fail(err)
		return
	}
	defer v.Release()
	labelled := v.Labelled()
	from, _ := slices.BinarySearchFunc(labelled, *out.Adopt,
		func(c singlepass.Centre, seq uint64) int { return cmp.Compare(c.Seq, seq) })
	for _, centre := range labelled[from:min(len(labelled), from+maxAdopted)] {
		if s.bringInStep(out); len(out.Due) > 0 || out.room <= 0 {
			out.Adopt = new(centre.Seq)
			return
		}
		if m := s.living(centre.Seq); m != nil {
			for _, l := range m.Labels.All() {
				if l.Contact == "" {
					s.mark(m, l, out)
				}
			}
		}
		out.Adopt = new(centre.Seq + 1)
	}
	if s.bringInStep(out); from+maxAdopted >= len(labelled) {
		out.Adopt = nil
	}
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
	if !m.Labelled() {
		kept = 0
	}
	if before := m.SeenAs(); kept != m.Kept {
		m.Kept = kept
		s.rule.Seen(m.Seq, before, m.SeenAs())
	}
}

// carries returns what results of the cluster carry.
func (m *member) carries(allow []string) *label.Carried {
	if m.carried == nil || m.bounded {
		labels := m.Labels.All()
		m.bounded = slices.ContainsFunc(labels, func(l article.Label) bool { return l.Reach > 0 })
		m.carried = new(label.Carry(labels, m.Size, allow))
	}
	return m.carried
}

// carry returns what the result of an article of a cluster carries, nil for nothing.
func (s *Space) carry(m *member, a *fingerprint.Article, position uint64) *label.Carried {
	if !m.Labelled() || !s.options.Labels.On {
		return nil
	}
	all := m.carriedBy(article.Fingerprint(a.Fingerprint.Hash), s.options.Labels.Allow)
	if len(all.Labels) == 0 && len(all.Trial) == 0 {
		return nil
	}
	s.guards.last().Count(position, all.Labels)
	return all
}

// FloodLabels returns the labels that hit too many articles, sorted, as of what is committed.
func (s *Space) FloodLabels() []string { return s.guards.all[0].Above() }

// Marks counts the marks of contacts, as of what is committed.
func (s *Space) Marks() label.Tally { return s.store.Marks() }
