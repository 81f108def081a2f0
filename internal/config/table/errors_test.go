package table

import "testing"

func TestError(t *testing.T) {
	for _, tt := range []struct {
		err  Error
		want string
	}{
		{
			Error{"news.yaml", 12, 13, "cluster.distance", "9", "must be between 0 and 6"},
			"news.yaml:12:13: cluster.distance: 9: must be between 0 and 6",
		},
		{
			Error{"news.yaml", 12, 13, "input.group", "", "must not be empty"},
			"news.yaml:12:13: input.group: must not be empty",
		},
		{
			Error{Key: "input.group", Value: " ", Problem: "must not be empty"},
			`input.group: " ": must not be empty`,
		},
		{Error{File: "news.yaml", Problem: "cannot be read"}, "news.yaml: cannot be read"},
		{Error{Line: 1, Column: 2, Problem: "is wrong"}, "1:2: is wrong"},
		{Error{Problem: "is wrong"}, "is wrong"},
		{Error{File: "a\nb", Key: "\x1b", Value: "\xff中", Problem: "x\ty"}, `a\nb: \x1b: \xff中: x\ty`},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
