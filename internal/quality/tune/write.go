package tune

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the report for a person.
func (r Report) WriteTable(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%d articles. Pairs by similarity (Jaccard index of runs of %d characters):\n",
		r.Articles, shingleSize)
	for i, l := range r.Levels {
		to := "the same text"
		if i > 0 {
			to = fmt.Sprintf("%.1f to %.1f", l.From, r.Levels[i-1].From)
		}
		fmt.Fprintf(&text, "  %-14s %d\n", to, l.Pairs)
	}
	fmt.Fprintf(&text, "Pairs that are the same, connected by a similarity of %v and more: %d\n\n",
		r.Same, r.SamePairs)
	if len(r.Points) > 0 {
		if err := r.points(&text); err != nil {
			return err
		}
	}
	for _, hint := range r.Hints {
		fmt.Fprintf(&text, "Note: %s.\n", hint)
	}
	text.WriteString(r.because())
	text.WriteString("\n" + r.Config)
	_, err := io.WriteString(out, text.String())
	return err
}

func (r Report) points(text io.Writer) error {
	table := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table,
		"method\tsetting\tprecision\trecall\tF1\t≥ half the same\tarticles/s\tbytes a centre\t")
	for i, p := range r.Points {
		name, mark := p.Method, ""
		if i > 0 && r.Points[i-1].Method == p.Method {
			name = ""
		}
		if p.Best {
			mark += " *"
		}
		if p.Default {
			mark += " (as configured)"
		}
		fmt.Fprintf(table, "%s\t%s: %s\t%.3f\t%.3f\t%.3f\t%.3f\t%.0f\t%.0f\t%s\n", name, p.Key, p.Value,
			p.Precision, p.Recall, p.F1, p.HalfPrecision, p.PerSecond, p.CentreBytes, mark)
	}
	fmt.Fprintln(table, "* the method's highest F1. Precision and recall are of pairs; articles/s "+
		"are those of one core; bytes, of the\nindex of so few centres, are rough.")
	return table.Flush()
}

// because explains the proposal.
func (r Report) because() string {
	if r.Proposed == nil {
		return "\nPut into the configuration, or leave out, since it is the default:\n"
	}
	p, best := r.Proposed, r.Best
	text := fmt.Sprintf("\nProposed: %s, with an F1 of %.3f. The highest is %.3f, of %s; of the "+
		"methods at most %v below it, this is the\nfastest.",
		p.Method, p.F1, best.F1, best.Method, Tolerance)
	if f := r.Faster; f != nil {
		text += fmt.Sprintf(" Of the faster ones, %s is the best: F1 %.3f at %s: %s, %.1f times as fast.",
			f.Method, f.F1, f.Key, f.Value, f.PerSecond/p.PerSecond)
	}
	return text + "\n\nPut into the configuration:\n"
}
