package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/state"
)

func TestReplay(t *testing.T) {
	const identity = "method=simhash,hash=sdbm,weight=log"
	space := testReplica(t, 0, 1, 4)
	space.identity = identity
	o := testOutputs(3)
	record := func(partition int, pipeline string, change func(*state.Cluster)) kafka.Record {
		c := testCluster(partition, 7)
		change(&c)
		o.identity = pipeline
		r := o.records(changes{touched: []state.Cluster{c}})[0]
		r.Offset = 12
		return r
	}
	same := func(*state.Cluster) {}
	read := func(records ...kafka.Record) error {
		_, err := space.take(t.Context(), consumer.Chunk{Partition: 1, Records: records, Next: 13})
		return err
	}
	for i, r := range []kafka.Record{
		record(1, identity, same),
		record(1, identity, func(c *state.Cluster) { c.Size = 9 }), // a later state of the same
		record(4, identity, func(c *state.Cluster) { c.Seq = 8 }),
		record(0, identity, same),               // another space's
		record(7, identity, same),               // another space's in a partition of ours
		{Key: []byte("articles/4/7")},           // it expired
		{Key: []byte("articles/9/1")},           // unknown: compaction kept the tombstone alone
		{Key: []byte("of another application")}, // likewise
	} {
		r.Offset = int64(i)
		if err := read(r); err != nil {
			t.Fatal(err)
		}
	}
	c, ok, err := space.space.store.Get(7)
	if err != nil || !ok || c.Size != 9 || space.space.store.Len() != 1 || space.space.rule.Len() != 1 {
		t.Errorf("on disk %+v (%t, %v), %d clusters, %d centres; want articles/1/7 alone, of size 9", c, ok, err, space.space.store.Len(), space.space.rule.Len())
	}
	want := state.Meta{
		Offsets: map[int]int64{1: 13}, Founders: map[int]int64{1: 7, 4: 7}, StreamTime: testCluster(1, 7).LastSeen, Next: 108,
		Last: map[int]state.LastRecord{1: {Offset: 7, Key: "of another application"}},
	}
	if diff := cmp.Diff(want, space.space.store.Meta(), cmpopts.IgnoreFields(state.Meta{}, "Written")); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}

	unreadable := kafka.Record{Topic: "clusters", Partition: 1, Offset: 12, Value: []byte("x"), Unreadable: &kafka.Unreadable{Last: 14, Reason: "codec 7"}}
	says := "offsets 12 to 14 of clusters/1 cannot be read (codec 7): it is a record batch that clusterd did not write. Nothing was skipped. Find out who " +
		"else writes to output.clusters_topic, and start anew with another input.group and another output.clusters_topic"
	if err := read(unreadable); err == nil || err.Error() != says {
		t.Errorf("error = %v\nwant    %s", err, says)
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
