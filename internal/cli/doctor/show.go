package doctor

import (
	"fmt"
	"io"
	"strings"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/text/printable"
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
			head = colour(c.Status) + head + cli.Plain
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
		return cli.Red
	case Warning:
		return cli.Yellow
	}
	return cli.Green
}

// wrapped breaks a text, so that it fits a width behind the indent.
func wrapped(text string, width int) string {
	lines := cli.Wrap(printable.Text(text), width-indent)
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent)) + "\n"
}
