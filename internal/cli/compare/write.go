package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/text/diff"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// WriteText writes the report for a person, in colours if they are wanted.
func (r Report) WriteText(out io.Writer, colour bool) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "method\tdistance\tat most\tsame")
	for _, v := range r.Methods {
		distance, same := v.Why, "no"
		if v.Distance != nil {
			distance = fmt.Sprintf("%.4g", *v.Distance)
		}
		switch {
		case v.Contained:
			same = "yes, contained"
		case v.Same:
			same = "yes"
		}
		fmt.Fprintf(table, "%s\t%s\t%.4g\t%s\n", v.Method, distance, v.Threshold, same)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe distance of %s is in bits, of the others it is 1 less the similarity.\n",
		strings.Join(method.MeasuredIn(method.Bits), " and "))
	r.writeContacts(out)
	var shared, onlyA, onlyB int
	for _, p := range r.Passages {
		n := utf8.RuneCountInString(p.Text)
		switch p.Kind {
		case diff.Same:
			shared += n
		case diff.OnlyA:
			onlyA += n
		case diff.OnlyB:
			onlyB += n
		}
	}
	fmt.Fprintf(out, "\n- %s: %d characters alone\n+ %s: %d alone\n  both: %d\n\n",
		printable.Text(r.A.File), onlyA, printable.Text(r.B.File), onlyB, shared)
	return r.writePassages(out, colour)
}

// writeContacts writes the contacts of both articles, if there are any.
func (r Report) writeContacts(out io.Writer) {
	alone := func(contacts []string) []string {
		return slices.DeleteFunc(slices.Clone(contacts), func(contact string) bool {
			return slices.Contains(r.Shared, contact)
		})
	}
	if len(r.A.Contacts)+len(r.B.Contacts) > 0 {
		fmt.Fprintln(out, "\nContacts. With contacts.join a label on the one text reaches the other by "+
			"those that both have:")
	}
	for _, row := range []struct {
		head     string
		contacts []string
	}{{"-", alone(r.A.Contacts)}, {"+", alone(r.B.Contacts)}, {"  both:", r.Shared}} {
		if len(row.contacts) > 0 {
			fmt.Fprintln(out, row.head, printable.Text(strings.Join(row.contacts, " ")))
		}
	}
}

// writePassages writes a passage a line or, where it has line breaks, more. White space is not
// shown.
func (r Report) writePassages(out io.Writer, colour bool) error {
	var b strings.Builder
	for _, p := range r.Passages {
		mark, on := "  ", ""
		text := p.Text
		switch p.Kind {
		case diff.Same:
			text = abbreviated(text)
		case diff.OnlyA:
			mark, on = "- ", cli.Red
		case diff.OnlyB:
			mark, on = "+ ", cli.Green
		}
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			if line = strings.TrimRight(mark+printable.Text(line), " "); colour && on != "" {
				line = on + line + cli.Plain
			}
			b.WriteString(line + "\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// shownAtEachEnd is how many characters of a long shared passage are shown where it begins and
// where it ends.
const shownAtEachEnd = 60

// abbreviated returns a long passage without its middle.
func abbreviated(text string) string {
	runes := []rune(text)
	left := len(runes) - 2*shownAtEachEnd
	if left < shownAtEachEnd {
		return text
	}
	return fmt.Sprintf("%s … (%d characters) … %s",
		string(runes[:shownAtEachEnd]), left, string(runes[len(runes)-shownAtEachEnd:]))
}
