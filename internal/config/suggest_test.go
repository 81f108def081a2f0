package config

import "testing"

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"topic", "topic", 0},
		{"topci", "topic", 1},
		{"tpic", "topic", 1},
		{"topics", "topic", 1},
		{"tobic", "topic", 1},
		{"kitten", "sitting", 3},
	} {
		for _, pair := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
			if got := edits(pair[0], pair[1], 100); got != tt.want {
				t.Errorf("edits(%q, %q) = %d, want %d", pair[0], pair[1], got, tt.want)
			}
		}
	}
}
