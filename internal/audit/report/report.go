// Package report is what an audit found: the promises of clusterd, how much of each was checked,
// and where one is broken. It goes out as a table for people or as JSON.
package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/clusterd/clusterd/internal/text/printable"
)

// A Report is what an audit found.
type Report struct {
	Input  string   `json:"input"`
	Group  string   `json:"group"`
	Counts Counts   `json:"counts"`
	Checks []*Check `json:"checks"`           // one for each promise, always the same
	Limits []string `json:"limits,omitempty"` // what is not checked with these settings
	Note   string   `json:"note,omitempty"`
	show   int
}

// Counts are how much was read.
type Counts struct {
	Records     int64            `json:"records"` // committed, in the input, below the group's offsets
	New         int64            `json:"new"`     // results by status
	Joined      int64            `json:"joined"`
	Unclustered int64            `json:"unclustered"`
	DeadLetters map[string]int64 `json:"dead_letters"` // by class
	Spaces      int              `json:"spaces"`
	Clusters    int64            `json:"clusters"`         // founded, by the model
	Live        int64            `json:"live"`             // of them, not expired
	Later       int64            `json:"later"`            // results of transactions not over at the cut
	Deleted     int64            `json:"deleted"`          // messages whose input record retention has deleted
	Labels      int64            `json:"labels,omitempty"` // label records
	Corrections int64            `json:"corrections,omitempty"`
	Aborted     *int64           `json:"aborted,omitempty"`
	// OtherHeaders are results that carry headers of their input records by another setting than the
	// one in force.
	OtherHeaders int64 `json:"other_headers,omitempty"`
}

// A Check is a promise and what became of it.
type Check struct {
	ID         string      `json:"id"`
	Promise    string      `json:"promise"`
	Verdict    string      `json:"verdict"` // holds, violated or not checked
	Checked    int64       `json:"checked"` // articles, results, clusters: what the promise speaks of
	Violations int64       `json:"violations"`
	Shown      []Violation `json:"shown,omitempty"` // the first ones
	NotChecked string      `json:"not_checked,omitempty"`
	show       int
}

