package intake

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/sink"
)

// toDead returns the dead letter in a topic of so many partitions, that takes much.
func toDead(d *DeadLetter, partitions int) kafka.Record {
	return d.RecordTo("articles-dead", partitions, 1<<20)
}

func rejected(r kafka.Record) *DeadLetter {
	stage := StageDecode
	if r.Unreadable != nil {
		stage = StageFetch
	}
	return &DeadLetter{r, &article.Rejection{
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
	if diff := cmp.Diff(want, toDead(rejected(in), 3)); diff != "" {
		t.Errorf("dead letter (-want +got):\n%s", diff)
	}
	tombstone := toDead(rejected(kafka.Record{Topic: "articles", Key: []byte("k")}), 3)
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
		got := toDead(rejected(r), 1)
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
	f := testFingerprinter(t, config.Default())
	in := kafka.Record{
		Topic: "articles", Partition: 4, Offset: 77, Time: time.Unix(1, 0), Value: []byte("the batch"),
		Cut:        3,
		Unreadable: &kafka.Unreadable{Last: 90, Reason: "record 2 of 9: no"},
	}
	items, err := Records(f, &Carried{})(t.Context(),
		[]kafka.Record{in, {Partition: 4, Offset: 91, Value: []byte("{")}})
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
	if diff := cmp.Diff(want, toDead(items[0].DeadLetter, 3)); diff != "" {
		t.Errorf("dead letter (-want +got):\n%s", diff)
	}
	// Before all of it is committed, none of it is.
	b := backlog{maxRecords: 1, maxBytes: 1 << 20, next: make(map[int]int64)}
	b.add(items, 4, 92)
	if head := b.head(); head.Next[4] != 91 {
		t.Errorf("up to %d with the first, want 91", head.Next[4])
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
			got := rejected(tt.in).RecordTo("articles-dead", 1, limit)
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

// header returns the value of the last header of a name, "" where there is none.
func header(r kafka.Record, name string) (value string) {
	for _, h := range r.Headers {
		if h.Key == name {
			value = string(h.Value)
		}
	}
	return value
}
