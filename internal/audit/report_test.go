package audit

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// violations returns the violations of a report, a line each.
func violations(r *report.Report) (lines []string) {
	for _, c := range r.Checks {
		for _, v := range c.Shown {
			lines = append(lines, fmt.Sprintf("%s %s: %s; found %s", c.ID, v.At, v.Expected, v.Found))
		}
	}
	return lines
}

// wantHeld fails unless nothing is violated and everything was checked.
func wantHeld(t *testing.T, r *report.Report) {
	t.Helper()
	for _, line := range violations(r) {
		t.Error(line)
	}
	if r.Violations() > 0 || r.Unchecked() > 0 {
		t.Errorf("%d violations, %d promises unchecked; want none", r.Violations(), r.Unchecked())
	}
}

// firsts returns where the first violation of each promise is.
func firsts(r *report.Report) (at []string) {
	for _, c := range r.Checks {
		if len(c.Shown) > 0 {
			at = append(at, c.ID+" "+c.Shown[0].At)
		}
	}
	return at
}

func TestTable(t *testing.T) {
	t.Parallel()
	for name, seed := range map[string]func(*stage){
		"holds": func(*stage) {},
		"violated": func(s *stage) {
			s.edit(s.result(2), `"distance":2`, `"distance":1`)
			s.edit(s.result(6), "articles/0/3", "articles/1/0")
			s.edit(s.result(7), "articles/1/0", "articles/0/3")
			s.edit(s.clusterRecord(5), `"size":3`, `"size":2`)
			s.drop(s.result(4))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			s.cluster(story, s.input(story))
			seed(s)
			s.write()
			var b bytes.Buffer
			if err := s.audit(Options{Show: 2, Aborted: true}).Write(&b); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", name+".txt"), b.Bytes())
		})
	}
}
