// Package report shows what eval measured: as tables for a person, and as a page with plots.
package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"time"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

//go:embed report.html
var page string

// A Report is one of eval that can be shown.
type Report struct{ eval.Report }

// A Caption says of what and by what a report was made.
type Caption struct {
	Name    string // of the documents
	Version string // of clusterd
	Machine string
	Made    time.Time
}

// A section is a part of the page.
type section struct {
	Title   string
	Text    string
	Figures []figure
	Tables  []table
}

// HTML returns the report as a page with plots, which needs nothing beside it: no script, no other
// file, no network.
func (r Report) HTML(c Caption) ([]byte, error) {
	t, err := template.New("report").Parse(page)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, map[string]any{
		"Caption": c, "Report": r, "About": r.about(),
		"Recommended": r.recommend(), "Sections": r.sections(),
	})
	return out.Bytes(), err
}

func (r Report) sections() (sections []section) {
	add := func(s section, figures ...figure) {
		s.Figures = append(s.Figures, figures...)
		sections = append(sections, s)
	}
	if len(r.Runs) > 0 && r.Runs[0].Scores != nil {
		var figures []figure
		if r.Runs[0].Curve != nil {
			figures = append(figures, r.precisionRecall())
		}
		s := section{Title: "Quality", Tables: []table{r.qualityTable()}}
		if levels := r.recallTable(); len(levels.Rows) > 0 {
			s.Tables = append(s.Tables, levels)
		}
		add(s, append(figures, r.costAccuracy())...)
	}
	if purity := r.purityTable(); len(purity.Rows) > 0 {
		add(section{Title: "Labels", Tables: []table{purity}})
	}
	if len(r.Runs) > 0 && r.Runs[0].Moderation != nil {
		add(section{
			Title: "A moderator's work on " + r.Positive, Tables: []table{r.moderationTable()},
		}, r.caughtOverTime())
	}
	if len(r.Runs) > 0 && len(r.Runs[0].Signals) > 0 {
		add(section{
			Title: "Large clusters as a sign of " + r.Positive, Figures: r.signalFigures(),
			Tables: r.signalTables(),
		})
	}
	for i := range r.Runs {
		if run := &r.Runs[i]; len(run.Stories) > 0 {
			add(section{Title: "Stories over clusters of " + run.Name, Tables: []table{storyTable(run)}},
				storyFigure(run))
		}
	}
	add(section{Title: "Cost", Tables: []table{r.costTable()}})
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Curve == nil {
			continue
		}
		var figures []figure
		if len(run.Curve.Points) > 1 { // else the method has but one threshold
			figures = append(figures, thresholds(run))
		}
		add(section{Title: "Thresholds of " + run.Name, Text: "Fingerprints: " + run.Identity},
			append(figures, distances(run))...)
	}
	return sections
}
