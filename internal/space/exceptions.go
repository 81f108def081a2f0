package space

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
)

// labelsOfArticle returns the labels of an article of a cluster, by its fingerprint: with an
// exception, those of both.
func labelsOfArticle(c *cluster.Cluster, hash uint64) []article.Label {
	labels := c.Labels.All()
	for _, e := range c.Exceptions.All() {
		if e.Fingerprint == article.Fingerprint(hash) {
			return label.Except(labels, e.Labels)
		}
	}
	return labels
}

// exceptions returns the labels of articles that have exceptions, by their fingerprints.
func (m *member) exceptions() map[article.Fingerprint][]article.Label {
	if m.excepted == nil {
		m.excepted = make(map[article.Fingerprint][]article.Label)
		labels := m.Labels.All()
		for _, e := range m.Exceptions.All() {
			m.excepted[e.Fingerprint] = label.Except(labels, e.Labels)
		}
	}
	return m.excepted
}

// carriedBy returns what the result of an article with this fingerprint carries, which is what its
// cluster carries, unless there is an exception.
func (m *member) carriedBy(print article.Fingerprint, allow []string) *label.Carried {
	if m.Exceptions != "" {
		if labels, ok := m.exceptions()[print]; ok {
			return new(label.Carry(labels, m.Size, allow))
		}
	}
	return m.carries(allow)
}

// carriesAsWith reports whether all articles of a cluster carry what they carried with other labels
// of it.
func (m *member) carriesAsWith(before label.Set, allow []string) bool {
	was, is := before.All(), m.Labels.All()
	reaches := label.Reaches(slices.Concat(was, is), m.Size)
	return !slices.ContainsFunc(append(reaches, m.Size), func(size int) bool {
		return !slices.Equal(label.Carry(was, size, allow).Labels, label.Carry(is, size, allow).Labels)
	})
}

// note notes a change of what a cluster carries, and what its first articles, and those that have
// exceptions, carry from then on.
func (b *Batch) note(m *member, allow []string, change article.LabelChange) {
	labels := m.Labels.All()
	told := checkpoint.Correction{LabelChange: change, Excepted: m.exceptedAt(m.Size, allow)}
	for _, size := range label.Reaches(labels, m.Size) {
		told.Early = append(told.Early, checkpoint.Early{
			Members: size, Labels: names(label.Carry(labels, size, allow)),
			Excepted: m.exceptedAt(size, allow),
		})
	}
	b.changes = append(b.changes, told)
}

// exceptedAt returns the articles that carry other labels than the cluster does with so many
// articles, by their exceptions.
func (m *member) exceptedAt(size int, allow []string) (all []checkpoint.Excepted) {
	of := label.Carry(m.Labels.All(), size, allow).Labels
	for _, e := range m.Exceptions.All() {
		carried := label.Carry(m.exceptions()[e.Fingerprint], size, allow)
		if !slices.Equal(carried.Labels, of) {
			all = append(all, checkpoint.Excepted{
				Source: e.Source, Fingerprint: e.Fingerprint, Labels: names(carried),
			})
		}
	}
	return all
}

// names returns the labels that results carry, as JSON has them: an empty array where there are
// none.
func names(c label.Carried) []string { return append([]string{}, c.Labels...) }

// except puts a label on one article of a cluster, or takes it off. It holds for the later articles
// that are equal to it, and marks no contact. The first label that calls an article of a cluster
// harmless counts against the contacts by which the cluster has labels.
func (s *Space) except(m *member, r *article.LabelRecord, out *Batch) Labelled {
	done := Labelled{LabelRecord: *r}
	position, allow := s.rule.State().Next, s.options.Labels.Allow
	with, doubted, by := *r, m.doubted(r), -1
	if r.Action == article.AddLabel {
		doubted, by = s.doubts(m, r), 1
		with.Marked = doubted
	}
	next, err := m.Exceptions.Apply(&with, position)
	if err != nil {
		done.Rejection = tooManyOf(r, err)
		return done
	}
	if done.Changed = next != m.Exceptions; !done.Changed {
		return done
	}
	before := m.carriedBy(r.Fingerprint, allow).Labels
	m.Exceptions, m.excepted, m.touched = next, nil, true
	s.keep(m)
	for _, name := range doubted {
		s.doubt(contactKey{m.Space, name}, by, r, out)
	}
	after := m.carriedBy(r.Fingerprint, allow)
	if slices.Equal(before, after.Labels) {
		return done
	}
	out.room--
	done.Carried = &article.LabelChange{
		ClusterID: m.id, Label: r.Name, Action: r.Action, Labels: names(*after),
		By: r.By, At: r.At, Note: r.Note, Position: position, Record: r.Record,
		Target: article.TargetArticle,
	}
	out.changes = append(out.changes, checkpoint.Correction{
		LabelChange: *done.Carried,
		Article: &article.Member{
			ArticleID: r.ArticleID, Position: r.MemberPosition, Source: r.Source,
		},
	})
	return done
}

// doubted returns the contacts against which a label of an article counts that is to be taken off.
func (m *member) doubted(r *article.LabelRecord) []string {
	for _, e := range m.Exceptions.All() {
		for _, l := range e.Labels {
			if e.Fingerprint == r.Fingerprint && l.Name == r.Name && l.Trial == r.Trial {
				return l.Marked
			}
		}
	}
	return nil
}

// doubts returns the contacts against which a label on an article of a cluster counts.
func (s *Space) doubts(m *member, r *article.LabelRecord) (contacts []string) {
	allow := s.options.Labels.Allow
	if !s.options.Marks || r.Trial || !slices.Contains(allow, r.Name) {
		return nil
	}
	for _, e := range m.Exceptions.All() {
		if slices.ContainsFunc(e.Labels, func(l article.Label) bool { return l.Marked != nil }) {
			return nil
		}
	}
	for _, l := range m.Labels.All() {
		if l.Contact != "" && !slices.Contains(allow, l.Name) && !cluster.IsErased(l.Contact) &&
			!slices.Contains(contacts, l.Contact) {
			contacts = append(contacts, l.Contact)
		}
	}
	return contacts
}

// doubt counts a cluster against the marks of a contact, or takes it back if by is -1.
func (s *Space) doubt(key contactKey, by int, r *article.LabelRecord, out *Batch) {
	c := s.contact(key)
	for _, m := range c.Marks {
		if slices.Contains(s.options.Labels.Allow, m.Name) {
			continue
		}
		counted := m.Counts(c.Name)
		m.Except(by)
		s.set(c, m)
		if counted && !m.Counts(c.Name) {
			out.endedMarks++
			out.due(key.value, []string{key.name}, &r.Label, false)
		}
	}
}

// tooManyOf returns why a label for an article has no room.
func tooManyOf(r *article.LabelRecord, err error) *article.Rejection {
	reason := fmt.Sprintf("article %.200q of cluster %s has %d labels of its own, and may have "+
		"no more: remove one first", r.ArticleID, r.Cluster, article.MaxLabels)
	if errors.Is(err, label.ErrTooManyExceptions) {
		reason = fmt.Sprintf("cluster %s has labels of %d single articles, and may have no more: remove "+
			"one first, or label the cluster", r.Cluster, article.MaxExceptions)
	}
	return &article.Rejection{Class: article.TooManyLabels, Reason: reason}
}
