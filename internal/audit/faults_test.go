package audit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/twmb/franz-go/pkg/kgo"
)

func inPartitions(c *config.Config) { c.Cluster.Scope = "partition" }
func withWindow(c *config.Config)   { c.Cluster.Window = 3 * time.Minute }
func buried(s *stage, key string) *kgo.Record {
	return &kgo.Record{Topic: s.config.Output.ClustersTopic, Key: []byte(key), Partition: int32(key[len("articles/")] - '0')}
}

// A fault is something that the topics of a clusterd must not have.
type fault struct {
	name   string
	change func(*config.Config)
	seed   func(*stage)
	want   []string // the first violation of each promise
}

// Each seeded fault is found, where it is, and nothing else is: the first violation of each promise is
// held to what is wanted.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	for _, test := range slices.Concat(
		orderFaults, inputFaults, placementFaults,
		representativeFaults, deadLetterFaults, clusterFaults,
	) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, test.change)
			s.cluster(story, s.input(story))
			test.seed(s)
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
