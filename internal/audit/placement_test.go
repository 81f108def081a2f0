package audit

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
)

var placementTests = []struct {
	name string
	key  string
	keys bool
	seed func(*stage)
	want []string
}{
	{"the cluster id", "cluster", false, nil, nil},
	{"the cluster id, and the input has keys", "cluster", true, nil, nil},
	{"the input's key", "source", true, nil, nil},
	{"no key", "source", false, nil, nil},
	{
		"the cluster id, in another partition",
		"cluster", false, func(s *stage) { s.result(150).Partition ^= 1 },
		[]string{"input"},
	},
	{
		"the input's key, in another partition",
		"source", true, func(s *stage) { s.result(150).Partition ^= 1 },
		[]string{"input"},
	},
	{
		"the input's key for the cluster id",
		"cluster", true, func(s *stage) { s.result(150).Key = []byte("key-7") },
		[]string{"input"},
	},
	{"no key of an unclustered result", "cluster", false, func(s *stage) {
		for n := 50; ; n++ {
			if r := s.result(n); bytes.Contains(r.Value, []byte(`"unclustered"`)) {
				r.Key = nil
				return
			}
		}
	}, []string{"input"}},
	{
		"another input's key",
		"source", true, func(s *stage) { s.result(150).Key = []byte("key-7") },
		[]string{"input"},
	},
	{
		"no key for the input's",
		"source", true, func(s *stage) { s.result(150).Key = nil },
		[]string{"input"},
	},
	{"a dead letter elsewhere", "source", false, func(s *stage) {
		for n := 5; ; n++ {
			if r := s.record("articles-dead", n); r.Partition == 1 {
				r.Partition = 0
				return
			}
		}
	}, []string{"input"}},
	{"a topic of one partition once", "cluster", false, func(s *stage) {
		for i := range s.transactions[:40] {
			for _, r := range s.transactions[i].records {
				if r.Topic == s.config.Output.Topic {
					r.Partition = 0
				}
			}
		}
	}, nil},
}

// A message is where its key puts it, in a topic that may have been given more partitions
// meanwhile.
func TestPartitions(t *testing.T) {
	t.Parallel()
	for _, test := range some(6, placementTests) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(c *config.Config) { c.Output.Key = test.key })
			s.keys = test.keys
			items := long(200)
			s.cluster(items, s.input(items))
			if test.seed != nil {
				test.seed(s)
			}
			s.write()
			found := s.audit(Options{})
			var got []string
			for _, at := range firsts(found) {
				id, _, _ := strings.Cut(at, " ")
				got = append(got, id)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found:\n%s\nwant %q", strings.Join(violations(found), "\n"), test.want)
			}
		})
	}
}
