package audit

import (
	"bytes"
)

// inputFaults are in what a result says of its input record.
var inputFaults = []fault{
	{
		name: "another article_id", seed: func(s *stage) { s.edit(s.result(2), `"id-2"`, `"id-3"`) },
		want: []string{"input article-clusters/0/1"},
	},
	{
		name: "another article_id, of an unclustered result",
		seed: func(s *stage) { s.edit(s.result(4), `"id-5"`, `"id-6"`) },
		want: []string{"input article-clusters/1/2"},
	},
	{
		name: "another published_at",
		seed: func(s *stage) { s.edit(s.result(2), "22:15:20Z", "22:15:21Z") },
		want: []string{"input article-clusters/0/1"},
	},
	{
		name: "published_at a nanosecond later",
		seed: func(s *stage) { s.edit(s.result(2), "22:15:20Z", "22:15:20.000000001Z") },
		want: []string{"input article-clusters/0/1"},
	},
	{
		name: "no published_at",
		seed: func(s *stage) { s.edit(s.result(2), `"published_at"`, `"published"`) },
		want: []string{"form article-clusters/0/1", "input article-clusters/0/1"},
	},
	{
		name: "a field that no result has",
		seed: func(s *stage) { s.edit(s.result(2), `"published_at"`, `"verdict":"spam","published_at"`) },
		want: []string{"form article-clusters/0/1"},
	},
	{
		name: "a field that no source has",
		seed: func(s *stage) { s.edit(s.result(2), `"topic"`, `"broker":1,"topic"`) },
		want: []string{"form article-clusters/0/1"},
	},
	{name: "another fingerprint", seed: func(s *stage) {
		s.edit(s.result(2), `"fingerprint":"0000000000000003"`, `"fingerprint":"0000000000000002"`)
	}, want: []string{"input article-clusters/0/1"}},
	{
		name: "another pipeline",
		seed: func(s *stage) { s.edit(s.result(2), "method=spelled", "method=spilled") },
		want: []string{"input article-clusters/0/1"},
	},
	{name: "another pipeline everywhere", seed: func(s *stage) {
		for _, t := range s.transactions {
			for _, r := range t.records {
				r.Value = bytes.Replace(r.Value, []byte("method=spelled"), []byte("method=spilled"), 1)
			}
		}
	}, want: []string{"input article-clusters/0/0", "I4 clusters/0/0"}},
	{
		name: "the event time of another article",
		seed: func(s *stage) { setHeader(s.result(2), "clusterd.event_time", "1700000180000") },
		want: []string{"input article-clusters/0/1", "I4 clusters/0/0"},
	},
	{name: "a result of what is no article", seed: func(s *stage) {
		r, dead := *s.result(4), s.record("articles-dead", 0)
		setHeader(&r, "clusterd.source", "articles/1/1")
		s.edit(&r, `"offset":2`, `"offset":1`)
		s.edit(&r, `"id-5"`, `"articles/1/1"`)
		*dead = r
	}, want: []string{"input article-clusters/1/1"}},
	{name: "unclustered, and it has a fingerprint", seed: func(s *stage) {
		r := s.result(10)
		r.Value = []byte(
			`{"article_id":"id-11","cluster_id":null,"status":"unclustered","size":0,` +
				`"published_at":"2023-11-14T22:24:20Z",` +
				`"source":{"topic":"articles","partition":1,"offset":5},"pipeline":"method=spelled"}`,
		)
		setHeader(setHeader(r, "clusterd.position", ""), "clusterd.event_time", "")
	}, want: []string{
		"input article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4",
	}},
	{name: "two sources are swapped", seed: func(s *stage) {
		x, y := s.result(6), s.result(8)
		setHeader(x, "clusterd.source", "articles/1/4")
		s.edit(x, `"partition":1,"offset":3`, `"partition":1,"offset":4`)
		setHeader(y, "clusterd.source", "articles/1/3")
		s.edit(y, `"partition":1,"offset":4`, `"partition":1,"offset":3`)
	}, want: []string{
		"input article-clusters/1/3", "I2 article-clusters/1/5", "I3 article-clusters/1/3",
		"I4 clusters/0/2",
	}},
}

// placementFaults are in where a message is, and under which key and headers.
var placementFaults = []fault{
	{
		name: "another key", seed: func(s *stage) { s.result(8).Key = []byte("articles/0/0") },
		want: []string{"input article-clusters/1/5"},
	},
	{
		name: "another partition", seed: func(s *stage) { s.result(7).Partition = 1 },
		want: []string{"input article-clusters/1/5"},
	},
	{
		name: "another partition, of the first result",
		seed: func(s *stage) { s.result(0).Partition = 1 }, want: []string{"input article-clusters/1/0"},
	},
	{
		name: "a dead letter in another partition",
		seed: func(s *stage) { s.record("articles-dead", 0).Partition = 0 },
		want: []string{"input articles-dead/0/0"},
	},
	{
		name: "another header", seed: func(s *stage) { setHeader(s.result(8), "clusterd.odd", "1") },
		want: []string{"form article-clusters/1/5"},
	},
	{name: "a header twice", seed: func(s *stage) {
		s.result(8).Headers = append(s.result(8).Headers, s.result(8).Headers[0])
	}, want: []string{"form article-clusters/1/5"}},
	{
		name: "another header on an unclustered result",
		seed: func(s *stage) { setHeader(s.result(4), "odd", "1") },
		want: []string{"form article-clusters/1/2"},
	},
}

