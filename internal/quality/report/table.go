package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// A table is a part of a report in words. Its first column says which run, the others are figures.
type table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// tables returns the whole report but the curves of thresholds.
func (r Report) tables() []table {
	tables := []table{r.qualityTable(), r.recallTable(), r.purityTable(), r.moderationTable()}
	tables = append(tables, r.partTables()...)
	tables = append(tables, r.signalTables()...)
	tables = append(tables, r.storyTables()...)
	tables = append(tables, r.costTable())
	return slices.DeleteFunc(tables, func(t table) bool { return len(t.Rows) == 0 })
}

// perRun returns a table with a row for each run that has cells.
func (r Report) perRun(title string, head []string, cells func(run *eval.Run) []string) table {
	t := table{title, append([]string{"run"}, head...), nil}
	for i := range r.Runs {
		if row := cells(&r.Runs[i]); row != nil {
			t.Rows = append(t.Rows, append([]string{r.Runs[i].Name}, row...))
		}
	}
	return t
}

func (r Report) qualityTable() table {
	return r.perRun("Clusters against the truth", []string{
		"clusters", "pair P", "pair R", "pair F1", "P50", "wrong/1000", "B3 P", "B3 R", "B3 F1",
		"ARI", "NMI", "right/found/true pairs",
	}, func(run *eval.Run) []string {
		s := run.Scores
		if s == nil {
			return nil
		}
		return []string{
			count(s.Clusters), share(s.Pairs.Precision), share(s.Pairs.Recall),
			share(s.Pairs.F1), half(s.HalfPrecision, r.Pairs > 0),
			fmt.Sprintf("%.2f", s.WrongPerThousand), share(s.BCubed.Precision), share(s.BCubed.Recall),
			share(s.BCubed.F1), share(s.ARI), share(s.NMI),
			fmt.Sprintf("%d/%d/%d", s.RightPairs, s.FoundPairs, s.TruePairs),
		}
	})
}

func (r Report) recallTable() table {
	var head []string
	if r.Pairs > 0 && len(r.Runs) > 0 && r.Runs[0].Scores != nil {
		for _, l := range r.Runs[0].Scores.Levels {
			head = append(head, "≥ "+strconv.FormatFloat(l.Jaccard, 'g', -1, 64))
		}
	}
	const title = "Share of the truth's pairs of a similarity that are in one cluster"
	return r.perRun(title, head, func(run *eval.Run) (cells []string) {
		for i := range head {
			l := run.Scores.Levels[i]
			cells = append(cells, fmt.Sprintf("%s (%d/%d)", share(l.Recall()), l.Found, l.Pairs))
		}
		return cells
	})
}

func (r Report) purityTable() table {
	head := []string{"purity", "labelled", "of two and more", "labelled in them", "ARI", "NMI"}
	return r.perRun("Labels within clusters", head, func(run *eval.Run) []string {
		p := run.Purity
		if p == nil {
			return nil
		}
		return []string{
			share(p.Share), count(p.Labelled), share(p.Grouped), count(p.Labelled - p.Alone),
			share(p.ARI), share(p.NMI),
		}
	})
}

func (r Report) signalTables() (tables []table) {
	for i := range r.Runs {
		run := &r.Runs[i]
		t := table{
			fmt.Sprintf("In a cluster of so many as a sign of %s%s: %s", r.Positive, r.within(), run.Name),
			[]string{"members", "P", "R", "F1", "found", "on arrival P", "R", "F1", "found"},
			nil,
		}
		for _, s := range run.Signals {
			t.Rows = append(t.Rows, slices.Concat([]string{"≥ " + strconv.Itoa(s.Size)}, cells(s.All),
				cells(s.Arriving)))
		}
		tables = append(tables, t)
	}
	return tables
}

func (r Report) within() string {
	if r.Within == "" {
		return ""
	}
	return " within " + r.Within
}

