package report

import (
	"fmt"
	"strconv"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// moderationTable says what each run saves a moderator in all.
func (r Report) moderationTable() table {
	t := table{
		"A moderator's work on " + r.Positive,
		[]string{
			"run", "caught", "hit/1000", "clicks", "later", "reports", "caught/" + r.Positive, "hit/honest",
		},
		nil,
	}
	for i := range r.Runs {
		m := r.Runs[i].Moderation
		if m == nil {
			continue
		}
		t.Rows = append(t.Rows, append(append([]string{r.Runs[i].Name}, workCells(m.Work)...),
			count(m.Later), count(m.Feedback),
			fmt.Sprintf("%d/%d", m.Caught, m.Positive), fmt.Sprintf("%d/%d", m.Hit, m.Honest)))
	}
	return t
}

// workCells are the shares of caught and hit, where there is anything that they are shares of, and
// the clicks.
func workCells(w eval.Work) []string {
	caught, hit := "-", "-"
	if w.Positive > 0 {
		caught = share(w.CaughtShare)
	}
	if w.Honest > 0 {
		hit = fmt.Sprintf("%.2f", w.HitPerThousand)
	}
	return []string{caught, hit, count(w.Clicks)}
}

// partTables have the same figures, each by parts of the stream.
func (r Report) partTables() []table {
	tables := make([]table, 3)
	for k, name := range []string{"Caught", "Hit of a thousand", "Clicks"} {
		t := &tables[k]
		t.Title, t.Head = name+", in each part of the stream", []string{"run"}
		for i := range r.Runs {
			m := r.Runs[i].Moderation
			if m == nil {
				continue
			}
			row := []string{r.Runs[i].Name}
			for p, w := range m.Parts {
				if len(t.Rows) == 0 {
					t.Head = append(t.Head, strconv.Itoa(p+1))
				}
				row = append(row, workCells(w)[k])
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return tables
}

// caughtOverTime shows what is caught in each part of the stream.
func (r Report) caughtOverTime() figure {
	parts := r.Runs[0].Moderation.Parts
	c := newChart(fmt.Sprintf("part of the stream, of %d", len(parts)), "caught")
	smallest := 1.
	for i := range r.Runs {
		var line []point
		for p, w := range r.Runs[i].Moderation.Parts {
			if w.Positive > 0 { // of nothing, no share is caught
				line = append(line, point{X: float64(p + 1), Y: w.CaughtShare})
				smallest = min(smallest, w.CaughtShare)
			}
		}
		c.line(series(i), r.Runs[i].Name, line)
	}
	const mostLabels = 10
	step := (len(parts) + mostLabels - 1) / mostLabels
	var marks []tick
	for p := step; p <= len(parts); p += step {
		marks = append(marks, tick{float64(p), strconv.Itoa(p)})
	}
	c.x.min, c.x.max, c.x.ticks = .8, float64(len(parts))+.2, marks
	c.y.shares(smallest)
	f := c.figure(
		fmt.Sprintf("The share of %s that is caught, over the stream", r.Positive),
		fmt.Sprintf("In each of %d parts of equally many documents, in their order: of its %s, the "+
			"share that joined a cluster labelled before, in this part or an earlier one.", len(parts),
			r.Positive))
	f.Tables = r.partTables()
	return f
}
