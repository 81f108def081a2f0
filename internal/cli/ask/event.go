package ask

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/client"
	"github.com/clusterd/clusterd/internal/serve/http/events"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// A row is what a line says of an event.
type row struct {
	verdict, size            string
	cluster, near, publisher string
	labels, says             string
	colour                   string
	ofArticle                bool
}

// parseEvent returns what a line says of an event. Anybody can write to the topic of labels: what
// cannot be read is shown as it is.
func parseEvent(e client.Event) row {
	line := row{verdict: e.Kind, colour: cli.Red}
	switch e.Kind {
	case events.Result:
		if r, err := article.ParseResult(e.Data); err == nil {
			return resultRow(&r)
		}
	case events.Label:
		var r api.LabelRecord
		if err := json.Unmarshal(e.Data, &r); err == nil {
			line.cluster, line.says = r.ClusterID, changed(string(r.Action), r.Label, r.By, r.Note)
			return line
		}
	case events.Correction:
		if r, err := article.ParseCorrection(e.Data); err == nil {
			line.cluster = r.ClusterID
			line.says = fmt.Sprintf("%s now has %s: %s", r.ArticleID,
				cmp.Or(strings.Join(r.Labels, ","), "no label"),
				changed(string(r.Action), r.Label, r.By, r.Note))
			return line
		}
	}
	line.says = string(e.Data)
	return line
}

// changed says what was done to a label.
func changed(action, label, by, note string) string {
	text := cmp.Or(action, string(api.Add)) + " " + label
	if by != "" {
		text += " by " + by
	}
	if note != "" {
		text += ": " + note
	}
	return text
}

func resultRow(r *article.Result) row {
	line := row{
		verdict: string(r.Status), publisher: r.Publisher, says: r.ArticleID, colour: cli.Faint,
		ofArticle: true,
	}
	switch r.Status {
	case article.New:
		line.colour = cli.Green
	case article.Joined:
		line.colour = cli.Cyan
		if r.Distance != nil {
			line.near = strconv.FormatFloat(*r.Distance, 'g', 3, 64)
		}
	}
	if r.ClusterID != nil {
		line.cluster, line.size = *r.ClusterID, strconv.Itoa(r.Size)
	}
	if r.Representative != nil {
		line.says = cmp.Or(r.Representative.Title, r.Representative.Excerpt, line.says)
	}
	if labels := labelsOf(r); len(labels) > 0 {
		line.labels = "[" + strings.Join(labels, ", ") + "] "
	}
	return line
}

// labelsOf says which labels a result carries, and by which contacts.
func labelsOf(r *article.Result) (labels []string) {
	by := make(map[article.LabelledBy]string) // by label and trial
	for _, l := range r.LabelledBy {
		by[article.LabelledBy{Label: l.Label, Trial: l.Trial}] = " by " + l.Contact
	}
	for _, name := range r.Labels {
		labels = append(labels, name+by[article.LabelledBy{Label: name}])
	}
	for _, name := range r.TrialLabels {
		labels = append(labels, name+" on trial"+by[article.LabelledBy{Label: name, Trial: true}])
	}
	return labels
}

// An eventView writes events as lines. Columns become as wide as what they have had so far, so that
// lines stand below one another.
type eventView struct {
	out       io.Writer
	colour    bool
	cluster   column
	near      column
	publisher column
}

func newEventView(out io.Writer) *eventView {
	return &eventView{out: out, colour: cli.HasColours(out)}
}

// write writes an event that came at a time.
func (v *eventView) write(at time.Time, e client.Event) error {
	_, err := fmt.Fprintln(v.out, v.line(at, parseEvent(e), cli.Width(v.out, 0)))
	return err
}

// wide is the width of what has a column of any width on a line that is not cut.
const wide = 1 << 20

// line returns a row as a line of at most so many cells; 0 is any number.
func (v *eventView) line(at time.Time, r row, width int) string {
	const most = 12 // cells of verdict and size, a longer verdict stands alone
	limit := width
	if width == 0 {
		limit = wide
	}
	head := printable.Text(r.verdict)
	head += strings.Repeat(" ", max(1, most-uniseg.StringWidth(head)-len(r.size))) + r.size
	rest := v.cluster.cell(keepEnd(printable.Text(r.cluster), limit/4), limit/4)
	if r.ofArticle {
		rest += v.near.cell(printable.Text(r.near), limit/7) +
			v.publisher.cell(printable.Text(r.publisher), limit/8)
	}
	rest += printable.Text(r.labels) + printable.Text(r.says)
	clock := at.Format(time.TimeOnly) + " "
	if width > 0 {
		head = cli.Fit(head, max(0, width-1-uniseg.StringWidth(clock)))
		rest = cli.Fit(rest, max(0, width-2-uniseg.StringWidth(clock)-uniseg.StringWidth(head)))
	}
	if v.colour {
		head = r.colour + head + cli.Plain
	}
	return strings.TrimRight(clock+head+" "+rest, " ")
}

// A column is how many cells its widest entry has had.
type column int

// cell returns text, cut to at most so many cells, with spaces after it up to the next column.
func (c *column) cell(text string, most int) string {
	text = cli.Fit(text, most)
	used := uniseg.StringWidth(text)
	*c = column(min(max(int(*c), used), most))
	if *c == 0 {
		return ""
	}
	return text + strings.Repeat(" ", int(*c)-used+1)
}

// keepEnd returns an address cut to at most so many cells: its end tells it from others.
func keepEnd(text string, width int) string {
	if len(text) <= width || uniseg.StringWidth(text) <= width {
		return text
	}
	runes := []rune(text)
	for from := range runes {
		if cut := "…" + string(runes[from:]); uniseg.StringWidth(cut) <= width {
			return cut
		}
	}
	return ""
}
