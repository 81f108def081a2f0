package config

import "slices"

// value is a place in a Config that can be set from text, much as a
// flag.Value. A scalar is a value of exactly one item.
type value interface {
	reset()                // to its default
	clear()                // to no items, before they are added
	add(text string) error // one item; the error says what is allowed
	items() []string       // each as add takes it
	isList() bool
	least() int     // fewest items
	trait() trait   // what its text refers to
	limits() string // what is allowed, "" where any text is
}

// trait is what has to be done with a text before it is a value.
type trait int

const (
	plainText trait = iota
	fileName        // resolve it, and see that the file is there
	secret          // may be file:PATH; never to be shown
)

// kind is what a text must look like to be a T. parse and format are inverse:
// parse(format(v)) is v for every v that parse gives.
type kind[T any] struct {
	allowed string
	trait   trait
	parse   func(text string) (T, error)
	format  func(v T) string
}

type scalarValue[T any] struct {
	at      *T
	initial T
	kind    kind[T]
}

func scalar[T any](at *T, k kind[T], initial T) value {
	return &scalarValue[T]{at: at, initial: initial, kind: k}
}

func (s *scalarValue[T]) add(text string) error {
	v, err := s.kind.parse(text)
	if err != nil {
		return err
	}
	*s.at = v
	return nil
}

func (s *scalarValue[T]) reset()          { *s.at = s.initial }
func (s *scalarValue[T]) clear()          {}
func (s *scalarValue[T]) items() []string { return []string{s.kind.format(*s.at)} }
func (s *scalarValue[T]) isList() bool    { return false }
func (s *scalarValue[T]) least() int      { return 1 }
func (s *scalarValue[T]) trait() trait    { return s.kind.trait }
func (s *scalarValue[T]) limits() string  { return s.kind.allowed }

type listValue[T any] struct {
	at      *[]T
	initial []T
	fewest  int
	kind    kind[T]
}

func list[T any](at *[]T, fewest int, k kind[T], initial ...T) value {
	return &listValue[T]{at: at, initial: initial, fewest: fewest, kind: k}
}

func (l *listValue[T]) add(text string) error {
	v, err := l.kind.parse(text)
	if err != nil {
		return err
	}
	*l.at = append(*l.at, v)
	return nil
}

func (l *listValue[T]) items() []string {
	texts := make([]string, len(*l.at))
	for i, v := range *l.at {
		texts[i] = l.kind.format(v)
	}
	return texts
}

func (l *listValue[T]) reset()         { *l.at = slices.Clone(l.initial) }
func (l *listValue[T]) clear()         { *l.at = nil }
func (l *listValue[T]) isList() bool   { return true }
func (l *listValue[T]) least() int     { return l.fewest }
func (l *listValue[T]) trait() trait   { return l.kind.trait }
func (l *listValue[T]) limits() string { return l.kind.allowed }
