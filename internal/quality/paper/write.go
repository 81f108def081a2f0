package paper

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// notes say how to read the table.
const notes = `
* as good as published. Published are the figures of SimHash at distance 3, and those of Shingle above a similarity of
  .95, on an i5-3210M. Time is that of one core, from the article to its cluster. Memory is that of the index,
  measured on fewer centres; 4 GB are 16 bytes each. The other rows are shares of the articles that are recognised: what
  an edit leaves is still within the bound of the method. They are the same on every machine.

  A text is title and content without mark-up, normalised; its units are characters. A word is a run of letters and
  digits; of Chinese characters, two.
  added      words of other articles of the sample are put in, one at a time at random places, until they have so many
             percent of the text's characters; or one passage of another article is
  deleted    words at random places are taken out until they had as many; or one passage is
  reordered  the text is cut after each sentence, and all sentences are put in random order
  changed    words at random places are replaced by words of other articles
  mistaken   nothing is edited: another article of the sample is within the bound. That is a mistake, unless the two
             are near-copies
`

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

// WriteJSON writes the report as one JSON object.
func (r Report) WriteJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
