package report

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// storyTables say for each run how stories over its clusters agree with the labels.
func (r Report) storyTables() (tables []table) {
	for i := range r.Runs {
		tables = append(tables, storyTable(&r.Runs[i]))
	}
	return tables
}

func storyTable(run *eval.Run) table {
	t := table{"Stories over clusters against the labels: " + run.Name, []string{
		"least similarity", "stories", "labels", "largest", "B3 P", "B3 R", "B3 F1", "Chinese", "other",
		"CEAFe F1", "ARI", "NMI",
	}, nil}
	for _, p := range run.Stories {
		t.Rows = append(t.Rows, storyCells(p))
	}
	return t
}

func storyCells(p eval.StoryPoint) []string {
	threshold := fmt.Sprintf("%.2f", p.Threshold)
	if p.Threshold == 0 {
		threshold = "default"
	}
	f1 := func(q *eval.Quality) string {
		if q == nil {
			return "-"
		}
		return share(q.F1)
	}
	return []string{
		threshold, count(p.Stories), count(p.Labels), share(p.Largest), share(p.BCubed.Precision),
		share(p.BCubed.Recall), share(p.BCubed.F1), f1(p.Han), f1(p.Other), f1(p.CEAFe), share(p.ARI),
		share(p.NMI),
	}
}

// storyFigure shows B-cubed over the thresholds of stories, and where there are texts of both kinds
// F1 of each by itself.
func storyFigure(run *eval.Run) figure {
	c := newChart("least similarity of an article to its story", "share")
	best := run.Stories[0]
	both := best.Han != nil && best.Other != nil
	for _, p := range run.Stories {
		if p.BCubed.F1 > best.BCubed.F1 {
			best = p
		}
	}
	all := func(p eval.StoryPoint) *eval.Quality { return &p.BCubed }
	f1 := func(q eval.Quality) float64 { return q.F1 }
	for i, l := range []struct {
		name  string
		of    func(p eval.StoryPoint) *eval.Quality
		value func(q eval.Quality) float64
		drawn bool
	}{
		{"B3 precision", all, func(q eval.Quality) float64 { return q.Precision }, true},
		{"B3 recall", all, func(q eval.Quality) float64 { return q.Recall }, true},
		{"B3 F1", all, f1, true},
		{"B3 F1, Chinese", func(p eval.StoryPoint) *eval.Quality { return p.Han }, f1, both},
		{"B3 F1, other", func(p eval.StoryPoint) *eval.Quality { return p.Other }, f1, both},
	} {
		c.line(series(i), l.name, points(len(run.Stories), func(i int) (at point, ok bool) {
			p := run.Stories[i]
			if q := l.of(p); l.drawn && q != nil && p.Threshold > 0 {
				return point{X: p.Threshold, Y: l.value(*q)}, true
			}
			return at, false
		}))
	}
	last := run.Stories[len(run.Stories)-1]
	c.x.even(0, last.Threshold, .1)
	c.y.shares(c.lowest())
	said := "No one threshold is better than the default ones, which have " + share(best.BCubed.F1)
	if best.Threshold > 0 {
		said = fmt.Sprintf("F1 is highest at %.2f, with %s; the default thresholds have %s",
			best.Threshold, share(best.BCubed.F1), share(run.Stories[0].BCubed.F1))
	}
	return c.figure(run.Name+": stories over the threshold",
		"Labels and stories, with one threshold for all texts. "+said+".")
}
