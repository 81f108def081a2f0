package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
)

func byHeader(c *config.Config) {
	c.Cluster.Scope, c.Cluster.ScopeField = config.ByField, "header:from"
}

// Articles of one value are clustered as those of one partition are.
func TestSpacesByFieldHold(t *testing.T) {
	t.Parallel()
	s := newStage(t, byHeader)
	items := long(100)
	s.cluster(items, s.input(items))
	s.write()
	wantHeld(t, s.audit(Options{}))
}

// An article that joined a cluster of another value is found, and so are a result and a cluster
// that say another value than their records.
func TestFaultsOfSpacesAreFound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		from map[int]string
		seed func(*stage)
		want []string
	}{
		{
			name: "a cluster is joined across values",
			from: map[int]string{2: "another"}, // articles/0/1
			want: []string{"I3 article-clusters/0/1", "I4 clusters/0/0"},
		},
		{
			name: "a result of another value",
			seed: func(s *stage) { s.edit(s.result(2), `"space":"a test"`, `"space":"b test"`) },
			want: []string{"input article-clusters/0/1"},
		},
		{
			name: "a cluster of another value",
			seed: func(s *stage) { s.edit(s.record("clusters", 0), `"space":"a test"`, `"space":"b test"`) },
			want: []string{"I4 clusters/0/0"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, byHeader)
			s.from = test.from
			s.cluster(story, s.input(story))
			if test.seed != nil {
				test.seed(s)
			}
			s.write()
			found := s.audit(Options{Show: 1})
			var got []string
			for _, c := range found.Checks {
				for _, v := range c.Shown {
					got = append(got, c.ID+" "+v.At)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found:\n%s\nwant %q", strings.Join(violations(found), "\n"), test.want)
			}
		})
	}
}
