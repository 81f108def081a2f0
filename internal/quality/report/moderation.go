package report

import (
	"fmt"
	"strconv"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// moderationTable says what each run saves a moderator in all.
func (r Report) moderationTable() table {
	return r.perRun("A moderator's work on "+r.Positive, []string{
		"caught", "hit/1000", "clicks", "later", "reports", "caught/" + r.Positive, "hit/honest",
	}, func(run *eval.Run) []string {
		m := run.Moderation
		if m == nil {
			return nil
		}
		return append(workCells(m.Work), count(m.Later), count(m.Feedback),
			fmt.Sprintf("%d/%d", m.Caught, m.Positive), fmt.Sprintf("%d/%d", m.Hit, m.Honest))
	})
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
func (r Report) partTables() (tables []table) {
	if len(r.Runs) == 0 || r.Runs[0].Moderation == nil {
		return nil
	}
	var head []string
	for p := range r.Runs[0].Moderation.Parts {
		head = append(head, strconv.Itoa(p+1))
	}
	for k, name := range []string{"Caught", "Hit of a thousand", "Clicks"} {
		title := name + ", in each part of the stream"
		tables = append(tables, r.perRun(title, head, func(run *eval.Run) (cells []string) {
			for _, w := range run.Moderation.Parts {
				cells = append(cells, workCells(w)[k])
			}
			return cells
		}))
	}
	return tables
}

// caughtOverTime shows what is caught in each part of the stream.
func (r Report) caughtOverTime() figure {
	parts := r.Runs[0].Moderation.Parts
	c := newChart(fmt.Sprintf("part of the stream, of %d", len(parts)), "caught")
	for i := range r.Runs {
		parts := r.Runs[i].Moderation.Parts
		c.line(series(i), r.Runs[i].Name, points(len(parts), func(p int) (point, bool) {
			// of nothing, no share is caught
			return point{X: float64(p + 1), Y: parts[p].CaughtShare}, parts[p].Positive > 0
		}))
	}
	const mostLabels = 10
	step := (len(parts) + mostLabels - 1) / mostLabels
	var marks []tick
	for p := step; p <= len(parts); p += step {
		marks = append(marks, tick{float64(p), strconv.Itoa(p)})
	}
	c.x.min, c.x.max, c.x.ticks = .8, float64(len(parts))+.2, marks
	c.y.shares(c.lowest())
	f := c.figure(
		fmt.Sprintf("The share of %s that is caught, over the stream", r.Positive),
		fmt.Sprintf("In each of %d parts of equally many documents, in their order: of its %s, the "+
			"share that joined a cluster labelled before, in this part or an earlier one.", len(parts),
			r.Positive))
	f.Tables = r.partTables()
	return f
}
