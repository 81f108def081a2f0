package audit

import (
	"bytes"
	"slices"
	"strings"
)

// orderFaults are in what came out, in which order, and in what the clusters topic makes of it.
var orderFaults = []fault{
	{name: "a result is lost", seed: func(s *stage) { s.drop(s.result(4)) }, want: []string{"I1 articles/1/2"}},
	{name: "a clustered result is lost", seed: func(s *stage) { s.drop(s.result(10)) }, want: []string{"I1 articles/1/5", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
	{name: "a dead letter is lost", seed: func(s *stage) { s.drop(s.record("articles-dead", 0)) }, want: []string{"I1 articles/1/1"}},
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
	{name: "a wrong size", seed: func(s *stage) { s.edit(s.result(2), `"size":2`, `"size":3`) }, want: []string{"I3 article-clusters/0/1"}},
	{name: "a wrong distance", seed: func(s *stage) { s.edit(s.result(2), `"distance":2`, `"distance":1`) }, want: []string{"I3 article-clusters/0/1"}},
	{name: "a wrong status", seed: func(s *stage) { s.edit(s.result(2), `"joined"`, `"new"`) }, want: []string{"I3 article-clusters/0/1"}},
	{name: "the younger of two that are as near", seed: func(s *stage) { s.edit(s.result(2), "articles/0/0", "articles/1/0") }, want: []string{"I3 article-clusters/0/1"}},
	{name: "a position is missing", seed: func(s *stage) { setHeader(s.result(7), "clusterd.position", "") }, want: []string{"form article-clusters/0/6", "I2 article-clusters, position 6", "I4 clusters/1/4"}},
	{name: "a position is there twice", seed: func(s *stage) { setHeader(s.result(7), "clusterd.position", "5") }, want: []string{"I2 article-clusters/1/3", "I4 clusters/0/2"}},
	{name: "a position from elsewhere", seed: func(s *stage) { setHeader(s.result(7), "clusterd.position", "4611686018427387904") }, want: []string{"I2 article-clusters/0/6", "I4 clusters/1/4"}},
	{name: "two positions are swapped", seed: func(s *stage) {
		setHeader(s.result(7), "clusterd.position", "8")
		setHeader(s.result(9), "clusterd.position", "6")
	}, want: []string{"I2 article-clusters/0/6", "I3 article-clusters/0/7", "I4 clusters/1/4"}},
	{name: "a position on an unclustered result", seed: func(s *stage) { setHeader(s.result(4), "clusterd.position", "10") }, want: []string{"form article-clusters/1/2"}},
	{name: "a source that is no record", seed: func(s *stage) {
		setHeader(s.result(4), "clusterd.source", "articles/1/99")
		s.edit(s.result(4), `"offset":2`, `"offset":99`)
	}, want: []string{"I1 articles/1/2", "I4 articles/1/99"}},
	{name: "a source that is another one in the value", seed: func(s *stage) { s.edit(s.result(4), `"offset":2`, `"offset":3`) }, want: []string{"form article-clusters/1/2"}},
	{name: "a source in another topic", seed: func(s *stage) { setHeader(s.result(4), "clusterd.source", "comments/1/2") }, want: []string{"form article-clusters/1/2", "I1 articles/1/2"}},
	{name: "no source", seed: func(s *stage) { setHeader(s.result(4), "clusterd.source", "") }, want: []string{"form article-clusters/1/2", "I1 articles/1/2"}},
	{name: "a wrong event time", seed: func(s *stage) { setHeader(s.result(10), "clusterd.event_time", "1700000000001") }, want: []string{"input article-clusters/1/6", "I4 clusters/0/4"}},
	{name: "no event time", seed: func(s *stage) { setHeader(s.result(10), "clusterd.event_time", "") }, want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
	{name: "no JSON", seed: func(s *stage) { s.result(10).Value = []byte(`{"cluster_id":`) }, want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
	{name: "a fingerprint that is none", seed: func(s *stage) { s.edit(s.result(10), `"fingerprint":"`, `"fingerprint":"0`) }, want: []string{"form article-clusters/1/6", "input article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
	{name: "an unknown class of dead letter", seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.error", "odd") }, want: []string{"form articles-dead/1/0"}},
	{name: "a cluster record is missing", seed: func(s *stage) { s.drop(s.clusterRecord(6)) }, want: []string{"I4 articles/1/4"}},
	{name: "a cluster's last record is missing", seed: func(s *stage) { s.drop(s.clusterRecord(5)) }, want: []string{"I4 clusters/1/2"}},
	{name: "a cluster record with a wrong size", seed: func(s *stage) { s.edit(s.clusterRecord(5), `"size":3`, `"size":2`) }, want: []string{"I4 clusters/1/4"}},
	{name: "a cluster record with a wrong seq", seed: func(s *stage) { s.edit(s.clusterRecord(5), `"seq":1`, `"seq":2`) }, want: []string{"I4 clusters/1/4"}},
	{name: "a cluster record with a wrong time", seed: func(s *stage) { s.edit(s.clusterRecord(5), "22:21:20Z", "22:21:21Z") }, want: []string{"I4 clusters/1/4"}},
	{name: "a cluster record of another position", seed: func(s *stage) { setHeader(s.clusterRecord(5), "clusterd.position", "7") }, want: []string{"I4 clusters/1/4"}},
	{name: "a cluster record of a position to come", seed: func(s *stage) { setHeader(s.clusterRecord(5), "clusterd.position", "12") }, want: []string{"I2 article-clusters, position 10", "I4 clusters/1/4"}},
	{name: "a cluster record without a position", seed: func(s *stage) { setHeader(s.clusterRecord(5), "clusterd.position", "") }, want: []string{"form clusters/1/4", "I4 clusters/1/2"}},
	{name: "an old cluster record after a newer one", seed: func(s *stage) {
		old, newer := s.clusterRecord(2), s.clusterRecord(5)
		*old, *newer = *newer, *old
	}, want: []string{"I4 clusters/1/2"}},
	{name: "a cluster under another key", seed: func(s *stage) { s.clusterRecord(5).Key = []byte("articles/0/0") }, want: []string{"form clusters/1/4", "I4 clusters/1/2"}},
	{name: "a tombstone where nothing expires", seed: func(s *stage) {
		s.transactions[2].records = append(s.transactions[2].records, buried(s, "articles/1/0"))
	}, want: []string{"I4 clusters/1/6"}},
	{name: "a tombstone of no cluster", seed: func(s *stage) {
		s.transactions[2].records = append(s.transactions[2].records, buried(s, "articles/1/7"))
	}, want: []string{"I4 clusters/1/6"}},
	{name: "a tombstone that is a batch too early", change: withWindow, seed: func(s *stage) {
		s.transactions[0].records = append(s.transactions[0].records, buried(s, "articles/1/0"))
	}, want: []string{"I4 clusters/1/1"}},
	{name: "results ahead of the group's offsets", seed: func(s *stage) { s.transactions[2].committed = nil }, want: []string{"I4 articles/0/5"}},
	{name: "the offset of a topic that was made anew", seed: func(s *stage) { s.transactions[2].committed[0] = 100 }, want: []string{"I1 articles/0/100"}},
	{name: "an article of another space", change: inPartitions, seed: func(s *stage) { s.edit(s.result(6), `"new"`, `"joined"`) }, want: []string{"I3 article-clusters/1/3"}},
}

// inputFaults are in what a result says of its input record.
var inputFaults = []fault{
	{name: "another article_id", seed: func(s *stage) { s.edit(s.result(2), `"id-2"`, `"id-3"`) }, want: []string{"input article-clusters/0/1"}},
	{name: "another article_id, of an unclustered result", seed: func(s *stage) { s.edit(s.result(4), `"id-5"`, `"id-6"`) }, want: []string{"input article-clusters/1/2"}},
	{name: "another published_at", seed: func(s *stage) { s.edit(s.result(2), "22:15:20Z", "22:15:21Z") }, want: []string{"input article-clusters/0/1"}},
	{name: "published_at a nanosecond later", seed: func(s *stage) { s.edit(s.result(2), "22:15:20Z", "22:15:20.000000001Z") }, want: []string{"input article-clusters/0/1"}},
	{name: "no published_at", seed: func(s *stage) { s.edit(s.result(2), `"published_at"`, `"published"`) }, want: []string{"input article-clusters/0/1"}},
	{name: "another fingerprint", seed: func(s *stage) {
		s.edit(s.result(2), `"fingerprint":"0000000000000003"`, `"fingerprint":"0000000000000002"`)
	}, want: []string{"input article-clusters/0/1"}},
	{name: "another pipeline", seed: func(s *stage) { s.edit(s.result(2), "method=spelled", "method=spilled") }, want: []string{"input article-clusters/0/1"}},
	{name: "another pipeline everywhere", seed: func(s *stage) {
		for _, t := range s.transactions {
			for _, r := range t.records {
				r.Value = bytes.Replace(r.Value, []byte("method=spelled"), []byte("method=spilled"), 1)
			}
		}
	}, want: []string{"input article-clusters/0/0", "I4 clusters/0/0"}},
	{name: "the event time of another article", seed: func(s *stage) { setHeader(s.result(2), "clusterd.event_time", "1700000180000") }, want: []string{"input article-clusters/0/1", "I4 clusters/0/0"}},
	{name: "a result of what is no article", seed: func(s *stage) {
		r, dead := *s.result(4), s.record("articles-dead", 0)
		setHeader(&r, "clusterd.source", "articles/1/1")
		s.edit(&r, `"offset":2`, `"offset":1`)
		s.edit(&r, `"id-5"`, `"articles/1/1"`)
		*dead = r
	}, want: []string{"input article-clusters/1/1"}},
	{name: "unclustered, and it has a fingerprint", seed: func(s *stage) {
		r := s.result(10)
		r.Value = []byte(`{"article_id":"id-11","cluster_id":null,"status":"unclustered","size":0,"published_at":"2023-11-14T22:24:20Z","source":{"topic":"articles","partition":1,"offset":5},"pipeline":"method=spelled"}`)
		setHeader(setHeader(r, "clusterd.position", ""), "clusterd.event_time", "")
	}, want: []string{"input article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
	{name: "two sources are swapped", seed: func(s *stage) {
		x, y := s.result(6), s.result(8)
		setHeader(x, "clusterd.source", "articles/1/4")
		s.edit(x, `"partition":1,"offset":3`, `"partition":1,"offset":4`)
		setHeader(y, "clusterd.source", "articles/1/3")
		s.edit(y, `"partition":1,"offset":4`, `"partition":1,"offset":3`)
	}, want: []string{"input article-clusters/1/3", "I2 article-clusters/1/5", "I3 article-clusters/1/3", "I4 clusters/0/2"}},
}

// placementFaults are in where a message is, and under which key and headers.
var placementFaults = []fault{
	{name: "another key", seed: func(s *stage) { s.result(8).Key = []byte("articles/0/0") }, want: []string{"input article-clusters/1/5"}},
	{name: "another partition", seed: func(s *stage) { s.result(7).Partition = 1 }, want: []string{"input article-clusters/1/5"}},
	{name: "another partition, of the first result", seed: func(s *stage) { s.result(0).Partition = 1 }, want: []string{"input article-clusters/1/0"}},
	{name: "a dead letter in another partition", seed: func(s *stage) { s.record("articles-dead", 0).Partition = 0 }, want: []string{"input articles-dead/0/0"}},
	{name: "another header", seed: func(s *stage) { setHeader(s.result(8), "clusterd.odd", "1") }, want: []string{"form article-clusters/1/5"}},
	{name: "a header twice", seed: func(s *stage) {
		s.result(8).Headers = append(s.result(8).Headers, s.result(8).Headers[0])
	}, want: []string{"form article-clusters/1/5"}},
	{name: "another header on an unclustered result", seed: func(s *stage) { setHeader(s.result(4), "odd", "1") }, want: []string{"form article-clusters/1/2"}},
}

// representativeFaults are in representatives.
var representativeFaults = []fault{
	{name: "another title of the representative", seed: func(s *stage) { s.edit(s.result(2), "number 0", "number 1") }, want: []string{"I3 article-clusters/0/1"}},
	{name: "another id of the representative", seed: func(s *stage) { s.edit(s.result(2), `{"id":"id-0"`, `{"id":"id-1"`) }, want: []string{"I3 article-clusters/0/1"}},
	{name: "a founder's representative that is another", seed: func(s *stage) { s.edit(s.result(1), "number 1", "number 2") }, want: []string{"I3 article-clusters/1/0"}},
	{name: "the same wrong representative everywhere", seed: func(s *stage) {
		for _, t := range s.transactions {
			for _, r := range t.records {
				r.Value = bytes.Replace(r.Value, []byte("number 0"), []byte("number O"), 1)
			}
		}
	}, want: []string{"I3 article-clusters/0/0", "I4 clusters/0/0"}},
	{name: "no representative", seed: func(s *stage) { s.edit(s.result(10), `"representative"`, `"representing"`) }, want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"}},
	{name: "a representative of an unclustered result", seed: func(s *stage) {
		s.edit(s.result(4), `"fingerprint"`, `"representative":{"id":"id-0","title":""},"fingerprint"`)
	}, want: []string{"form article-clusters/1/2"}},
}

// deadLetterFaults are in dead letters.
var deadLetterFaults = []fault{
	{name: "another class", seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.error", "bad_field") }, want: []string{"input articles-dead/1/0"}},
	{name: "another byte of a dead letter", seed: func(s *stage) { s.record("articles-dead", 0).Value = []byte("[") }, want: []string{"input articles-dead/1/0"}},
	{name: "a byte less of a dead letter", seed: func(s *stage) { s.record("articles-dead", 0).Value = []byte{} }, want: []string{"input articles-dead/1/0"}},
	{name: "a dead letter without a value", seed: func(s *stage) { s.record("articles-dead", 0).Value = nil }, want: []string{"input articles-dead/1/0"}},
	{name: "another key of a dead letter", seed: func(s *stage) { s.record("articles-dead", 0).Key = []byte("x") }, want: []string{"input articles-dead/1/0"}},
	{name: "another header's value on a dead letter", seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "from", "nobody") }, want: []string{"input articles-dead/1/0"}},
	{name: "a header less on a dead letter", seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "from", "") }, want: []string{"input articles-dead/1/0"}},
	{name: "a header of clusterd's more on a dead letter", seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.odd", "1") }, want: []string{"input articles-dead/1/0"}},
	{name: "a dead letter without a reason", seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.reason", "") }, want: []string{"form articles-dead/1/0", "input articles-dead/1/0"}},
	{name: "a whole dead letter that claims to be cut", seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.truncated", "1") }, want: []string{"input articles-dead/1/0"}},
	{name: "a cut dead letter of another length", seed: func(s *stage) {
		s.record("articles-dead", 0).Value = []byte{}
		setHeader(s.record("articles-dead", 0), "clusterd.truncated", "2")
	}, want: []string{"input articles-dead/1/0"}},
	{name: "a length that is none", seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.truncated", "-1") }, want: []string{"form articles-dead/1/0"}},
}

// clusterFaults are in the fields of clusters, and where they are.
var clusterFaults = []fault{
	{name: "a cluster's representative", seed: func(s *stage) { s.edit(s.clusterRecord(5), "number 1", "number 2") }, want: []string{"I4 clusters/1/4"}},
	{name: "a cluster's pipeline", seed: func(s *stage) { s.edit(s.clusterRecord(5), "spelled", "spilled") }, want: []string{"I4 clusters/1/4"}},
	{name: "a cluster's fingerprint", seed: func(s *stage) { s.edit(s.clusterRecord(5), "000f", "000e") }, want: []string{"I4 clusters/1/4"}},
	{name: "a cluster's first_seen", seed: func(s *stage) { s.edit(s.clusterRecord(5), "22:14:20Z", "22:14:19Z") }, want: []string{"I4 clusters/1/4"}},
	{name: "a sketch of a method that has none", seed: func(s *stage) { s.edit(s.clusterRecord(5), `"size"`, `"sketch":"AAAA","size"`) }, want: []string{"I4 clusters/1/4"}},
	{name: "a cluster in another partition", seed: func(s *stage) { s.clusterRecord(5).Partition = 0 }, want: []string{"I4 clusters/0/5"}},
	{name: "another header on a cluster", seed: func(s *stage) { setHeader(s.clusterRecord(5), "odd", "1") }, want: []string{"form clusters/1/4"}},
	{name: "a header on a tombstone", change: withWindow, seed: func(s *stage) {
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
