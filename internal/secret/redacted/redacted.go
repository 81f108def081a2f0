// Package redacted holds text that must not be shown, such as passwords: what is printed, logged or
// encoded is a mask.
package redacted

import (
	"fmt"
	"io"
	"log/slog"
)

// Mask is what is shown in place of the text.
const Mask = "***"

// Text is never printed: fmt, log/slog, encoding/json and YAML show [Mask], or nothing when it is
// empty. It guards against printing it by mistake, not against all ways: fmt calls no method on a
// value in an unexported field nor for %p, and encoding/json none on the key of a map, so hold a
// Text in an exported field.
type Text string

// Reveal returns the text itself.
func (s Text) Reveal() string { return string(s) }

// String returns the mask.
func (s Text) String() string {
	if s == "" {
		return ""
	}
	return Mask
}

// GoString returns the mask as a Go literal.
func (s Text) GoString() string { return fmt.Sprintf("%q", s.String()) }

// Format writes the mask whatever the verb, since %x and %d would otherwise
// pass String by.
func (s Text) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	_, _ = io.WriteString(f, text) // fmt.State never fails
}

// MarshalText returns the mask to encoders such as JSON and YAML.
func (s Text) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns the mask to log/slog.
func (s Text) LogValue() slog.Value { return slog.StringValue(s.String()) }
