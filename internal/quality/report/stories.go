package report

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// storyTables say for each run how stories over its clusters agree with the labels.
func (r Report) storyTables() (tables []table) {
	for i := range r.Runs {
		run := &r.Runs[i]
		t := table{"Stories over clusters against the labels: " + run.Name, []string{
			"least similarity", "stories", "labels", "largest", "B3 P", "B3 R", "B3 F1", "CEAFe F1", "ARI",
			"NMI",
		}, nil}
		for _, p := range run.Stories {
			t.Rows = append(t.Rows, storyCells(p))
		}
		tables = append(tables, t)
	}
	return tables
}

func storyCells(p eval.StoryPoint) []string {
	threshold, ceafe := fmt.Sprintf("%.2f", p.Threshold), "-"
	if p.Threshold == 0 {
		threshold = "default"
	}
	if p.CEAFe != nil {
		ceafe = share(p.CEAFe.F1)
	}
	return []string{
		threshold, count(p.Stories), count(p.Labels), share(p.Largest), share(p.BCubed.Precision),
		share(p.BCubed.Recall), share(p.BCubed.F1), ceafe, share(p.ARI), share(p.NMI),
	}
}
