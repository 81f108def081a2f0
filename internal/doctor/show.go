package doctor

import (
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/clusterd/clusterd/internal/printable"
	"github.com/clusterd/clusterd/internal/terminal"
)

// indent is where what was found begins.
const indent = 9

// Show writes a report for a person, in lines of a width, and its sum at the end.
func (r *Report) Show(out io.Writer, width int, colours bool) error {
	var b strings.Builder
	for i := range r.Checks {
		c := &r.Checks[i]
		head := fmt.Sprintf("%-*s", indent-1, c.Status)
		if colours {
			head = colour(c.Status) + head + terminal.Plain
		}
		b.WriteString(head + " ")
		b.WriteString(wrapped(c.Name+": "+c.Found, width))
		if c.Do != "" {
			b.WriteString(strings.Repeat(" ", indent) + wrapped("→ "+c.Do, width))
		}
	}
	fmt.Fprintf(&b, "\n%d checks: %d failures, %d warnings\n", len(r.Checks), r.Count(Failure),
		r.Count(Warning))
	_, err := io.WriteString(out, b.String())
	return err
}

func colour(s Status) string {
	switch s {
	case Failure:
		return terminal.Red
	case Warning:
		return terminal.Yellow
	}
	return terminal.Green
}

// wrapped breaks a text between words, so that it fits a width behind the indent. A word that is
// longer, such as a path, stays whole: somebody may want to copy it.
func wrapped(text string, width int) string {
	var b strings.Builder
	used := 0
	for i, word := range strings.Fields(printable.Text(text)) {
		n := uniseg.StringWidth(word)
		switch {
		case i == 0:
		case used+1+n > width-indent:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = 0
		default:
			b.WriteString(" ")
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String() + "\n"
}
