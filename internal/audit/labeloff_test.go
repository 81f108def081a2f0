package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/audit/report"
)

// newOffStage has labels off in the third and fourth of six transactions of four articles each. A
// cluster is labelled before that and after it, and one that is founded after it.
func newOffStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, withLabels)
	var items []item
	for i := range 24 {
		items = append(items, item{partition: 0, minute: int64(i)})
		if i >= 16 && i%2 == 1 {
			items[i].fingerprint = 0xffff0000
		}
	}
	s.cluster(items, s.input(items))
	s.off = map[int]bool{2: true, 3: true}
	s.label([]labelling{
		{batch: 1, record: `{"cluster_id":"articles/0/0","label":"spam"}`},
		{batch: 4, record: `{"cluster_id":"articles/0/0","label":"odd"}`},
		{batch: 5, record: `{"cluster_id":"articles/0/17","label":"spam"}`},
		{batch: 6, record: `{"cluster_id":"articles/0/0","label":"spam","action":"remove"}`},
	})
	return s
}

// Labels that were off for a while are checked before, meanwhile and after.
func TestLabelsOffForAWhile(t *testing.T) {
	t.Parallel()
	for _, test := range []fault{
		{name: "holds", seed: func(*stage) {}},
		{name: "a label is lost before", seed: func(s *stage) {
			s.edit(s.result(7), `"labels":["spam"],`, "")
		}, want: []string{"I9 article-clusters/0/8"}},
		{name: "a label meanwhile", seed: func(s *stage) {
			s.edit(s.result(9), `"fingerprint"`, `"labels":["spam"],"fingerprint"`)
		}, want: []string{"I9 article-clusters/0/11"}},
		{name: "a label is lost after", seed: func(s *stage) {
			s.edit(s.result(16), `"labels":["odd","spam"],`, "")
		}, want: []string{"I9 article-clusters/0/20"}},
		{name: "a label of a cluster that was founded after is lost", seed: func(s *stage) {
			s.edit(s.result(21), `"labels":["spam"],`, "")
		}, want: []string{"I9 article-clusters/0/26"}},
		{name: "a correction is lost", seed: func(s *stage) {
			s.drop(s.record("corrections", 4))
		}, want: []string{"I11 labels/0/1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newOffStage(t)
			test.seed(s)
			s.write()
			found := s.audit(Options{Show: 1})
			if !slices.Equal(firsts(found), test.want) || found.Unchecked() > 0 {
				t.Errorf("found:\n%s\nwant %q", strings.Join(violations(found), "\n"), test.want)
			}
		})
	}
}

// Where the checkpoints have been compacted away that say since when labels were off, results
// without labels are believed up to when they were on again, and nothing else is.
func TestLabelsOffForAWhileAndCompacted(t *testing.T) {
	t.Parallel()
	for _, test := range []fault{
		{name: "holds", seed: func(*stage) {}},
		{name: "a label is lost after", seed: func(s *stage) {
			s.edit(s.result(16), `"labels":["odd","spam"],`, "")
		}, want: []string{"I9 article-clusters/0/20"}},
		{name: "a label before", seed: func(s *stage) {
			s.edit(s.result(2), `"fingerprint"`, `"labels":["odd"],"fingerprint"`)
		}, want: []string{"I9 article-clusters/0/2"}},
		{name: "a correction is lost", seed: func(s *stage) {
			s.drop(s.record("corrections", 4))
		}, want: []string{"I11 labels/0/1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newOffStage(t)
			test.seed(s)
			s.write()
			s.compact()
			found := s.audit(Options{Show: 1})
			i := slices.IndexFunc(found.Checks, func(c *report.Check) bool { return c.ID == "I9" })
			const believed = "results without labels cannot be checked from position 8 to 15: "
			if !slices.Equal(firsts(found), test.want) || found.Unchecked() > 1 ||
				!strings.HasPrefix(found.Checks[i].NotChecked, believed) {
				t.Errorf("%d are not checked, I9 for %q; found:\n%s\nwant %q", found.Unchecked(),
					found.Checks[i].NotChecked, strings.Join(violations(found), "\n"), test.want)
			}
		})
	}
}
