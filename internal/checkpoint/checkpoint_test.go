package checkpoint_test

import (
	"testing"

	"github.com/clusterd/clusterd/internal/checkpoint"
)

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
