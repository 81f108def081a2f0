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
func newTombstone(s *stage, key string) *kgo.Record {
	return &kgo.Record{
		Topic: s.config.Output.ClustersTopic, Key: []byte(key),
		Partition: int32(key[len("articles/")] - '0'),
	}
}

// A fault is something that the topics of a clusterd must not have.
type fault struct {
	name   string
	change func(*config.Config)
	seed   func(*stage)
	want   []string // the first violation of each promise
}

// Each seeded fault is found, where it is, and nothing else is: the first violation of each
// promise is held to what is wanted.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	for _, test := range some(12, slices.Concat(
		orderFaults, inputFaults, placementFaults,
		representativeFaults, deadLetterFaults, clusterFaults,
	)) {
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

// orderFaults are in what came out, in which order, and in what the clusters topic makes of it.
var orderFaults = []fault{
	{
		name: "a result is lost", seed: func(s *stage) { s.drop(s.result(4)) },
		want: []string{"I1 articles/1/2"},
	},
	{
		name: "a clustered result is lost", seed: func(s *stage) { s.drop(s.result(10)) },
		want: []string{"I1 articles/1/5", "I2 article-clusters, position 9", "I4 clusters/0/4"},
	},
	{
		name: "a dead letter is lost", seed: func(s *stage) { s.drop(s.record("articles-dead", 0)) },
		want: []string{"I1 articles/1/1"},
	},
	{name: "a result is written twice", seed: func(s *stage) {
		s.transactions[1].records = append(s.transactions[1].records, s.result(4))
	}, want: []string{"I1 article-clusters/1/4"}},
	{name: "a clustered result is written twice", seed: func(s *stage) {
		again := *s.result(6)
		s.transactions[2].records = append(s.transactions[2].records, &again)
	}, want: []string{"I1 article-clusters/1/7", "I2 article-clusters/1/7"}},
	{name: "a batch is clustered twice", seed: func(s *stage) {
		again := *s.result(10)
		again.Headers = slices.Clone(again.Headers)
		setHeader(&again, "clusterd.position", "10")
		again.Value = []byte(strings.Replace(string(again.Value), `"size":3`, `"size":4`, 1))
		s.transactions[2].records = append(s.transactions[2].records, &again)
	}, want: []string{"I1 article-clusters/1/7", "I2 article-clusters/1/7", "I4 clusters/0/4"}},
	{name: "a result and a dead letter of one record", seed: func(s *stage) {
		dead := *s.record("articles-dead", 0)
		dead.Headers = slices.Clone(dead.Headers)
		setHeader(&dead, "clusterd.source", "articles/1/2")
		s.transactions[2].records = append(s.transactions[2].records, &dead)
	}, want: []string{"I1 article-clusters/1/2", "input articles-dead/1/2"}},
	{name: "two cluster ids are swapped", seed: func(s *stage) {
		s.edit(s.result(6), "articles/0/3", "articles/1/0")
		s.edit(s.result(7), "articles/1/0", "articles/0/3")
	}, want: []string{"I3 article-clusters/1/3"}},
	{
		name: "a wrong size", seed: func(s *stage) { s.edit(s.result(2), `"size":2`, `"size":3`) },
		want: []string{"I3 article-clusters/0/1"},
	},
	{
		name: "a wrong distance",
		seed: func(s *stage) { s.edit(s.result(2), `"distance":2`, `"distance":1`) },
		want: []string{"I3 article-clusters/0/1"},
	},
	{
		name: "a wrong status", seed: func(s *stage) { s.edit(s.result(2), `"joined"`, `"new"`) },
		want: []string{"I3 article-clusters/0/1"},
	},
	{
		name: "the younger of two that are as near",
		seed: func(s *stage) { s.edit(s.result(2), "articles/0/0", "articles/1/0") },
		want: []string{"I3 article-clusters/0/1"},
	},
	{
		name: "a position is missing",
		seed: func(s *stage) { setHeader(s.result(7), "clusterd.position", "") },
		want: []string{"form article-clusters/0/6", "I2 article-clusters, position 6", "I4 clusters/1/4"},
	},
	{
		name: "a position is there twice",
		seed: func(s *stage) { setHeader(s.result(7), "clusterd.position", "5") },
		want: []string{"I2 article-clusters/1/3", "I4 clusters/0/2"},
	},
	{
		name: "a position from elsewhere",
		seed: func(s *stage) { setHeader(s.result(7), "clusterd.position", "4611686018427387904") },
		want: []string{"I2 article-clusters/0/6", "I4 clusters/1/4"},
	},
	{name: "two positions are swapped", seed: func(s *stage) {
		setHeader(s.result(7), "clusterd.position", "8")
		setHeader(s.result(9), "clusterd.position", "6")
	}, want: []string{"I2 article-clusters/0/6", "I3 article-clusters/0/7", "I4 clusters/1/4"}},
	{
		name: "an unclustered result with the position of the article before it",
		seed: func(s *stage) { setHeader(s.result(4), "clusterd.position", "1") },
		want: []string{"I2 article-clusters/1/2"},
	},
	{
		name: "an unclustered result with a position behind the article after it",
		seed: func(s *stage) { setHeader(s.result(4), "clusterd.position", "6") },
		want: []string{"I2 article-clusters/1/2"},
	},
	{
		name: "an unclustered result with a position from elsewhere", change: inPartitions,
		seed: func(s *stage) { setHeader(s.result(4), "clusterd.position", "4") },
		want: []string{"I2 article-clusters/1/2"},
	},
	{
		name: "an unclustered result with an event time and no position",
		seed: func(s *stage) { setHeader(s.result(4), "clusterd.position", "") },
		want: []string{"form article-clusters/1/2"},
	},
	{
		name: "an unclustered result with a position and no event time",
		seed: func(s *stage) { setHeader(s.result(4), "clusterd.event_time", "") },
		want: []string{"form article-clusters/1/2"},
	},
	{
		name: "a position of an unclustered result that is no number",
		seed: func(s *stage) { setHeader(s.result(4), "clusterd.position", "-1") },
		want: []string{"form article-clusters/1/2"},
	},
	{
		name: "the event time of another article, of an unclustered result",
		seed: func(s *stage) { setHeader(s.result(4), "clusterd.event_time", "1700000180000") },
		want: []string{"input article-clusters/1/2"},
	},
	{name: "a source that is no record", seed: func(s *stage) {
		setHeader(s.result(4), "clusterd.source", "articles/1/99")
		s.edit(s.result(4), `"offset":2`, `"offset":99`)
	}, want: []string{"I1 articles/1/2", "I4 articles/1/99"}},
	{
		name: "a source that is another one in the value",
		seed: func(s *stage) { s.edit(s.result(4), `"offset":2`, `"offset":3`) },
		want: []string{"form article-clusters/1/2"},
	},
	{
		name: "a source in another topic",
		seed: func(s *stage) { setHeader(s.result(4), "clusterd.source", "comments/1/2") },
		want: []string{"form article-clusters/1/2", "I1 articles/1/2"},
	},
	{
		name: "no source", seed: func(s *stage) { setHeader(s.result(4), "clusterd.source", "") },
		want: []string{"form article-clusters/1/2", "I1 articles/1/2"},
	},
	{
		name: "a wrong event time",
		seed: func(s *stage) { setHeader(s.result(10), "clusterd.event_time", "1700000000001") },
		want: []string{"input article-clusters/1/6", "I4 clusters/0/4"},
	},
	{
		name: "no event time",
		seed: func(s *stage) { setHeader(s.result(10), "clusterd.event_time", "") },
		want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"},
	},
	{
		name: "no JSON", seed: func(s *stage) { s.result(10).Value = []byte(`{"cluster_id":`) },
		want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"},
	},
	{
		name: "a fingerprint that is none",
		seed: func(s *stage) { s.edit(s.result(10), `"fingerprint":"`, `"fingerprint":"0`) },
		want: []string{
			"form article-clusters/1/6", "input article-clusters/1/6", "I2 article-clusters, position 9",
			"I4 clusters/0/4",
		},
	},
	{
		name: "an unknown class of dead letter",
		seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.error", "odd") },
		want: []string{"form articles-dead/1/0"},
	},
	{
		name: "a cluster record is missing", seed: func(s *stage) { s.drop(s.clusterRecord(6)) },
		want: []string{"I4 articles/1/4"},
	},
	{
		name: "a cluster's last record is missing", seed: func(s *stage) { s.drop(s.clusterRecord(5)) },
		want: []string{"I4 clusters/1/2"},
	},
	{
		name: "a cluster record with a wrong size",
		seed: func(s *stage) { s.edit(s.clusterRecord(5), `"size":3`, `"size":2`) },
		want: []string{"I4 clusters/1/4"},
	},
	{
		name: "a cluster record with a wrong seq",
		seed: func(s *stage) { s.edit(s.clusterRecord(5), `"seq":1`, `"seq":2`) },
		want: []string{"I4 clusters/1/4"},
	},
	{
		name: "a cluster record with a wrong time",
		seed: func(s *stage) { s.edit(s.clusterRecord(5), "22:21:20Z", "22:21:21Z") },
		want: []string{"I4 clusters/1/4"},
	},
	{
		name: "a cluster record of another position",
		seed: func(s *stage) { setHeader(s.clusterRecord(5), "clusterd.position", "7") },
		want: []string{"I4 clusters/1/4"},
	},
	{
		name: "a cluster record of a position to come",
		seed: func(s *stage) { setHeader(s.clusterRecord(5), "clusterd.position", "12") },
		want: []string{"I2 article-clusters, position 10", "I4 clusters/1/4"},
	},
	{
		name: "a cluster record without a position",
		seed: func(s *stage) { setHeader(s.clusterRecord(5), "clusterd.position", "") },
		want: []string{"form clusters/1/4", "I4 clusters/1/2"},
	},
	{name: "an old cluster record after a newer one", seed: func(s *stage) {
		old, newer := s.clusterRecord(2), s.clusterRecord(5)
		*old, *newer = *newer, *old
	}, want: []string{"I4 clusters/1/2"}},
	{
		name: "a cluster under another key",
		seed: func(s *stage) { s.clusterRecord(5).Key = []byte("articles/0/0") },
		want: []string{"form clusters/1/4", "I4 clusters/1/2"},
	},
	{name: "a tombstone where nothing expires", seed: func(s *stage) {
		s.transactions[2].records = append(s.transactions[2].records, newTombstone(s, "articles/1/0"))
	}, want: []string{"I4 clusters/1/6"}},
	{name: "a tombstone of no cluster", seed: func(s *stage) {
		s.transactions[2].records = append(s.transactions[2].records, newTombstone(s, "articles/1/7"))
	}, want: []string{"I4 clusters/1/6"}},
	{name: "a tombstone that is a batch too early", change: withWindow, seed: func(s *stage) {
		s.transactions[0].records = append(s.transactions[0].records, newTombstone(s, "articles/1/0"))
	}, want: []string{"I4 clusters/1/1"}},
	{
		name: "results ahead of the group's offsets",
		seed: func(s *stage) { s.transactions[2].committed = nil }, want: []string{"I4 articles/0/5"},
	},
	{
		name: "the offset of a topic that was recreated",
		seed: func(s *stage) { s.transactions[2].committed[0] = 100 },
		want: []string{"I1 articles/0/100"},
	},
	{
		name: "an article of another space", change: inPartitions,
		seed: func(s *stage) { s.edit(s.result(6), `"new"`, `"joined"`) },
		want: []string{"I3 article-clusters/1/3"},
	},
}
