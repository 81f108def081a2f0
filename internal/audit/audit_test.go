package audit

import (
	"bytes"
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
		}, want: []string{"I1 article-clusters/1/2", "input articles-dead/1/2"}},
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
		{name: "a wrong event time", plant: func(s *stage) { setHeader(s.result(10), "clusterd.event_time", "1700000000001") }, want: []string{"input article-clusters/1/6", "I4 clusters/0/4"}},
		{name: "no event time", plant: func(s *stage) { setHeader(s.result(10), "clusterd.event_time", "") }, want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
		{name: "no JSON", plant: func(s *stage) { s.result(10).Value = []byte(`{"cluster_id":`) }, want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
		{name: "a fingerprint that is none", plant: func(s *stage) { s.edit(s.result(10), `"fingerprint":"`, `"fingerprint":"0`) }, want: []string{"form article-clusters/1/6", "input article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
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

		// What a result says of its input record.
		{name: "another article_id", plant: func(s *stage) { s.edit(s.result(2), `"id-2"`, `"id-3"`) }, want: []string{"input article-clusters/0/1"}},
		{name: "another article_id, of an unclustered result", plant: func(s *stage) { s.edit(s.result(4), `"id-5"`, `"id-6"`) }, want: []string{"input article-clusters/1/2"}},
		{name: "another published_at", plant: func(s *stage) { s.edit(s.result(2), "22:15:20Z", "22:15:21Z") }, want: []string{"input article-clusters/0/1"}},
		{name: "published_at a nanosecond later", plant: func(s *stage) { s.edit(s.result(2), "22:15:20Z", "22:15:20.000000001Z") }, want: []string{"input article-clusters/0/1"}},
		{name: "no published_at", plant: func(s *stage) { s.edit(s.result(2), `"published_at"`, `"published"`) }, want: []string{"input article-clusters/0/1"}},
		{name: "another fingerprint", plant: func(s *stage) {
			s.edit(s.result(2), `"fingerprint":"0000000000000003"`, `"fingerprint":"0000000000000002"`)
		}, want: []string{"input article-clusters/0/1"}},
		{name: "another pipeline", plant: func(s *stage) { s.edit(s.result(2), "method=spelled", "method=spilled") }, want: []string{"input article-clusters/0/1"}},
		{name: "another pipeline everywhere", plant: func(s *stage) {
			for _, t := range s.transactions {
				for _, r := range t.records {
					r.Value = bytes.Replace(r.Value, []byte("method=spelled"), []byte("method=spilled"), 1)
				}
			}
		}, want: []string{"input article-clusters/0/0", "I4 clusters/0/0"}},
		{name: "the event time of another article", plant: func(s *stage) { setHeader(s.result(2), "clusterd.event_time", "1700000180000") }, want: []string{"input article-clusters/0/1", "I4 clusters/0/0"}},
		{name: "a result of what is no article", plant: func(s *stage) {
			r, dead := *s.result(4), s.record("articles-dead", 0)
			setHeader(&r, "clusterd.source", "articles/1/1")
			s.edit(&r, `"offset":2`, `"offset":1`)
			s.edit(&r, `"id-5"`, `"articles/1/1"`)
			*dead = r
		}, want: []string{"input article-clusters/1/1"}},
		{name: "unclustered, and it has a fingerprint", plant: func(s *stage) {
			r := s.result(10)
			r.Value = []byte(`{"article_id":"id-11","cluster_id":null,"status":"unclustered","size":0,"published_at":"2023-11-14T22:24:20Z","source":{"topic":"articles","partition":1,"offset":5},"pipeline":"method=spelled"}`)
			setHeader(setHeader(r, "clusterd.position", ""), "clusterd.event_time", "")
		}, want: []string{"input article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
		{name: "two sources are swapped", plant: func(s *stage) {
			x, y := s.result(6), s.result(8)
			setHeader(x, "clusterd.source", "articles/1/4")
			s.edit(x, `"partition":1,"offset":3`, `"partition":1,"offset":4`)
			setHeader(y, "clusterd.source", "articles/1/3")
			s.edit(y, `"partition":1,"offset":4`, `"partition":1,"offset":3`)
		}, want: []string{"input article-clusters/1/3", "I2 article-clusters/1/5", "I3 article-clusters/1/3", "I4 clusters/0/2"}},

		// Where it is, and under which key and headers.
		{name: "another key", plant: func(s *stage) { s.result(8).Key = []byte("articles/0/0") }, want: []string{"input article-clusters/1/5"}},
		{name: "another partition", plant: func(s *stage) { s.result(7).Partition = 1 }, want: []string{"input article-clusters/1/5"}},
		{name: "another partition, of the first result", plant: func(s *stage) { s.result(0).Partition = 1 }, want: []string{"input article-clusters/1/0"}},
		{name: "a dead letter in another partition", plant: func(s *stage) { s.record("articles-dead", 0).Partition = 0 }, want: []string{"input articles-dead/0/0"}},
		{name: "another header", plant: func(s *stage) { setHeader(s.result(8), "clusterd.odd", "1") }, want: []string{"form article-clusters/1/5"}},
		{name: "a header twice", plant: func(s *stage) {
			s.result(8).Headers = append(s.result(8).Headers, s.result(8).Headers[0])
		}, want: []string{"form article-clusters/1/5"}},
		{name: "another header on an unclustered result", plant: func(s *stage) { setHeader(s.result(4), "odd", "1") }, want: []string{"form article-clusters/1/2"}},

		// Representatives.
		{name: "another title of the representative", plant: func(s *stage) { s.edit(s.result(2), "number 0", "number 1") }, want: []string{"I3 article-clusters/0/1"}},
		{name: "another id of the representative", plant: func(s *stage) { s.edit(s.result(2), `{"id":"id-0"`, `{"id":"id-1"`) }, want: []string{"I3 article-clusters/0/1"}},
		{name: "a founder's representative that is another", plant: func(s *stage) { s.edit(s.result(1), "number 1", "number 2") }, want: []string{"I3 article-clusters/1/0"}},
		{name: "the same wrong representative everywhere", plant: func(s *stage) {
			for _, t := range s.transactions {
				for _, r := range t.records {
					r.Value = bytes.Replace(r.Value, []byte("number 0"), []byte("number O"), 1)
				}
			}
		}, want: []string{"I3 article-clusters/0/0", "I4 clusters/0/0"}},
		{name: "no representative", plant: func(s *stage) { s.edit(s.result(10), `"representative"`, `"representing"`) }, want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
		{name: "a representative of an unclustered result", plant: func(s *stage) {
			s.edit(s.result(4), `"fingerprint"`, `"representative":{"id":"id-0","title":""},"fingerprint"`)
		}, want: []string{"form article-clusters/1/2"}},

		// Dead letters.
		{name: "another class", plant: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.error", "bad_field") }, want: []string{"input articles-dead/1/0"}},
		{name: "another byte of a dead letter", plant: func(s *stage) { s.record("articles-dead", 0).Value = []byte("[") }, want: []string{"input articles-dead/1/0"}},
		{name: "a byte less of a dead letter", plant: func(s *stage) { s.record("articles-dead", 0).Value = []byte{} }, want: []string{"input articles-dead/1/0"}},
		{name: "a dead letter without a value", plant: func(s *stage) { s.record("articles-dead", 0).Value = nil }, want: []string{"input articles-dead/1/0"}},
		{name: "another key of a dead letter", plant: func(s *stage) { s.record("articles-dead", 0).Key = []byte("x") }, want: []string{"input articles-dead/1/0"}},
		{name: "another header's value on a dead letter", plant: func(s *stage) { setHeader(s.record("articles-dead", 0), "from", "nobody") }, want: []string{"input articles-dead/1/0"}},
		{name: "a header less on a dead letter", plant: func(s *stage) { setHeader(s.record("articles-dead", 0), "from", "") }, want: []string{"input articles-dead/1/0"}},
		{name: "a header of clusterd's more on a dead letter", plant: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.odd", "1") }, want: []string{"input articles-dead/1/0"}},
		{name: "a dead letter without a reason", plant: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.reason", "") }, want: []string{"form articles-dead/1/0", "input articles-dead/1/0"}},
		{name: "a whole dead letter that claims to be cut", plant: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.truncated", "1") }, want: []string{"input articles-dead/1/0"}},
		{name: "a cut dead letter of another length", plant: func(s *stage) {
			s.record("articles-dead", 0).Value = []byte{}
			setHeader(s.record("articles-dead", 0), "clusterd.truncated", "2")
		}, want: []string{"input articles-dead/1/0"}},
		{name: "a length that is none", plant: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.truncated", "-1") }, want: []string{"form articles-dead/1/0"}},

		// Clusters.
		{name: "a cluster's representative", plant: func(s *stage) { s.edit(s.clusterRecord(5), "number 1", "number 2") }, want: []string{"I4 clusters/1/4"}},
		{name: "a cluster's pipeline", plant: func(s *stage) { s.edit(s.clusterRecord(5), "spelled", "spilled") }, want: []string{"I4 clusters/1/4"}},
		{name: "a cluster's fingerprint", plant: func(s *stage) { s.edit(s.clusterRecord(5), "000f", "000e") }, want: []string{"I4 clusters/1/4"}},
		{name: "a cluster's first_seen", plant: func(s *stage) { s.edit(s.clusterRecord(5), "22:14:20Z", "22:14:19Z") }, want: []string{"I4 clusters/1/4"}},
		{name: "a sketch of a method that has none", plant: func(s *stage) { s.edit(s.clusterRecord(5), `"size"`, `"sketch":"AAAA","size"`) }, want: []string{"I4 clusters/1/4"}},
		{name: "a cluster in another partition", plant: func(s *stage) { s.clusterRecord(5).Partition = 0 }, want: []string{"I4 clusters/0/5"}},
		{name: "another header on a cluster", plant: func(s *stage) { setHeader(s.clusterRecord(5), "odd", "1") }, want: []string{"form clusters/1/4"}},
		{name: "a header on a tombstone", change: withWindow, plant: func(s *stage) {
			for _, t := range s.transactions {
				for _, r := range t.records {
					if r.Value == nil {
						setHeader(r, "clusterd.position", "1")
						return
					}
				}
			}
		}, want: []string{"form clusters/0/2"}},
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
