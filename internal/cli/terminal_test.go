package cli

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{"bridge", 6, "bridge"},
		{"bridge", 5, "brid…"},
		{"港口大桥", 8, "港口大桥"},
		{"港口大桥", 7, "港口大…"},
		{"港口大桥", 6, "港口…"}, // half a character cannot be shown
		{"e\u0301a\u0301o\u0301", 2, "e\u0301…"},
		{"", 0, ""},
	} {
		got := Fit(tt.text, tt.width)
		if got != tt.want || uniseg.StringWidth(got) > tt.width {
			t.Errorf("Fit(%q, %d) = %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func TestNoTerminal(t *testing.T) {
	for _, f := range []any{nil, new(strings.Builder)} {
		if IsTerminal(f) || HasColours(f) || Width(f, 80) != 80 {
			t.Errorf("%T is taken for a terminal", f)
		}
	}
}
