package pipeline

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/checkpoint"
	"github.com/clusterd/clusterd/internal/cluster"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/fingerprint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
)

func testOutputs(partitions int) *outputs {
	c := config.Default().Output
	o := &outputs{
		Output: c, identity: "method=simhash", partitions: make(map[string][]int),
		limits: make(map[string]int), room: 1 << 20,
	}
	for _, topic := range []string{c.Topic, c.ClustersTopic, c.DeadLetterTopic} {
		for p := range partitions {
			o.partitions[topic] = append(o.partitions[topic], p)
		}
		o.limits[topic] = 1 << 20
	}
	return o
}

func TestResultRecord(t *testing.T) {
	const founder = "articles/3/812731"
	clustered := func(key []byte) *space.Assignment {
		return &space.Assignment{
			Article: &fingerprint.Article{
				Source: article.Address{Topic: "articles", Partition: 2, Offset: 9}, Key: key,
				Representative: article.Representative{ID: "x"},
			},
			ClusterID: founder, Status: article.Joined, Position: 41, EventTime: 1777636800000,
		}
	}
	unclustered := func(key []byte) *space.Assignment {
		a := clustered(key)
		return &space.Assignment{Article: a.Article, Status: article.Unclustered}
	}
	of := func(key string) int { return sink.PartitionOf([]byte(key), []int{0, 1, 2, 3, 4}) }
	for name, tt := range map[string]struct {
		key       string
		out       *space.Assignment
		wantKey   []byte
		partition int
		position  string
	}{
		"by cluster": {
			"cluster", clustered([]byte("site-1")), []byte(founder), of(founder), "41",
		},
		"by cluster, no key": {"cluster", clustered(nil), []byte(founder), of(founder), "41"},
		"by cluster, unclustered": {
			"cluster", unclustered([]byte("site-1")), []byte("articles/2/9"), of("articles/2/9"), "",
		},
		"by source": {
			"source", clustered([]byte("site-1")), []byte("site-1"), of("site-1"), "41",
		},
		"by source, empty key": {"source", clustered([]byte{}), []byte{}, of(""), "41"},
		"by source, no key":    {"source", clustered(nil), nil, 2, "41"},
		"by source, unclustered": {
			"source", unclustered([]byte("site-1")), []byte("site-1"), of("site-1"), "",
		},
		"by source, unclustered keyed": {"source", unclustered(nil), nil, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOutputs(5)
			o.Key = tt.key
			got := o.result(&arena{}, tt.out)
			want := kafka.Record{
				Topic: "article-clusters", Partition: tt.partition, Key: tt.wantKey,
				Value:   tt.out.AppendJSON(nil, o.identity),
				Headers: []kafka.Header{{Key: "clusterd.source", Value: []byte("articles/2/9")}},
			}
			if tt.position != "" {
				want.Headers = append(want.Headers, kafka.Header{
					Key: "clusterd.position", Value: []byte(tt.position),
				},
					kafka.Header{Key: "clusterd.event_time", Value: []byte("1777636800000")})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("no key, fewer partitions than the input", func(t *testing.T) {
		o := testOutputs(2)
		o.Key = "source"
		out := clustered(nil)
		out.Source.Partition = 5
		if got := o.result(&arena{}, out).Partition; got != 1 {
			t.Errorf("partition = %d, want 5 mod 2", got)
		}
	})
}

func testCluster(partition int, offset int64) cluster.Cluster {
	seen := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return cluster.Cluster{
		Centre: singlepass.Centre{
			Fingerprint: singlepass.Fingerprint{Hash: 0xabc}, Seq: uint64(offset),
		},
		Founder:  article.Address{Topic: "articles", Partition: partition, Offset: offset},
		Position: uint64(offset) + 100,
		Size:     3, FirstSeen: seen.UnixMilli(), LastSeen: seen.Add(time.Hour).UnixMilli(),
		Representative: article.Representative{ID: "a", Title: "港口大桥"},
	}
}

func TestClusterRecords(t *testing.T) {
	o := testOutputs(3)
	live, gone := testCluster(4, 7), testCluster(5, 8)
	checkpoint := &checkpoint.Record{Group: "g", Space: "2"}
	records := o.records(nil, space.Batch{
		Touched: []cluster.Cluster{live}, Expired: []cluster.Cluster{gone},
	}, checkpoint)
	want := []kafka.Record{
		{
			Topic: "clusters", Partition: 1, Key: []byte("articles/4/7"),
			Value: []byte(
				`{"cluster_id":"articles/4/7","seq":7,"fingerprint":"0000000000000abc","size":3,"first_seen":"2026-05-01T12:00:00Z",` +
					`"last_seen":"2026-05-01T13:00:00Z","representative":{"id":"a","title":"港口大桥"},"pipeline":"method=simhash"}`),
			Headers: []kafka.Header{{Key: "clusterd.position", Value: []byte("107")}},
		},
		{Topic: "clusters", Partition: 2, Key: []byte("articles/5/8")}, // a tombstone
		{Topic: "clusters", Partition: 2, Key: []byte("checkpoint:g/2"), Value: checkpoint.JSON()},
	}
	if diff := cmp.Diff(want, records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if records[1].Value != nil {
		t.Error("a tombstone's value must be nil, not empty")
	}
	back, identity, err := cluster.Parse(records[0].Key, records[0].Value, live.Position)
	if err != nil || identity != o.identity {
		t.Fatalf("identity %q, %v", identity, err)
	}
	if diff := cmp.Diff(live, back); diff != "" {
		t.Errorf("parsed (-written +read):\n%s", diff)
	}
}

func rejected(r kafka.Record) *deadLetter {
	stage := stageDecode
	if r.Unreadable != nil {
		stage = stageFetch
	}
	return &deadLetter{r, &article.Rejection{
		Class: article.BadJSON, Reason: "the value is not valid JSON",
	}, stage}
}

// verdict are the headers that say why.
func verdict(source string) []kafka.Header {
	return []kafka.Header{
		{Key: "clusterd.error", Value: []byte("bad_json")},
		{Key: "clusterd.reason", Value: []byte("the value is not valid JSON")},
		{Key: "clusterd.stage", Value: []byte("decode")},
		{Key: "clusterd.source", Value: []byte(source)},
	}
}

func TestDeadLetterIsTheRecordAsItCame(t *testing.T) {
	in := kafka.Record{
		Topic: "articles", Partition: 4, Offset: 77, Time: time.Unix(1, 0), Key: []byte("k"),
		Value: []byte("{"),
		Headers: []kafka.Header{
			{Key: "trace", Value: []byte("1")},
			{Key: "trace", Value: nil},
			{Key: "clusterd.error", Value: []byte("theirs")},
		},
	}
	want := kafka.Record{
		Topic: "articles-dead", Partition: 1, Key: []byte("k"), Value: []byte("{"),
		Headers: append([]kafka.Header{
			{Key: "trace", Value: []byte("1")},
			{Key: "trace", Value: nil},
			{Key: "input.clusterd.error", Value: []byte("theirs")},
		}, verdict("articles/4/77")...),
	}
	got := testOutputs(3).records([]*deadLetter{rejected(in)}, space.Batch{}, &checkpoint.Record{})
	if diff := cmp.Diff([]kafka.Record{want}, got[:1]); diff != "" {
		t.Errorf("dead letter (-want +got):\n%s", diff)
	}
	tombstone := testOutputs(3).deadLetter(rejected(kafka.Record{Topic: "articles", Key: []byte("k")}))
	if tombstone.Value != nil {
		t.Errorf("value = %q, want none, as it came", tombstone.Value)
	}
}

// A reader may take the first header of a name or the last, a producer may have written any: what
// clusterd says is there once.
func TestDeadLetterCannotBeForged(t *testing.T) {
	ours := []string{
		"clusterd.error", "clusterd.reason", "clusterd.stage", "clusterd.source", "clusterd.truncated",
		"clusterd.offsets",
	}
	var forged []kafka.Header
	for _, name := range ours {
		for _, prefix := range []string{"", "input.", "input.input."} {
			forged = append(forged, kafka.Header{Key: prefix + name, Value: []byte(prefix + "forged")})
		}
	}
	for name, r := range map[string]kafka.Record{
		"a record":             {Topic: "articles", Value: []byte("{"), Headers: forged},
		"a record that is cut": {Topic: "articles", Value: []byte("{"), Headers: forged, Cut: 5},
	} {
		got := testOutputs(1).deadLetter(rejected(r))
		count, names := make(map[string]int), make(map[string]string)
		for _, h := range got.Headers {
			count[h.Key]++
			if strings.HasSuffix(string(h.Value), "forged") {
				names[h.Key] = string(h.Value)
			}
		}
		for _, h := range ours {
			if count[h] > 1 || names[h] != "" {
				t.Errorf("%s: %d headers %s, %q", name, count[h], h, names[h])
			}
		}
		for _, h := range forged { // each is there, under a name that tells the one it had
			if kept := names["input."+h.Key]; kept != string(h.Value) {
				t.Errorf("%s: %s = %q, want %q", name, "input."+h.Key, kept, h.Value)
			}
		}
	}
}

// The rest of a batch is one dead letter with the whole batch in it.
func TestDeadLetterOfABadBatch(t *testing.T) {
	f := testFingerprinter(t, testConfig())
	in := kafka.Record{
		Topic: "articles", Partition: 4, Offset: 77, Time: time.Unix(1, 0), Value: []byte("the batch"),
		Cut:        3,
		Unreadable: &kafka.Unreadable{Last: 90, Reason: "record 2 of 9: no"},
	}
	items, err := fingerprintRecords(t.Context(), f,
		[]kafka.Record{in, {Partition: 4, Offset: 91, Value: []byte("{")}}, &carried{})
	if err != nil {
		t.Fatal(err)
	}
	want := kafka.Record{
		Topic: "articles-dead", Partition: 1, Value: []byte("the batch"),
		Headers: []kafka.Header{
			{Key: "clusterd.error", Value: []byte("bad_batch")},
			{Key: "clusterd.reason", Value: []byte("record 2 of 9: no")},
			{Key: "clusterd.stage", Value: []byte("fetch")},
			{Key: "clusterd.source", Value: []byte("articles/4/77")},
			{Key: "clusterd.offsets", Value: []byte("77-90")},
			{Key: "clusterd.truncated", Value: []byte("12")},
		},
	}
	if diff := cmp.Diff(want, testOutputs(3).deadLetter(items[0].deadLetter)); diff != "" {
		t.Errorf("dead letter (-want +got):\n%s", diff)
	}
	// Before all of it is committed, none of it is.
	b := backlog{maxRecords: 1, maxBytes: 1 << 20, next: make(map[int]int64)}
	b.add(items, 4, 92)
	if head := b.head(); head.next[4] != 91 {
		t.Errorf("up to %d with the first, want 91", head.next[4])
	}
}

func TestDeadLetterFitsItsTopic(t *testing.T) {
	const limit = 10_000
	large := strings.Repeat("港", 10_000)
	for name, tt := range map[string]struct {
		in        kafka.Record
		truncated string // the header; "" for none
		whole     bool   // key and headers are kept
	}{
		"fits":                 {kafka.Record{Key: []byte("k"), Value: []byte("{")}, "", true},
		"large value":          {kafka.Record{Key: []byte("k"), Value: []byte(large)}, "30000", true},
		"cut when it was read": {kafka.Record{Value: []byte("{"), Cut: 700}, "701", true},
		"cut then and now":     {kafka.Record{Value: []byte(large), Cut: 700}, "30700", true},
		"large key":            {kafka.Record{Key: []byte(large), Value: []byte("{")}, "1", false},
		"large key, no value":  {kafka.Record{Key: []byte(large)}, "0", false},
		"large headers": {kafka.Record{
			Value: []byte("{"), Headers: []kafka.Header{{Key: "h", Value: []byte(large)}},
		}, "1", false},
		"all large": {kafka.Record{
			Key: []byte(large), Value: []byte(large), Headers: []kafka.Header{{Key: large}},
		}, "30000", false},
		"headers, and the value": {kafka.Record{
			Value: []byte(large), Headers: []kafka.Header{{Key: "h", Value: []byte(large[:6000])}},
		}, "30000", true},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOutputs(1)
			o.limits["articles-dead"] = limit
			got := o.deadLetter(rejected(tt.in))
			if size := sink.Size(got); size > limit {
				t.Errorf("size = %d, want at most %d", size, limit)
			}
			if h := header(got, "clusterd.truncated"); h != tt.truncated {
				t.Errorf("clusterd.truncated = %q, want %q", h, tt.truncated)
			}
			want := verdict("/0/0")
			if tt.whole {
				want = append(append([]kafka.Header{}, tt.in.Headers...), want...)
			}
			if tt.truncated != "" {
				want = append(want, kafka.Header{Key: "clusterd.truncated", Value: []byte(tt.truncated)})
			}
			if diff := cmp.Diff(want, got.Headers); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			switch {
			case !tt.whole && (got.Key != nil || got.Value != nil):
				t.Errorf("key of %d bytes and value of %d, want neither", len(got.Key), len(got.Value))
			case tt.whole && (string(got.Key) != string(tt.in.Key) ||
				!strings.HasPrefix(string(tt.in.Value), string(got.Value))):
				t.Error("key or the beginning of the value is not as it came")
			case tt.whole && len(got.Value) < len(tt.in.Value) && sink.Size(got) < limit*98/100:
				t.Errorf("size = %d: more was cut than necessary", sink.Size(got))
			}
		})
	}
}
