package paper

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// notes say how to read the table.
//
//go:embed notes.txt
var notes string

// WriteTable writes the report for a person.
func (r Report) WriteTable(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%d articles of %.0f characters, seed %d\n\n", r.Articles, r.Characters, r.Seed)
	heading := []string{"", "published", "Shingle"}
	for i, name := range r.Variants {
		letter := string(rune('A' + i%26))
		fmt.Fprintf(&text, "%s  %s\n", letter, name)
		heading = append(heading, letter+" ")
	}
	text.WriteString("\n")
	table := tabwriter.NewWriter(&text, 0, 0, 1, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, strings.Join(heading, "\t"), "\t\n")
	for _, row := range r.Rows {
		fmt.Fprint(table, strings.Join(row.cells(), "\t"), "\t\n")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	text.WriteString(notes)
	_, err := io.WriteString(out, text.String())
	return err
}

func (r Row) cells() []string {
	unit := r.Unit
	if unit == Share {
		unit = "%"
	}
	cells := []string{r.What + ", " + unit, "", ""}
	if p := r.Published; p != nil {
		bound := "≥ "
		if p.Most {
			bound = "≤ "
		}
		cells[1] = bound + r.format(p.Figure)
	}
	if r.Shingle != nil {
		cells[2] = r.format(*r.Shingle)
	}
	for _, f := range r.Figures {
		switch {
		case f == nil:
			cells = append(cells, "- ")
		case r.Published != nil && r.Published.Met(*f):
			cells = append(cells, r.format(*f)+"*")
		default:
			cells = append(cells, r.format(*f)+" ")
		}
	}
	return cells
}

func (r Row) format(figure float64) string {
	switch r.Unit {
	case Milliseconds:
		return fmt.Sprintf("%.3g", figure)
	case Gigabytes:
		return fmt.Sprintf("%.1f", figure)
	default:
		return fmt.Sprintf("%.1f", 100*figure)
	}
}
