package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// report is all that a run has measured.
type report struct {
	Cores      int             `json:"cores"`
	Go         string          `json:"go"`
	Method     string          `json:"method"`
	Index      string          `json:"index"`
	Partitions int             `json:"partitions"`
	Skip       float64         `json:"skip"`  // the share of the records before measuring
	Texts      string          `json:"texts"` // where they are from
	Inputs     []inputReport   `json:"inputs,omitempty"`
	Latency    []latencyReport `json:"latency,omitempty"`
	Growth     []growthReport  `json:"growth,omitempty"`
}

type inputReport struct {
	Name    string       `json:"name"`
	Records int          `json:"records"`
	Bytes   int64        `json:"bytes"` // of the values
	Roles   []roleReport `json:"roles"`
}

type roleReport struct {
	Role   string        `json:"role"`
	Rounds []measurement `json:"rounds"`
}

type latencyReport struct {
	Role   string    `json:"role"`
	Rate   int       `json:"rate"` // articles a second
	Rounds []latency `json:"rounds"`
}

type growthReport struct {
	Name   string        `json:"name"` // of what grows
	Points []pointReport `json:"points"`
}

type pointReport struct {
	Label   string        `json:"label"`
	Records int           `json:"records"`
	Bytes   int64         `json:"bytes"`
	Rounds  []measurement `json:"rounds"`
}

func (r report) writeJSON(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// markdown returns the report for a person.
func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cores, %s, %d partitions, method %s, index %s; measured from %.0f %% of "+
		"the records to %.0f %%; texts: %s\n",
		r.Cores, r.Go, r.Partitions, r.Method, r.Index, 100*r.Skip, 100*(1-tail), r.Texts)
	for _, in := range r.Inputs {
		fmt.Fprintf(&b, "\n%s: %s records of %d bytes in the mean; medians, and records/s of each "+
			"round\n\n",
			in.Name, thousands(float64(in.Records)), in.Bytes/int64(in.Records))
		b.WriteString(in.figures())
		if ratios := in.ratios(); ratios != "" {
			b.WriteString("\n" + ratios)
		}
	}
	if len(r.Latency) > 0 {
		fmt.Fprintf(&b, "\nlatency at %d articles a second, in ms; medians, and p99 of each round\n\n",
			r.Latency[0].Rate)
		b.WriteString(latencies(r.Latency))
	}
	for _, g := range r.Growth {
		fmt.Fprintf(&b, "\nclusterd by %s; medians, and records/s of each round\n\n%s", g.Name,
			g.figures())
	}
	return b.String()
}

func (in inputReport) figures() string {
	rows := [][]string{{
		"", "records/s", "CPU µs/record", "broker CPU µs/record", "CPU s", "broker CPU s", "peak MiB",
		"rounds",
	}}
	for _, role := range in.Roles {
		rows = append(rows, []string{
			role.Role,
			thousands(middle(role.Rounds, measurement.rate)),
			figure(1, middle(role.Rounds, measurement.microseconds)),
			figure(1, middle(role.Rounds, measurement.brokerMicroseconds)),
			figure(2, middle(role.Rounds, func(m measurement) float64 { return m.CPUSeconds })),
			figure(2, middle(role.Rounds, func(m measurement) float64 { return m.BrokerCPUSeconds })),
			thousands(middle(role.Rounds, mebibytes)),
			each(role.Rounds, func(m measurement) string { return thousands(m.rate()) }),
		})
	}
	return table(rows)
}

func mebibytes(m measurement) float64 { return float64(m.PeakBytes) / (1 << 20) }

// ratios returns those of clusterd's rate to each of the others', in each round; "" where it was
// not measured.
func (in inputReport) ratios() string {
	at := slices.IndexFunc(in.Roles, func(r roleReport) bool { return r.Role == "clusterd" })
	if at < 0 || len(in.Roles) < 2 {
		return ""
	}
	rows := [][]string{{"ratio of records/s", "median", "rounds"}}
	for _, other := range in.Roles {
		if other.Role == "clusterd" {
			continue
		}
		ratios := make([]float64, len(other.Rounds))
		for i, m := range other.Rounds {
			if rate := m.rate(); rate > 0 {
				ratios[i] = in.Roles[at].Rounds[i].rate() / rate
			}
		}
		of := func(r float64) float64 { return r }
		rows = append(rows, []string{
			"clusterd/" + other.Role, figure(3, middle(ratios, of)),
			each(ratios, func(r float64) string { return figure(3, r) }),
		})
	}
	return table(rows)
}

func latencies(roles []latencyReport) string {
	rows := [][]string{{"", "p50", "p99", "p99.9", "max", "sent late", "rounds"}}
	for _, role := range roles {
		row := []string{role.Role}
		for _, of := range []func(latency) float64{
			func(l latency) float64 { return l.P50 }, func(l latency) float64 { return l.P99 },
			func(l latency) float64 { return l.P999 }, func(l latency) float64 { return l.Max },
			func(l latency) float64 { return l.Late },
		} {
			row = append(row, figure(1, middle(role.Rounds, of)))
		}
		rows = append(
			rows, append(row, each(role.Rounds, func(l latency) string { return figure(1, l.P99) })),
		)
	}
	return table(rows)
}

func (g growthReport) figures() string {
	rows := [][]string{{g.Name, "records", "records/s", "MB/s", "CPU µs/record", "peak MiB", "rounds"}}
	for _, p := range g.Points {
		rows = append(rows, []string{
			p.Label, thousands(float64(p.Records)),
			thousands(middle(p.Rounds, measurement.rate)),
			figure(1, middle(p.Rounds, measurement.rate)*float64(p.Bytes)/float64(p.Records)/1e6),
			figure(1, middle(p.Rounds, measurement.microseconds)),
			thousands(middle(p.Rounds, mebibytes)),
			each(p.Rounds, func(m measurement) string { return thousands(m.rate()) }),
		})
	}
	return table(rows)
}

// middle returns the median of a figure over the rounds.
func middle[T any](rounds []T, of func(T) float64) float64 {
	figures := make([]float64, len(rounds))
	for i, r := range rounds {
		figures[i] = of(r)
	}
	slices.SortFunc(figures, cmp.Compare)
	n := len(figures)
	return (figures[(n-1)/2] + figures[n/2]) / 2
}

// each writes the rounds side by side.
func each[T any](rounds []T, write func(T) string) string {
	cells := make([]string, len(rounds))
	for i, r := range rounds {
		cells[i] = write(r)
	}
	return strings.Join(cells, " ")
}

// figure writes a number, or a dash for what was not measured.
func figure(decimals int, v float64) string {
	if !(v > 0) { // NaN: nothing was left to measure
		return "–"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// thousands writes a number as 1,234,567.
func thousands(v float64) string {
	s := figure(0, v)
	for at := len(s) - 3; at > 0 && v >= 1_000; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// table writes rows as Markdown, the first one as the head, in columns that a terminal shows well
// too.
func table(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for n, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(&b, "| %s%s ", cell, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				b.WriteString("|" + strings.Repeat("-", width+2))
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}
