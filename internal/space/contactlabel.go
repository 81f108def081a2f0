package space

import (
	"fmt"
	"math"
	"slices"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/label"
)

// labelContact puts a label on a contact, or takes it off. A label that is allowed says that the
// contact is harmless.
func (s *Space) labelContact(r *article.LabelRecord, out *Batch) Labelled {
	done := Labelled{LabelRecord: *r}
	key := contactKey{r.Space, r.Targeted.Contact}
	c := s.contact(key)
	harmless := slices.Contains(s.options.Labels.Allow, r.Name)
	switch {
	case !s.options.Marks:
		done.Rejection = unknownContact(r, "contacts.join is false, so labels mark no contacts")
	case len(c.Marks) == 0 && (harmless || r.Action == article.RemoveLabel):
		done.Rejection = unknownContact(r, "no label has marked it, or its clusters have expired")
	case harmless:
		done.Changed = s.harm(c, r, out)
		if done.Changed && r.Action == article.AddLabel {
			out.due(r.Space, []string{r.Targeted.Contact}, &r.Label, false)
		}
	case r.Action == article.RemoveLabel:
		if m := c.Marks.Of(r.Name, r.Trial); !m.Empty() {
			done.Changed = true
			s.set(c, label.Mark{Name: r.Name, Trial: r.Trial})
			out.due(r.Space, []string{r.Targeted.Contact}, &r.Label, false)
		}
	default:
		done.Changed, done.Rejection = s.clickContact(key, c, r)
		if done.Changed {
			out.due(r.Space, []string{r.Targeted.Contact}, &r.Label, true)
		}
	}
	return done
}

// clickContact has a label mark a contact such that all clusters without labels that have it get
// the label. The mark lives as long as the youngest cluster by which the contact is known: of those
// without labels, and of those for which its marks live.
func (s *Space) clickContact(
	key contactKey, c *marked, r *article.LabelRecord,
) (changed bool, rejection *article.Rejection) {
	m, all := c.Marks.Of(r.Name, r.Trial), s.unlabelled(key, math.MaxInt)
	if m.Empty() && len(c.Marks) == label.MaxMarks {
		return false, nil
	}
	if len(all)+len(c.Marks) == 0 {
		return false, unknownContact(r, "no text has it that has no label and has not expired")
	}
	last := uint64(0)
	for _, of := range all {
		last = max(last, of.Seq)
	}
	for i := range c.Marks {
		last = max(last, c.Marks[i].Last)
	}
	m.ClickContact(&r.Label, last, len(all))
	s.set(c, m)
	return true, nil
}

// harm takes a vote from each mark of a contact by a label that is not allowed, or gives it back.
func (s *Space) harm(c *marked, r *article.LabelRecord, out *Batch) (changed bool) {
	for _, m := range c.Marks {
		counted := m.Counts(c.Name)
		switch {
		case slices.Contains(s.options.Labels.Allow, m.Name):
			continue
		case r.Action == article.AddLabel:
			m.Harm(&r.Label)
		case m.Hams == 0:
			continue
		default:
			m.Unharm()
		}
		if counted && !m.Counts(c.Name) {
			out.endedMarks++
		}
		s.set(c, m)
		changed = true
	}
	return changed
}

func unknownContact(r *article.LabelRecord, why string) *article.Rejection {
	return &article.Rejection{
		Class: article.UnknownContact, Reason: fmt.Sprintf("contact %.100q: %s", r.Targeted.Contact, why),
	}
}
