package labelling

import (
	"context"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
)

// tell adds corrections to a share: of each change that is pending, in the order in which they were
// made, the next members. A later change of a cluster waits until the earlier one is told to the
// end, so that what was said last of an article is what holds.
func (w *Work) tell(ctx context.Context, s *Share) {
	open := make(map[string]bool) // by cluster: a change is not told to the end
	for _, change := range w.progress.Corrections {
		if next := change.Next; w.Corrections && !open[change.ClusterID] {
			w.tellOf(ctx, &change, s)
			s.moved = s.moved || change.Next != next
		}
		if change.Next < change.Position {
			open[change.ClusterID] = true
			s.progress.Corrections = append(s.progress.Corrections, change)
		}
	}
}

// tellOf adds corrections of one change, and moves its cursor; to the end where there are no more.
func (w *Work) tellOf(ctx context.Context, change *checkpoint.Correction, s *Share) {
	if change.Article != nil {
		if len(s.Corrections) < maxTold {
			s.tell(change, change.Article)
			change.Next = change.Position
		}
		return
	}
	for len(s.Corrections) < maxTold && change.Next < change.Position && w.Members != nil {
		found, complete, err := w.Members.Before(ctx, change.ClusterID, change.Next, change.Position,
			maxTold-len(s.Corrections))
		w.report(err)
		if err != nil || !complete {
			return
		}
		if len(found) == 0 {
			change.Next = change.Position
			return
		}
		for _, m := range found {
			s.tell(change, &m)
			change.Next = m.Position + 1
		}
	}
}

// tell adds the correction of one member.
func (s *Share) tell(change *checkpoint.Correction, m *article.Member) {
	c := article.Correction{
		ArticleID: m.ArticleID, LabelChange: change.LabelChange, MemberPosition: m.Position,
		Source: m.Source,
	}
	c.Labels = change.LabelsOf(m)
	s.Corrections = append(s.Corrections, c)
}

// report logs an error when members cannot be asked, once, and when they can be again.
func (w *Work) report(err error) {
	switch {
	case err != nil && !w.failing:
		w.Log.Warn("the members of labelled clusters cannot be read; nothing is lost: corrections wait "+
			"until they can", "error", err)
	case err == nil && w.failing:
		w.Log.Info("the members of labelled clusters can be read again")
	}
	w.failing = err != nil
}
