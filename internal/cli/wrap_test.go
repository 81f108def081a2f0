package cli

import (
	"slices"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"one two  three\nfour", 10, []string{"one two", "three four"}},
		{"a /very/long/path stays", 8, []string{"a", "/very/long/path", "stays"}},
		{"很长 很长 很长", 10, []string{"很长 很长", "很长"}},
	} {
		if got := Wrap(tt.text, tt.width); !slices.Equal(got, tt.want) {
			t.Errorf("%q in %d: %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}
