package tune

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the report for a person.
func (r StoryReport) WriteTable(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%d articles, %d clusters.\n\n", r.Articles, r.Clusters)
	worth := "silhouette"
	if r.Labels {
		worth = "B3 F1"
	}
	for _, k := range r.Texts {
		fmt.Fprintf(&text, "%s, of %s: %d clusters", k.Key, k.Of, k.Found)
		if r.Labels {
			fmt.Fprintf(&text, ", %d labels of two and more", k.Labels)
		}
		text.WriteString("\n\n")
		if len(k.Points) > 0 {
			if err := k.table(&text, worth); err != nil {
				return err
			}
		}
		verdict := "Keep it"
		if k.Proposed != nil {
			verdict = "Proposed"
		}
		fmt.Fprintf(&text, "%s: %s.\n\n", verdict, k.Why)
	}
	if !r.Labels {
		text.WriteString("Without labels, a threshold is judged by how clearly its stories are apart. " +
			"On streams of short\nreports of one kind that divides events: read some stories, or label " +
			"some events, before you\ntake it.\n")
	}
	if r.Config != "" {
		text.WriteString("\nPut into the configuration:\n\n" + r.Config)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (k StoryKey) table(text io.Writer, worth string) error {
	table := tabwriter.NewWriter(text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "threshold\tstories\tlargest\t%s\t\n", worth)
	for _, p := range k.Points {
		mark := ""
		if p.AsSet {
			mark = " (as configured)"
		} else if p.Best {
			mark = " (best)"
		}
		fmt.Fprintf(table, "%.2f\t%d\t%.3f\t%.3f\t%s\n", p.Threshold, p.Stories, p.Largest, p.Worth, mark)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(text)
	return nil
}