func cells(f eval.Found) []string {
	precision := share(f.Precision)
	if f.Documents == 0 {
		precision = "-"
	}
	return []string{
		precision, share(f.Recall), share(f.F1),
		fmt.Sprintf("%d/%d", f.Positive, f.Documents),
	}
}

func (r Report) costTable() table {
	return r.perRun(fmt.Sprintf("Cost, with %d threads for fingerprints", r.Threads), []string{
		"documents/s", "fingerprints s", "assigning s", "compared/document", "centres",
		"bytes/centre", "not comparable",
	}, func(run *eval.Run) []string {
		c := &run.Cost
		return []string{
			count(int(c.PerSecond)), fmt.Sprintf("%.3f", c.Printing), fmt.Sprintf("%.3f", c.Assigning),
			fmt.Sprintf("%.1f", c.Compared), count(c.Centres), count(int(c.CentreBytes)),
			count(r.Documents - c.Clustered),
		}
	})
}

// curveTable returns the points of a curve.
func curveTable(c *eval.Curve, name string) table {
	t := table{fmt.Sprintf("Thresholds (%s): %s", c.Unit, name), []string{
		"largest distance", "clusters", "pair P", "pair R", "pair F1", "P50", "wrong/1000", "B3 F1",
		"documents/s",
	}, nil}
	for _, p := range c.Points {
		t.Rows = append(t.Rows, []string{
			distance(p.Threshold), count(p.Clusters), share(p.Pairs.Precision), share(p.Pairs.Recall),
			share(p.Pairs.F1),
			half(p.HalfPrecision, c.Half), fmt.Sprintf("%.2f", p.WrongPerThousand), share(p.BCubed),
			count(int(p.PerSecond)),
		})
	}
	return t
}

// WriteTable writes the report for a person: names to the left, figures to the right.
func (r Report) WriteTable(w io.Writer) error {
	tables := r.tables()
	for i := range r.Runs {
		if c := r.Runs[i].Curve; c != nil {
			tables = append(tables, curveTable(c, r.Runs[i].Name))
		}
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "%s\n", printable.Text(r.about()))
	for _, t := range tables {
		fmt.Fprintf(tab, "\n%s\n", printable.Text(t.Title))
		rows := append([][]string{t.Head}, t.Rows...)
		first := 0
		for _, row := range rows {
			for i := range row {
				row[i] = printable.Text(row[i])
			}
			first = max(first, utf8.RuneCountInString(row[0]))
		}
		for _, row := range rows {
			fmt.Fprintf(tab, "%-*s\t%s\t\n", first, row[0], strings.Join(row[1:], "\t"))
		}
	}
	return tab.Flush() // which has the first error of all
}

// about returns what was measured on.
func (r Report) about() string {
	parts := []string{fmt.Sprintf("%s documents of %s characters on average", count(r.Documents),
		count(int(r.Characters+.5)))}
	if r.Rejected > 0 {
		parts = append(parts, count(r.Rejected)+" of them no articles")
	}
	if r.LeftOut > 0 {
		parts = append(parts, count(r.LeftOut)+" of them too short to be measured")
	}
	if r.Truth != "" {
		parts = append(parts, "truth: "+r.Truth)
	}
	if r.Positive != "" {
		parts = append(parts, fmt.Sprintf("%s of %s labelled ones are %s, a share of %s",
			count(r.Positives), count(r.Labelled), r.Positive, share(r.PositiveShare())))
	}
	return strings.Join(parts, "; ")
}

func share(v float64) string {
	if -.0005 < v && v < 0 {
		v = 0 // not -0.000
	}
	return fmt.Sprintf("%.3f", v)
}

// half returns a cell, which is left out where the truth has no pairs: it would be the precision
// again.
func half(v float64, known bool) string {
	if !known {
		return "-"
	}
	return share(v)
}

// distance returns a cell without digits that are only rounding.
func distance(v float64) string {
	s := strconv.FormatFloat(v, 'f', 4, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// count returns a cell in which thousands are divided.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
