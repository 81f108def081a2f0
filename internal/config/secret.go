package config

import (
	"fmt"
	"io"
	"log/slog"
)

const mask = "***"

// Secret is text that is never printed: fmt, log/slog, encoding/json and YAML
// show "***", or nothing when it is empty. It guards against printing a Config
// by mistake, not against all ways: fmt calls no method on a value in an
// unexported field nor for %p, and encoding/json none on the key of a map, so
// hold a Secret in an exported field.
type Secret string

// Reveal gives the text itself.
func (s Secret) Reveal() string { return string(s) }

// String gives the mask.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString gives the mask as a Go literal.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// Format writes the mask whatever the verb, since %x and %d would otherwise
// pass String by.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	_, _ = io.WriteString(f, text) // fmt.State never fails
}

// MarshalText gives the mask to encoders such as JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue gives the mask to log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
