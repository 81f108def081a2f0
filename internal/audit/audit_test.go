package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/config"
)

// said are the violations of a report, a line each.
func said(r *Report) (lines []string) {
	for _, c := range r.Checks {
		for _, v := range c.Shown {
			lines = append(lines, fmt.Sprintf("%s %s: %s; found %s", c.ID, v.At, v.Expected, v.Found))
		}
	}
	return lines
}

// wantHeld fails unless nothing is violated and everything was checked.
func wantHeld(t *testing.T, r *Report) {
	t.Helper()
	for _, line := range said(r) {
		t.Error(line)
	}
	if r.Violations() > 0 || r.Unchecked() > 0 {
		t.Errorf("%d violations, %d promises unchecked; want none", r.Violations(), r.Unchecked())
	}
}

func inPartitions(c *config.Config) { c.Cluster.Scope = "partition" }
func withWindow(c *config.Config)   { c.Cluster.Window = 3 * time.Minute }
func buried(s *stage, key string) *kgo.Record {
	return &kgo.Record{Topic: s.config.Output.ClustersTopic, Key: []byte(key), Partition: int32(key[len("articles/")] - '0')}
}

// Each planted fault is found, where it is, and nothing else is: the first violation of each promise is
// held to what is wanted.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*config.Config)
		plant  func(*stage)
		want   []string // the first violation of each promise
	}{
		{name: "a result is lost", plant: func(s *stage) { s.drop(s.result(4)) }, want: []string{"I1 articles/1/2"}},
		{name: "a clustered result is lost", plant: func(s *stage) { s.drop(s.result(10)) }, want: []string{"I1 articles/1/5", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
		{name: "a dead letter is lost", plant: func(s *stage) { s.drop(s.record("articles-dead", 0)) }, want: []string{"I1 articles/1/1"}},
		{name: "a result is written twice", plant: func(s *stage) {
			s.transactions[1].records = append(s.transactions[1].records, s.result(4))
		}, want: []string{"I1 article-clusters/1/4"}},
		{name: "a clustered result is written twice", plant: func(s *stage) {
			again := *s.result(6)
			s.transactions[2].records = append(s.transactions[2].records, &again)
		}, want: []string{"I1 article-clusters/1/7", "I2 article-clusters/1/7"}},
		{name: "a batch is clustered twice", plant: func(s *stage) {
			again := *s.result(10)
			again.Headers = slices.Clone(again.Headers)
			setHeader(&again, "clusterd.position", "10")
			again.Value = []byte(strings.Replace(string(again.Value), `"size":3`, `"size":4`, 1))
			s.transactions[2].records = append(s.transactions[2].records, &again)
		}, want: []string{"I1 article-clusters/1/7", "I2 article-clusters/1/7", "I4 clusters/0/4"}},
		{name: "a result and a dead letter of one record", plant: func(s *stage) {
			dead := *s.record("articles-dead", 0)
			dead.Headers = slices.Clone(dead.Headers)
			setHeader(&dead, "clusterd.source", "articles/1/2")
			s.transactions[2].records = append(s.transactions[2].records, &dead)
		}, want: []string{"I1 articles-dead/1/2"}},
		{name: "two cluster ids are swapped", plant: func(s *stage) {
			s.edit(s.result(6), "articles/0/3", "articles/1/0")
			s.edit(s.result(7), "articles/1/0", "articles/0/3")
		}, want: []string{"I3 article-clusters/1/3"}},
		{name: "a wrong size", plant: func(s *stage) { s.edit(s.result(2), `"size":2`, `"size":3`) }, want: []string{"I3 article-clusters/0/1"}},
		{name: "a wrong distance", plant: func(s *stage) { s.edit(s.result(2), `"distance":2`, `"distance":1`) }, want: []string{"I3 article-clusters/0/1"}},
		{name: "a wrong status", plant: func(s *stage) { s.edit(s.result(2), `"joined"`, `"new"`) }, want: []string{"I3 article-clusters/0/1"}},
		{name: "the younger of two that are as near", plant: func(s *stage) { s.edit(s.result(2), "articles/0/0", "articles/1/0") }, want: []string{"I3 article-clusters/0/1"}},
		{name: "a position is missing", plant: func(s *stage) { setHeader(s.result(7), "clusterd.position", "") }, want: []string{"form article-clusters/0/6", "I2 article-clusters, position 6", "I4 clusters/1/4"}},
		{name: "a position is there twice", plant: func(s *stage) { setHeader(s.result(7), "clusterd.position", "5") }, want: []string{"I2 article-clusters/1/3", "I4 clusters/0/2"}},
		{name: "a position from elsewhere", plant: func(s *stage) { setHeader(s.result(7), "clusterd.position", "4611686018427387904") }, want: []string{"I2 article-clusters/0/6", "I4 clusters/1/4"}},
		{name: "two positions are swapped", plant: func(s *stage) {
			setHeader(s.result(7), "clusterd.position", "8")
			setHeader(s.result(9), "clusterd.position", "6")
		}, want: []string{"I2 article-clusters/0/6", "I3 article-clusters/0/7", "I4 clusters/1/4"}},
		{name: "a position on an unclustered result", plant: func(s *stage) { setHeader(s.result(4), "clusterd.position", "10") }, want: []string{"form article-clusters/1/2"}},
		{name: "a source that is no record", plant: func(s *stage) {
			setHeader(s.result(4), "clusterd.source", "articles/1/99")
			s.edit(s.result(4), `"offset":2`, `"offset":99`)
		}, want: []string{"I1 articles/1/2", "I4 articles/1/99"}},
		{name: "a source that is another one in the value", plant: func(s *stage) { s.edit(s.result(4), `"offset":2`, `"offset":3`) }, want: []string{"form article-clusters/1/2"}},
		{name: "a source in another topic", plant: func(s *stage) { setHeader(s.result(4), "clusterd.source", "comments/1/2") }, want: []string{"form article-clusters/1/2", "I1 articles/1/2"}},
		{name: "no source", plant: func(s *stage) { setHeader(s.result(4), "clusterd.source", "") }, want: []string{"form article-clusters/1/2", "I1 articles/1/2"}},
		{name: "a wrong event time", plant: func(s *stage) { setHeader(s.result(10), "clusterd.event_time", "1700000000001") }, want: []string{"I3 article-clusters/1/6", "I4 clusters/0/4"}},
		{name: "no event time", plant: func(s *stage) { setHeader(s.result(10), "clusterd.event_time", "") }, want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
		{name: "no JSON", plant: func(s *stage) { s.result(10).Value = []byte(`{"cluster_id":`) }, want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
		{name: "a fingerprint that is none", plant: func(s *stage) { s.edit(s.result(10), `"fingerprint":"`, `"fingerprint":"0`) }, want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
		{name: "an unknown class of dead letter", plant: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.error", "odd") }, want: []string{"form articles-dead/1/0"}},
		{name: "a cluster record is missing", plant: func(s *stage) { s.drop(s.clusterRecord(6)) }, want: []string{"I4 articles/1/4"}},
		{name: "a cluster's last record is missing", plant: func(s *stage) { s.drop(s.clusterRecord(5)) }, want: []string{"I4 clusters/1/2"}},
		{name: "a cluster record with a wrong size", plant: func(s *stage) { s.edit(s.clusterRecord(5), `"size":3`, `"size":2`) }, want: []string{"I4 clusters/1/4"}},
		{name: "a cluster record with a wrong seq", plant: func(s *stage) { s.edit(s.clusterRecord(5), `"seq":1`, `"seq":2`) }, want: []string{"I4 clusters/1/4"}},
		{name: "a cluster record with a wrong time", plant: func(s *stage) { s.edit(s.clusterRecord(5), "22:21:20Z", "22:21:21Z") }, want: []string{"I4 clusters/1/4"}},
		{name: "a cluster record of another position", plant: func(s *stage) { setHeader(s.clusterRecord(5), "clusterd.position", "7") }, want: []string{"I4 clusters/1/4"}},
		{name: "a cluster record of a position to come", plant: func(s *stage) { setHeader(s.clusterRecord(5), "clusterd.position", "12") }, want: []string{"I2 article-clusters, position 10", "I4 clusters/1/4"}},
		{name: "a cluster record without a position", plant: func(s *stage) { setHeader(s.clusterRecord(5), "clusterd.position", "") }, want: []string{"form clusters/1/4", "I4 clusters/1/2"}},
		{name: "an old cluster record after a newer one", plant: func(s *stage) {
			old, newer := s.clusterRecord(2), s.clusterRecord(5)
			*old, *newer = *newer, *old
		}, want: []string{"I4 clusters/1/2"}},
		{name: "a cluster under another key", plant: func(s *stage) { s.clusterRecord(5).Key = []byte("articles/0/0") }, want: []string{"form clusters/1/4", "I4 clusters/1/2"}},
		{name: "a tombstone where nothing expires", plant: func(s *stage) {
			s.transactions[2].records = append(s.transactions[2].records, buried(s, "articles/1/0"))
		}, want: []string{"I4 clusters/1/6"}},
		{name: "a tombstone of no cluster", plant: func(s *stage) {
			s.transactions[2].records = append(s.transactions[2].records, buried(s, "articles/1/7"))
		}, want: []string{"I4 clusters/1/6"}},
		{name: "a tombstone that is a batch too early", change: withWindow, plant: func(s *stage) {
			s.transactions[0].records = append(s.transactions[0].records, buried(s, "articles/1/0"))
		}, want: []string{"I4 clusters/1/1"}},
		{name: "results ahead of the group's offsets", plant: func(s *stage) { s.transactions[2].committed = nil }, want: []string{"I4 articles/0/5"}},
		{name: "the offset of a topic that was made anew", plant: func(s *stage) { s.transactions[2].committed[0] = 100 }, want: []string{"I1 articles/0/100"}},
		{name: "an article of another space", change: inPartitions, plant: func(s *stage) { s.edit(s.result(6), `"new"`, `"joined"`) }, want: []string{"I3 article-clusters/1/3"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, test.change)
			s.cluster(story, s.input(story))
			test.plant(s)
			s.write()
			report := s.audit(Options{Show: 1})
			var got []string
			for _, c := range report.Checks {
				for _, v := range c.Shown {
					got = append(got, c.ID+" "+v.At)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found:\n%s\nwant %q", strings.Join(said(report), "\n"), test.want)
			}
		})
	}
}
