package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/clusterd/clusterd/internal/text/printable"
)

// An Error is one mistake in a file.
type Error struct {
	File    string // as its name was given
	Line    int    // from 1; 0 where no line is to blame
	Column  int    // from 1, in characters
	Key     string // dotted path; empty where no key is to blame
	Value   string // the value to blame after substitution; "***" for a secret; may be empty
	Problem string // what is wrong, and what is allowed or what to do
}

// Error returns the mistake on one line:
//
//	news.yaml:12:13: cluster.distance: 9: must be between 0 and 6
func (e Error) Error() string {
	var b strings.Builder
	b.WriteString(printable.Text(e.File))
	if e.Line > 0 {
		if e.File != "" {
			b.WriteByte(':')
		}
		fmt.Fprintf(&b, "%d:%d", e.Line, e.Column)
	}
	value := shorten(e.Value)
	if value != strings.TrimSpace(value) {
		value = strconv.Quote(value)
	}
	for _, part := range []string{shorten(e.Key), value, e.Problem} {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(printable.Text(part))
	}
	return b.String()
}

// Compare orders mistakes by line and column.
func (e Error) Compare(other Error) int {
	return cmp.Or(cmp.Compare(e.Line, other.Line), cmp.Compare(e.Column, other.Column))
}

// Errors holds every mistake in a file, sorted by line.
type Errors []Error

// Error returns one mistake a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a single Error.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// shorten keeps a pasted page from filling the screen.
func shorten(s string) string {
	const most = 80
	count := 0
	for i := range s {
		if count++; count > most {
			return s[:i] + "…"
		}
	}
	return s
}
