package tune

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/clusterd/clusterd/internal/text/printable"
)

// WriteTable writes the report for a person: of each method the best threshold, and what is
// configured.
func (r Report) WriteTable(out io.Writer) error {
	var text strings.Builder
	if r.Positive != "" {
		fmt.Fprintf(&text, "%d articles: %d %s, %d with another label.\n\n", r.Articles, r.Positives,
			printable.Text(r.Positive), r.Honest)
	} else {
		r.pairs(&text)
	}
	if len(r.Points) > 0 {
		if err := r.table(&text); err != nil {
			return err
		}
	}
	for _, hint := range r.Hints {
		fmt.Fprintf(&text, "Note: %s.\n", hint)
	}
	text.WriteString(printable.Text(r.Why) + "\n")
	if r.Config != "" {
		text.WriteString("\nPut into the configuration:\n\n" + r.Config)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (r Report) pairs(text io.Writer) {
	fmt.Fprintf(text, "%d articles. Pairs by similarity (Jaccard index of runs of %d characters):\n",
		r.Articles, shingleSize)
	for i, l := range r.Levels {
		to := "the same text"
		if i > 0 {
			to = fmt.Sprintf("%.1f to %.1f", l.From, r.Levels[i-1].From)
		}
		fmt.Fprintf(text, "  %-14s %d\n", to, l.Pairs)
	}
	fmt.Fprintf(text, "Pairs of different texts that are the same, connected by a similarity of %v "+
		"and more: %d\n\n", r.Same, r.SamePairs)
}

func (r Report) table(text io.Writer) error {
	table := tabwriter.NewWriter(text, 0, 0, 2, ' ', tabwriter.AlignRight)
	worth, figures := "F1", "precision\trecall\t"
	if r.Positive != "" {
		worth, figures = "caught", "hit/1000\tclicks\t"
	}
	fmt.Fprintf(table, "method\t%s\t%sarticles/s\tbytes a centre\t%s less cost\t setting\n", worth,
		figures, worth)
	for _, p := range r.Points {
		configured := r.Configured != nil && p == *r.Configured
		if !p.Best && !configured {
			continue
		}
		figures = fmt.Sprintf("%.3f\t%.3f", p.Precision, p.Recall)
		if r.Positive != "" {
			figures = fmt.Sprintf("%.2f\t%d", p.Hits, p.Clicks)
		}
		mark := " " + p.setting()
		if configured {
			mark += " (as configured)"
		}
		if p.TooManyHits {
			mark += " (too many hits)"
		}
		fmt.Fprintf(table, "%s\t%.3f\t%s\t%.0f\t%.0f\t%.3f\t%s\n", p.Method, p.Worth, figures,
			p.PerSecond, p.CentreBytes, p.Net, mark)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(text, "Each method is at its best threshold. Ten times the bytes, beyond %d, or a "+
		"tenth of the rate, below %d, must be\nworth %v of %s: that is the cost. Of methods that differ "+
		"by less than %v, less cost, the cheapest is taken.\nRates are those of one core; bytes, of the "+
		"index of so few centres, are rough.\n", smallEnough, fastEnough, Price, worth, Gain)
	if r.Positive == "" {
		fmt.Fprintf(text, "A pair found that is at least %.4g similar is right, too.\n",
			max(Near, r.Same-Slack))
	} else {
		fmt.Fprintf(text, "At most %v of a thousand honest articles may be hit.\n", r.MaxHits)
	}
	fmt.Fprintln(text)
	return nil
}
