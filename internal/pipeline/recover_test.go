package pipeline

import (
	"testing"

	"github.com/clusterd/clusterd/internal/kafka"
)

func TestReplay(t *testing.T) {
	w := &worker{config: testConfig(), fingerprinter: &Fingerprinter{identity: "method=simhash,hash=sdbm,weight=log"}, partitions: []int{1, 4}}
	w.out = *testOutputs(3)
	record := func(partition int, change func(*cluster)) kafka.Record {
		c := testCluster(partition, 7)
		c.Pipeline = w.fingerprinter.identity
		change(&c)
		r := w.out.records(changes{touched: []cluster{c}})[0]
		r.Offset = 12
		return r
	}
	same := func(*cluster) {}
	live := make(map[string]cluster)
	for _, r := range []kafka.Record{
		record(1, same),
		record(1, func(c *cluster) { c.Size = 9 }), // a later state of the same
		record(4, same),
		record(0, same),                         // another space's
		record(7, same),                         // another space's in a partition of ours
		{Key: []byte("articles/4/7")},           // it expired
		{Key: []byte("articles/9/1")},           // unknown: compaction kept the tombstone alone
		{Key: []byte("of another application")}, // likewise
	} {
		if err := w.replay(live, r); err != nil {
			t.Fatal(err)
		}
	}
	if len(live) != 1 || live["articles/1/7"].Size != 9 {
		t.Errorf("live = %v, want articles/1/7 alone, of size 9", live)
	}

	moved := record(1, same)
	moved.Partition = 2
	for name, tt := range map[string]struct {
		record kafka.Record
		want   string
	}{
		"no cluster": {
			kafka.Record{Topic: "clusters", Partition: 1, Offset: 12, Value: []byte("{}")},
			`clusters/1/12 is no cluster that clusterd wrote (not a cluster: cluster_id: "" is not an address: want topic/partition/offset): is output.clusters_topic used for something else?`,
		},
		"other topic": {
			record(1, func(c *cluster) { c.founder.Topic, c.ClusterID = "comments", "comments/1/7" }),
			"clusters/1/12 is a cluster of topic comments, not of articles: give each input topic its own output.clusters_topic",
		},
		"other partition": {
			moved,
			"clusters/2/12 is in another partition than its founder's, 1: the number of partitions of output.clusters_topic was changed, which moves its keys. " +
				"Start anew with another input.group and another output.clusters_topic",
		},
		"other pipeline": {
			record(1, func(c *cluster) { c.Pipeline = "method=simhash,hash=xxh3,weight=set" }),
			"the clusters in clusters were made in another way (hash was xxh3 and is sdbm, weight was set and is log): their fingerprints cannot be compared with new ones. " +
				"Set it back, or start anew with another input.group and another output.clusters_topic",
		},
		"other pipeline of another space": {
			record(0, func(c *cluster) { c.Pipeline = "" }),
			`the clusters in clusters were made in another way (it was "" and is "method=simhash,hash=sdbm,weight=log"): their fingerprints cannot be compared with new ones. ` +
				"Set it back, or start anew with another input.group and another output.clusters_topic",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := w.replay(live, tt.record); err == nil || err.Error() != tt.want {
				t.Errorf("error = %v\nwant    %s", err, tt.want)
			}
		})
	}
}

func TestDifference(t *testing.T) {
	for name, tt := range map[string]struct{ was, is, want string }{
		"one":              {"a=1,b=2", "a=1,b=3", "b was 2 and is 3"},
		"several":          {"a=1,b=2,c=3", "a=2,b=2,c=4", "a was 1 and is 2, c was 3 and is 4"},
		"a part is gone":   {"a=1,b=2", "a=1", `it was "a=1,b=2" and is "a=1"`},
		"a part is new":    {"a=1", "a=1,b=2", `it was "a=1" and is "a=1,b=2"`},
		"in another order": {"a=1,b=2", "b=2,a=1", `it was "a=1,b=2" and is "b=2,a=1"`},
		"no identity":      {"", "a=1", `it was "" and is "a=1"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := difference(tt.was, tt.is); got != tt.want {
				t.Errorf("difference = %s\nwant         %s", got, tt.want)
			}
		})
	}
}
