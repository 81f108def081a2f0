package strict

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Query reads the parameters of an address, and keeps the first error.
type Query struct {
	values url.Values
	known  []string
	err    error
}

// NewQuery reads the query of an address.
func NewQuery(u *url.URL) *Query {
	values, err := url.ParseQuery(u.RawQuery)
	q := &Query{values: values}
	if err != nil {
		q.err = &Error{Reason: "the address: " + strings.ToValidUTF8(err.Error(), "\uFFFD")}
	}
	return q
}

func (q *Query) fail(name, format string, args ...any) {
	if q.err == nil {
		q.err = &Error{name, fmt.Sprintf(format, args...)}
	}
}

// Text returns a parameter of at most so many bytes, empty where it is not there.
func (q *Query) Text(name string, most int) string {
	q.known = append(q.known, name)
	all := q.values[name]
	switch {
	case len(all) == 0:
		return ""
	case len(all) > 1:
		q.fail(name, "stands there %d times", len(all))
	case len(all[0]) > most:
		q.fail(name, "is longer than %d bytes", most)
	case !utf8.ValidString(all[0]):
		q.fail(name, "is not UTF-8")
	}
	return all[0]
}

// OneOf returns a parameter that is one of these words, the first where it is not there.
func (q *Query) OneOf(name string, words ...string) string {
	text := q.Text(name, maxValue)
	switch {
	case len(q.values[name]) == 0:
		return words[0]
	case !slices.Contains(words, text):
		q.fail(name, "must be one of %s", strings.Join(words, ", "))
	}
	return text
}

// Int returns a whole number within limits, or what it is where it is not there.
func (q *Query) Int(name string, least, most, otherwise int) int {
	text := q.Text(name, maxValue)
	if len(q.values[name]) == 0 {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		q.fail(name, "must be a whole number from %d to %d", least, most)
	}
	return n
}

// Err returns the first error: of a parameter, or that there is one which nobody has asked for.
func (q *Query) Err() error {
	for name := range q.values {
		if !slices.Contains(q.known, name) && q.err == nil {
			return &Error{
				clip(name, maxValue), "there is no such parameter; there is " + strings.Join(q.known, ", "),
			}
		}
	}
	return q.err
}
