package report

import (
	"math"
	"strings"
	"testing"
)

// A violation weighs more than what could not be checked, and that more than nothing.
func TestVerdicts(t *testing.T) {
	r := New("articles", "clusterd", 1)
	r.Add("I1", "holds")
	skipped, violated := r.Add("I2", "is skipped"), r.Add("I3", "is violated")
	skipped.Skip("one reason")
	skipped.Skip("another")
	violated.Skip("a part")
	violated.Violate("articles/0/1", "this", "that \x1b[2J")
	violated.Violate("articles/0/2", "this", "that")
	r.Counts.OtherHeaders = 3
	r.Conclude()
	for i, want := range []string{Holds, NotChecked, Violated} {
		if got := r.Checks[i].Verdict; got != want {
			t.Errorf("%s: %s, want %s", r.Checks[i].ID, got, want)
		}
	}
	if r.Violations() != 2 || r.Unchecked() != 2 || len(violated.Shown) != 1 {
		t.Errorf("%d violations, %d unchecked, %d shown; want 2, 2, 1",
			r.Violations(), r.Unchecked(), len(violated.Shown))
	}
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"input         articles, group clusterd\n",
		"headers       3 results carry all headers of their input records, or those of the default, by " +
			"an earlier setting of output.headers\n",
		"\nI3  is violated  0 checked  VIOLATED (2)\n",
		"\nI2 not checked: one reason; another\n",
		"\n  articles/0/1\n    expected  this\n    found     that \\x1b[2J\n  and 1 more\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
}

func TestClock(t *testing.T) {
	for ms, want := range map[int64]string{
		1_700_000_000_001: "2023-11-14T22:13:20.001Z", -1: "1969-12-31T23:59:59.999Z",
		math.MinInt64: "never",
	} {
		if got := Clock(ms); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	}
}
