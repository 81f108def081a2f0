package checkpoint_test

import (
	"testing"

	"github.com/clusterd/clusterd/internal/message/checkpoint"
)

func TestFoldedBefore(t *testing.T) {
	for name, tt := range map[string]struct {
		was, is string
		want    int
	}{
		"an earlier version": {"method=exact,fold=1,contacts=1/0", "method=exact,fold=2", 1},
		"the same":           {"method=exact,fold=2", "method=exact,fold=2", 0},
		"a later one":        {"method=exact,fold=2", "method=exact,fold=1", 0},
		"not any more":       {"method=exact,fold=1", "method=exact", 0},
		"not before":         {"method=exact", "method=exact,fold=2", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := checkpoint.FoldedBefore(tt.was, tt.is); got != tt.want {
				t.Errorf("FoldedBefore = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestDifference(t *testing.T) {
	for name, tt := range map[string]struct{ was, is, want string }{
		"one":              {"a=1,b=2", "a=1,b=3", "b was 2 and is 3"},
		"several":          {"a=1,b=2,c=3", "a=2,b=2,c=4", "a was 1 and is 2, c was 3 and is 4"},
		"a part is gone":   {"a=1,b=2", "a=1", `it was "a=1,b=2" and is "a=1"`},
		"a part is new":    {"a=1", "a=1,b=2", `it was "a=1" and is "a=1,b=2"`},
		"in another order": {"a=1,b=2", "b=2,a=1", `it was "a=1,b=2" and is "b=2,a=1"`},
		"no identity":      {"", "a=1", `it was "" and is "a=1"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := checkpoint.Difference(tt.was, tt.is); got != tt.want {
				t.Errorf("Difference = %s\nwant         %s", got, tt.want)
			}
		})
	}
}