// A Violation is a message that breaks a promise.
type Violation struct {
	At       string `json:"at"` // topic/partition/offset of the message
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// The verdicts.
const (
	Holds      = "holds"
	Violated   = "violated"
	NotChecked = "not checked"
)

// New returns a report of the articles of a topic, read by a group. Of each promise it shows so
// many violations.
func New(input, group string, show int) *Report {
	return &Report{
		Input: input, Group: group, Counts: Counts{DeadLetters: make(map[string]int64)}, show: show,
	}
}

// Add adds a promise that is checked.
func (r *Report) Add(id, promise string) *Check {
	c := &Check{ID: id, Promise: promise, show: r.show}
	r.Checks = append(r.Checks, c)
	return c
}

// Violate reports a message that breaks the promise.
func (c *Check) Violate(at, expected, found string) {
	c.Violations++
	if len(c.Shown) < c.show {
		c.Shown = append(c.Shown, Violation{at, expected, found})
	}
}

// Unknown reports a field that is not among those of a kind of message, if it is not empty.
func (c *Check) Unknown(at, kind, field string) {
	if field != "" {
		c.Violate(at, "the fields of "+kind,
			fmt.Sprintf("field %q, written by another version or by nobody", field))
	}
}

// Skip reports why a promise, or a part of it, could not be checked.
func (c *Check) Skip(why string) {
	if c.NotChecked != "" {
		why = c.NotChecked + "; " + why
	}
	c.NotChecked = why
}

// Conclude sets the verdicts.
func (r *Report) Conclude() {
	for _, c := range r.Checks {
		switch {
		case c.Violations > 0:
			c.Verdict = Violated
		case c.NotChecked != "":
			c.Verdict = NotChecked
		default:
			c.Verdict = Holds
		}
	}
}

// Violations returns the number of those of all promises together.
func (r *Report) Violations() int64 {
	var n int64
	for _, c := range r.Checks {
		n += c.Violations
	}
	return n
}

// Unchecked returns how many promises could not be checked, or not wholly.
func (r *Report) Unchecked() int {
	n := 0
	for _, c := range r.Checks {
		if c.NotChecked != "" {
			n++
		}
	}
	return n
}

// Clock returns a time in Unix milliseconds as reports show it, where math.MinInt64 stands for
// none.
func Clock(ms int64) string {
	if ms == math.MinInt64 {
		return "never"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// Write writes the report, once it is concluded, as a table for people.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	r.writeCounts(&b)
	b.WriteByte('\n')
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range r.Checks {
		verdict := c.Verdict
		if c.Violations > 0 {
			verdict = fmt.Sprintf("VIOLATED (%d)", c.Violations)
		}
		fmt.Fprintf(table, "%s\t%s\t%d checked\t%s\n", c.ID, c.Promise, c.Checked, verdict)
	}
	_ = table.Flush() // a strings.Builder takes everything
	for _, c := range r.Checks {
		c.explain(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeCounts(b *strings.Builder) {
	n := r.Counts
	fmt.Fprintf(b, "input         %s, group %s\n", r.Input, r.Group)
	fmt.Fprintf(b, "records       %d below the group's offsets\n", n.Records)
	fmt.Fprintf(b, "results       %d: %d new, %d joined, %d unclustered\n",
		n.New+n.Joined+n.Unclustered, n.New, n.Joined, n.Unclustered)
	fmt.Fprintf(b, "dead letters  %s\n", classes(n.DeadLetters))
	fmt.Fprintf(b, "clusters      %d, of which %d live\n", n.Clusters, n.Live)
	fmt.Fprintf(b, "spaces        %d\n", n.Spaces)
	if n.Labels > 0 {
		fmt.Fprintf(b, "labels        %d records, and %d corrections\n", n.Labels, n.Corrections)
	}
	if n.Aborted != nil {
		fmt.Fprintf(b, "aborted       %d records in the output topics\n", *n.Aborted)
	}
	if n.Later > 0 {
		fmt.Fprintf(b, "later         %d results of a transaction that was not over when the audit "+
			"began; they are left to the next one\n", n.Later)
	}
	if n.Deleted > 0 {
		fmt.Fprintf(b, "deleted       %d results and dead letters are of input records that "+
			"retention has deleted since\n", n.Deleted)
	}
	if n.OtherHeaders > 0 {
		fmt.Fprintf(b, "headers       %d results carry all headers of their input records, or those of "+
			"the default, by an earlier setting of output.headers\n", n.OtherHeaders)
	}
	for _, limit := range r.Limits {
		fmt.Fprintf(b, "not checked   %s\n", limit)
	}
	if r.Note != "" {
		fmt.Fprintf(b, "note          %s\n", printable.Text(r.Note))
	}
}

func (c *Check) explain(b *strings.Builder) {
	if c.NotChecked != "" {
		fmt.Fprintf(b, "\n%s not checked: %s\n", c.ID, printable.Text(c.NotChecked))
	}
	if c.Violations == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s violated:\n", c.ID)
	for _, v := range c.Shown {
		fmt.Fprintf(b, "  %s\n    expected  %s\n    found     %s\n",
			printable.Text(v.At), printable.Text(v.Expected), printable.Text(v.Found))
	}
	if more := c.Violations - int64(len(c.Shown)); more > 0 {
		fmt.Fprintf(b, "  and %d more\n", more)
	}
}

func classes(counts map[string]int64) string {
	var total int64
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(counts)) {
		total += counts[class]
		parts = append(parts, fmt.Sprintf("%s %d", printable.Text(class), counts[class]))
	}
	if total == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s", total, strings.Join(parts, ", "))
}

// Differences are between a message and its input record.
type Differences struct{ Want, Got []string }

// Add notes what is wanted, and what was found instead.
func (d *Differences) Add(want, got string) {
	d.Want, d.Got = append(d.Want, want), append(d.Got, got)
}
