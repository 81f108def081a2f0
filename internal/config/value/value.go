// Package value sets variables from text and writes them as text, each within its limits.
//
// In: a variable, its default and a [Kind], which says what texts it takes. Out: a [Value], for a
// table of keys. Which keys there are, and where their texts come from, it does not know.
package value

import (
	"reflect"
	"slices"
)

// A Value is a variable that can be set from text, much as a flag.Value. A scalar is a value of
// exactly one item.
type Value interface {
	Reset()                  // to its default
	Clear()                  // to no items, before they are added
	Add(text string) error   // one item; the error says what is allowed
	Items() []string         // each as Add takes it
	IsSame(other Value) bool // as another of the same type; secrets are compared as they are
	IsList() bool
	MinItems() int   // how many items it must have
	Trait() Trait    // what its text refers to
	Limits() string  // what is allowed, "" where any text is
	Words() []string // that an item may be, among others; nil: there is no word to propose
}

// A Trait is what has to be done with a text before it is a value.
type Trait int

// What a text refers to.
const (
	PlainText Trait = iota
	FileName        // resolve it, and see that the file is there
	Secret          // may be file:PATH; never to be shown
)

// A Kind is what a text must look like to be a T. parse and format are inverse: parse(format(v)) is
// v for every v that parse gives.
type Kind[T any] struct {
	allowed string
	words   []string // some of what is allowed, to be proposed
	trait   Trait
	parse   func(text string) (T, error)
	format  func(v T) string
}

type scalarValue[T any] struct {
	at      *T
	initial T
	kind    Kind[T]
}

// Scalar returns the value of the variable at, whose default is initial.
func Scalar[T any](at *T, k Kind[T], initial T) Value {
	return &scalarValue[T]{at: at, initial: initial, kind: k}
}

func (s *scalarValue[T]) Add(text string) error {
	v, err := s.kind.parse(text)
	if err != nil {
		return err
	}
	*s.at = v
	return nil
}

func (s *scalarValue[T]) Reset()          { *s.at = s.initial }
func (s *scalarValue[T]) Clear()          {}
func (s *scalarValue[T]) Items() []string { return []string{s.kind.format(*s.at)} }
func (s *scalarValue[T]) IsSame(other Value) bool {
	o, ok := other.(*scalarValue[T])
	return ok && reflect.DeepEqual(*s.at, *o.at)
}
func (s *scalarValue[T]) IsList() bool    { return false }
func (s *scalarValue[T]) MinItems() int   { return 1 }
func (s *scalarValue[T]) Trait() Trait    { return s.kind.trait }
func (s *scalarValue[T]) Limits() string  { return s.kind.allowed }
func (s *scalarValue[T]) Words() []string { return s.kind.words }

type listValue[T any] struct {
	at       *[]T
	initial  []T
	minItems int
	kind     Kind[T]
}

// List returns the value of the list at, of minItems items or more, whose default is initial.
func List[T any](at *[]T, minItems int, k Kind[T], initial ...T) Value {
	return &listValue[T]{at: at, initial: initial, minItems: minItems, kind: k}
}

func (l *listValue[T]) Add(text string) error {
	v, err := l.kind.parse(text)
	if err != nil {
		return err
	}
	*l.at = append(*l.at, v)
	return nil
}

func (l *listValue[T]) Items() []string {
	texts := make([]string, len(*l.at))
	for i, v := range *l.at {
		texts[i] = l.kind.format(v)
	}
	return texts
}

func (l *listValue[T]) Reset() { *l.at = slices.Clone(l.initial) }
func (l *listValue[T]) Clear() { *l.at = nil }
func (l *listValue[T]) IsSame(other Value) bool {
	o, ok := other.(*listValue[T])
	return ok && reflect.DeepEqual(*l.at, *o.at)
}
func (l *listValue[T]) IsList() bool    { return true }
func (l *listValue[T]) MinItems() int   { return l.minItems }
func (l *listValue[T]) Trait() Trait    { return l.kind.trait }
func (l *listValue[T]) Limits() string  { return l.kind.allowed }
func (l *listValue[T]) Words() []string { return l.kind.words }
