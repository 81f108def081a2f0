// Package strict reads what a request says. The bytes of a JSON value go in, or the parameters of
// an address; out comes a struct, or an error that names what is wrong. Nothing is guessed and
// nothing is passed over: not a field that nobody knows, one that stands there twice, a null, a
// byte that is no character, or one item too many.
package strict

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// How much of a wrong value or name an error repeats, in bytes.
const (
	maxValue = 40
	maxField = 200
)

// An Error says what is wrong with a request.
type Error struct {
	Field  string // its JSON pointer or the parameter's name; empty: the whole
	Reason string // for a person
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s: %s", e.Field, e.Reason)
}

var errNull = errors.New("is null; leave it out instead")

// noNull refuses a null wherever one stands, but in what is taken as it is.
var noNull = json.UnmarshalFromFunc(func(d *jsontext.Decoder, v any) error {
	if _, raw := v.(*jsontext.Value); !raw && d.PeekKind() == 'n' {
		return errNull
	}
	return errors.ErrUnsupported
})

// wholeNumbers takes a whole number in whichever way it is written, such as 7.0, which is one to
// JSON Schema.
var wholeNumbers = json.UnmarshalFromFunc(func(d *jsontext.Decoder, n *int) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	if *n, err = strconv.Atoi(string(value)); err == nil {
		return nil
	}
	const exact = 1 << 53
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		return fmt.Errorf("must be a whole number of at most %d", exact)
	}
	*n = int(f)
	return nil
})

// A Limit bounds how many items a list may have.
type Limit = *json.Unmarshalers

// AtMost returns the limit of lists of T: n items, and no empty list. What comes after the last is
// not read.
func AtMost[T any](n int) Limit {
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, list *[]T) error {
		if d.PeekKind() != '[' {
			return errors.ErrUnsupported
		}
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		for d.PeekKind() != ']' {
			if len(*list) == n {
				return fmt.Errorf("has more than %d items", n)
			}
			var item T
			if err := json.UnmarshalDecode(d, &item); err != nil {
				return err
			}
			*list = append(*list, item)
		}
		if len(*list) == 0 {
			return errors.New("has no items")
		}
		_, err := d.ReadToken()
		return err
	})
}

// JSON reads one JSON value, and nothing beside it, into the struct that v points to. An error is
// an [*Error].
func JSON(value []byte, v any, limits ...Limit) error {
	all := json.JoinUnmarshalers(append([]Limit{noNull, wholeNumbers}, limits...)...)
	err := json.Unmarshal(value, v, json.WithUnmarshalers(all), json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	return explain(err)
}

// Few returns an [*Error] for an object that has more than so many fields. What comes after these
// is not read, and what else may be wrong is for [JSON] to say.
func Few(value []byte, most int) error {
	d := jsontext.NewDecoder(bytes.NewReader(value))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return nil
	}
	for n := 0; d.PeekKind() == '"'; n++ {
		if n == most {
			return &Error{Reason: fmt.Sprintf("has more than %d fields", most)}
		}
		for range 2 { // its name, and what it is
			if d.SkipValue() != nil {
				return nil
			}
		}
	}
	return nil
}

// explain says it without the names of Go's types.
func explain(err error) error {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return &Error{field(semantic.JSONPointer), reason(semantic)}
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		what := strings.TrimPrefix(syntactic.Err.Error(), "jsontext: ")
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return &Error{field(syntactic.JSONPointer), "stands there twice"}
		}
		return &Error{
			field(syntactic.JSONPointer),
			fmt.Sprintf("this is no JSON: %s, at byte %d", what, syntactic.ByteOffset),
		}
	}
	return &Error{Reason: err.Error()}
}

// field returns the place that a pointer names.
func field(p jsontext.Pointer) string { return clip(string(p), maxField) }

// clip makes text of a stranger valid and short.
func clip(text string, longest int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

func reason(e *json.SemanticError) string {
	switch {
	case errors.Is(e.Err, json.ErrUnknownName):
		return "there is no such field"
	case e.JSONKind == 0 && e.Err != nil:
		return e.Err.Error()
	}
	found := map[jsontext.Kind]string{
		'n': "null", 't': "a boolean", 'f': "a boolean", '"': "a string", '0': "a number",
		'{': "an object", '[': "an array",
	}[e.JSONKind]
	if v := string(e.JSONValue); v != "" && len(v) <= maxValue {
		found = v
	}
	var noTime *time.ParseError
	switch {
	case errors.As(e.Err, &noTime):
		return found + ", but no time such as 2026-05-01T12:00:00Z"
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", found, e.Err)
	}
	return "must not be " + found
}