// representativeFaults are in representatives.
var representativeFaults = []fault{
	{
		name: "another title of the representative",
		seed: func(s *stage) { s.edit(s.result(2), "number 0", "number 1") },
		want: []string{"I3 article-clusters/0/1"},
	},
	{
		name: "another id of the representative",
		seed: func(s *stage) { s.edit(s.result(2), `{"id":"id-0"`, `{"id":"id-1"`) },
		want: []string{"I3 article-clusters/0/1"},
	},
	{
		name: "a founder's representative that is another",
		seed: func(s *stage) { s.edit(s.result(1), "number 1", "number 2") },
		want: []string{"I3 article-clusters/1/0"},
	},
	{name: "the same wrong representative everywhere", seed: func(s *stage) {
		for _, t := range s.transactions {
			for _, r := range t.records {
				r.Value = bytes.Replace(r.Value, []byte("number 0"), []byte("number O"), 1)
			}
		}
	}, want: []string{"I3 article-clusters/0/0", "I4 clusters/0/0"}},
	{
		name: "no representative",
		seed: func(s *stage) { s.edit(s.result(10), `"representative"`, `"representing"`) },
		want: []string{"form article-clusters/1/6", "I2 article-clusters, position 9", "I4 clusters/0/4"},
	},
	{name: "a representative of an unclustered result", seed: func(s *stage) {
		s.edit(s.result(4), `"fingerprint"`, `"representative":{"id":"id-0","title":""},"fingerprint"`)
	}, want: []string{"form article-clusters/1/2"}},
}

// deadLetterFaults are in dead letters.
var deadLetterFaults = []fault{
	{
		name: "another class",
		seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.error", "bad_field") },
		want: []string{"input articles-dead/1/0"},
	},
	{
		name: "another byte of a dead letter",
		seed: func(s *stage) { s.record("articles-dead", 0).Value = []byte("[") },
		want: []string{"input articles-dead/1/0"},
	},
	{
		name: "a byte less of a dead letter",
		seed: func(s *stage) { s.record("articles-dead", 0).Value = []byte{} },
		want: []string{"input articles-dead/1/0"},
	},
	{
		name: "a dead letter without a value",
		seed: func(s *stage) { s.record("articles-dead", 0).Value = nil },
		want: []string{"input articles-dead/1/0"},
	},
	{
		name: "another key of a dead letter",
		seed: func(s *stage) { s.record("articles-dead", 0).Key = []byte("x") },
		want: []string{"input articles-dead/1/0"},
	},
	{
		name: "another header's value on a dead letter",
		seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "from", "nobody") },
		want: []string{"input articles-dead/1/0"},
	},
	{
		name: "a header less on a dead letter",
		seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "from", "") },
		want: []string{"input articles-dead/1/0"},
	},
	{
		name: "a header of clusterd's more on a dead letter",
		seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.odd", "1") },
		want: []string{"input articles-dead/1/0"},
	},
	{
		name: "a dead letter without a reason",
		seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.reason", "") },
		want: []string{"form articles-dead/1/0", "input articles-dead/1/0"},
	},
	{
		name: "a whole dead letter that claims to be cut",
		seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.truncated", "1") },
		want: []string{"input articles-dead/1/0"},
	},
	{name: "a cut dead letter of another length", seed: func(s *stage) {
		s.record("articles-dead", 0).Value = []byte{}
		setHeader(s.record("articles-dead", 0), "clusterd.truncated", "2")
	}, want: []string{"input articles-dead/1/0"}},
	{
		name: "a length that is none",
		seed: func(s *stage) { setHeader(s.record("articles-dead", 0), "clusterd.truncated", "-1") },
		want: []string{"form articles-dead/1/0"},
	},
}

// clusterFaults are in the fields of clusters, and where they are.
var clusterFaults = []fault{
	{
		name: "a cluster's representative",
		seed: func(s *stage) { s.edit(s.clusterRecord(5), "number 1", "number 2") },
		want: []string{"I4 clusters/1/4"},
	},
	{
		name: "a cluster's pipeline",
		seed: func(s *stage) { s.edit(s.clusterRecord(5), "spelled", "spilled") },
		want: []string{"I4 clusters/1/4"},
	},
	{
		name: "a cluster's fingerprint",
		seed: func(s *stage) { s.edit(s.clusterRecord(5), "000f", "000e") },
		want: []string{"I4 clusters/1/4"},
	},
	{
		name: "a cluster's first_seen",
		seed: func(s *stage) { s.edit(s.clusterRecord(5), "22:14:20Z", "22:14:19Z") },
		want: []string{"I4 clusters/1/4"},
	},
	{
		name: "a sketch of a method that has none",
		seed: func(s *stage) { s.edit(s.clusterRecord(5), `"size"`, `"sketch":"AAAA","size"`) },
		want: []string{"I4 clusters/1/4"},
	},
	{
		name: "a cluster in another partition", seed: func(s *stage) { s.clusterRecord(5).Partition = 0 },
		want: []string{"I4 clusters/0/5"},
	},
	{
		name: "another header on a cluster",
		seed: func(s *stage) { setHeader(s.clusterRecord(5), "odd", "1") },
		want: []string{"form clusters/1/4"},
	},
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
