package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/twmb/franz-go/pkg/kgo"
)

// longText is more than input.max_bytes of these tests.
var longText = strings.Repeat("x", 2000)

// forged are headers of a dead letter on an input record.
var forged = []kgo.RecordHeader{
	{Key: "clusterd.source", Value: []byte("articles/0/0")},
	{Key: "clusterd.error", Value: []byte("old")},
}

var deadLetters = []struct {
	name   string
	record kgo.Record
	class  string
	cut    func(dead *kgo.Record)
	ok     bool
}{
	{"whole", kgo.Record{Key: []byte("k"), Value: []byte(longText)}, "too_large", nil, true},
	{"no value", kgo.Record{Key: []byte("k")}, "null_value", nil, true},
	{"an empty value", kgo.Record{Value: []byte{}}, "empty", nil, true},
	{"an empty key", kgo.Record{Key: []byte{}, Value: []byte("[]")}, "bad_json", nil, true},
	{
		"no key for an empty one",
		kgo.Record{Key: []byte{}, Value: []byte("[]")},
		"bad_json",
		func(dead *kgo.Record) { dead.Key = nil }, false,
	},
	{
		"no value for an empty one",
		kgo.Record{Value: []byte{}},
		"empty", func(dead *kgo.Record) { dead.Value = nil }, false,
	},
	{
		"a dead letter of a dead letter",
		kgo.Record{Value: []byte("{"), Headers: forged},
		"bad_json", nil, true,
	},
	{
		"the same, without its headers",
		kgo.Record{Value: []byte("{"), Headers: forged},
		"bad_json",
		func(dead *kgo.Record) { dead.Headers = dead.Headers[2:] }, true,
	},
	{
		"the same, without one of them",
		kgo.Record{Value: []byte("{"), Headers: forged},
		"bad_json",
		func(dead *kgo.Record) { dead.Headers = dead.Headers[1:] }, false,
	},
	{"cut", kgo.Record{Value: []byte(longText)}, "too_large", func(dead *kgo.Record) {
		dead.Value = dead.Value[:100]
		setHeader(dead, "clusterd.truncated", "2000")
	}, true},
	{
		"cut, not said",
		kgo.Record{Value: []byte(longText)},
		"too_large",
		func(dead *kgo.Record) { dead.Value = dead.Value[:100] }, false,
	},
	{
		"cut at the wrong end",
		kgo.Record{Value: []byte("y" + longText)},
		"too_large",
		func(dead *kgo.Record) {
			dead.Value = dead.Value[1:]
			setHeader(dead, "clusterd.truncated", "2001")
		},
		false,
	},
	{
		"longer than its record",
		kgo.Record{Value: []byte(longText)},
		"too_large",
		func(dead *kgo.Record) {
			dead.Value = append(dead.Value, 'x')
			setHeader(dead, "clusterd.truncated", "2000")
		},
		false,
	},
	{
		"only its headers",
		kgo.Record{
			Key: []byte(longText), Value: []byte(longText),
			Headers: []kgo.RecordHeader{{Key: "h", Value: []byte(longText)}},
		},
		"too_large",
		func(dead *kgo.Record) {
			dead.Key, dead.Value, dead.Headers = nil, nil, dead.Headers[1:]
			setHeader(dead, "clusterd.truncated", "2000")
		},
		true,
	},
	{
		"a key cut as it is read",
		kgo.Record{Key: []byte(longText), Value: []byte("[]")},
		"bad_json",
		func(dead *kgo.Record) { dead.Key = dead.Key[:1025] }, true,
	},
	{
		"headers left out as they are read",
		kgo.Record{Value: []byte("[]"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte(longText)}}},
		"bad_json",
		func(dead *kgo.Record) {
			dead.Headers = dead.Headers[1:]
		},
		true,
	},
	{"another class", kgo.Record{Value: []byte(longText)}, "bad_json", nil, false},
}

// Dead letters that hold, though they are not all of their records.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	for _, test := range some(6, deadLetters) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(c *config.Config) { c.Input.MaxBytes = 1024 })
			in := test.record
			in.Topic, in.Partition = "articles", 1
			if err := s.client.ProduceSync(t.Context(), &in).FirstErr(); err != nil {
				t.Fatal(err)
			}
			dead := &kgo.Record{
				Topic: "articles-dead", Partition: 1, Key: in.Key, Value: slices.Clone(in.Value),
				Headers: slices.Clone(in.Headers),
			}
			for _, h := range []string{
				"source=articles/1/0", "error=" + test.class, "reason=it is bad", "stage=decode",
			} {
				name, value, _ := strings.Cut(h, "=")
				dead.Headers = append(
					dead.Headers, kgo.RecordHeader{Key: "clusterd." + name, Value: []byte(value)},
				)
			}
			if test.cut != nil {
				test.cut(dead)
			}
			s.transactions = []transaction{{records: []*kgo.Record{dead}, committed: map[int32]int64{1: 1}}}
			s.write()
			var want []string
			if !test.ok {
				want = []string{"input articles-dead/1/0"}
			}
			found := s.audit(Options{})
			if got := firsts(found); !slices.Equal(got, want) {
				t.Errorf("found:\n%s\nwant %q", strings.Join(violations(found), "\n"), want)
			}
		})
	}
}
