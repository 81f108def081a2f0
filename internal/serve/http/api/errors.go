package api

import (
	"errors"
	"fmt"
)

// The errors of an answer.
var (
	// ErrUnknown is that there is no such cluster, story, contact or article.
	ErrUnknown = errors.New("there is none")
	// ErrNotReady is that the instance cannot answer yet, or not now. It passes by itself.
	ErrNotReady = errors.New("this instance is not ready to answer")
	// ErrLate is that the instance may know soon: it has not read all that was committed.
	ErrLate = errors.New("this instance has not read yet what was committed before the question: " +
		"ask again in a moment, or another instance")
)

// An InvalidError is of a request that is well-formed and asks for what cannot be.
type InvalidError struct {
	Field  string // a JSON pointer or the name of a parameter; empty: the whole
	Reason string // for a person
}

func (e *InvalidError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// Invalid returns an [InvalidError] whose reason is formatted as [fmt.Sprintf] does it.
func Invalid(field, format string, args ...any) error {
	return &InvalidError{field, fmt.Sprintf(format, args...)}
}

// An ElsewhereError is of a question about a space that another instance has.
type ElsewhereError struct {
	Space  string
	Reason string // for a person: which instance has it
}

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("this instance has no space %s: %s", e.Space, e.Reason)
}
