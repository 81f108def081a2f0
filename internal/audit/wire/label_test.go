package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/message/article"
)

// What is stated of label records is what the daemon reads of them, good ones and bad ones.
func TestLabelRecordIsTheDaemons(t *testing.T) {
	const cluster = `{"cluster_id":"articles/2/7",`
	long := strings.Repeat("x", 65)
	for _, value := range []string{
		cluster + `"label":"spam"}`,
		cluster + `"label":"spam","action":"add","by":"alice","at":"2026-05-01T10:00:00.1239+02:00",` +
			`"note":"an <ad>","trial":true,"more":[1]}`,
		cluster + `"label":"spam","action":"remove"}`,
		cluster + `"label":"spam","action":"resume"}`,
		`{"label":"spam","action":"resume"}`,
		`{"label":"spam","action":"remove"}`,
		cluster + `"label":"spam","action":"delete"}`,
		cluster + `"label":"` + long[:64] + `"}`,
		cluster + `"label":"` + long + `"}`,
		cluster + `"label":"垃圾 信息"}`,
		cluster + `"label":""}`,
		cluster + `"label":" a"}`,
		cluster + `"label":"a,b"}`,
		cluster + `"label":"a\u0007"}`,
		cluster + `"label":"a","by":"` + long + `"}`,
		cluster + `"label":"a","note":"` + strings.Repeat(long, 4) + `"}`,
		cluster + `"label":"a","at":"1969-12-31T23:59:59Z"}`,
		cluster + `"label":"a","at":"9999-12-31T23:59:59.999Z"}`,
		cluster + `"label":"a","at":"yesterday"}`,
		cluster + `"label":7}`,
		cluster + `"label":"a","trial":"yes"}`,
		cluster + `"LABEL":"a"}`,
		cluster + `"label":"a"} x`,
		"{\"label\":\"\xff\"}", "", "null", "[]", `"spam"`,
		`{"cluster_id":"comments/0/1","label":"a"}`,
		`{"cluster_id":"articles/0","label":"a"}`,
		`{"cluster_id":"articles/00/1","label":"a"}`,
		`{"cluster_id":"articles/+1/1","label":"a"}`,
		`{"cluster_id":"articles/1/-1","label":"a"}`,
		`{"cluster_id":"articles/1/2/3","label":"a"}`,
		`{"cluster_id":"/1/2","label":"a"}`,
		`{"cluster_id":"articles/2147483648/2","label":"a"}`,
		`{"cluster_id":"articles/1/9223372036854775808","label":"a"}`,
		`{"action":"merge","story_id":"articles/2/7","other":"articles/0/1"}`,
		`{"action":"unmerge","story_id":"articles/2/7","other":"articles/0/1","by":"bob"}`,
		`{"action":"unmerge","story_id":"articles/2/7","other":"articles/0"}`,
		`{"action":"unmerge","story_id":"articles/2/7"}`,
		`{"action":"unmerge","story_id":"articles/2/7","other":"articles/0/1","label":"a"}`,
		cluster + `"action":"split","words":"AAECAwQF","han":true,"terms":"a"}`,
		cluster + `"action":"unmerge"}`,
		cluster + `"action":"erase","target":"article","source":"articles/1/2"}`,
		cluster + `"action":"erase","target":"article"}`,
		cluster + `"action":"erase","source":"articles/1/2"}`,
		cluster + `"action":"erase","target":"article","source":"articles/1/2","label":"a"}`,
		`{"action":"erase","target":"contact","contact":"code:a","space":"b","partition":3}`,
		`{"action":"erase","target":"contact","contact":"code:a","label":"a"}`,
		`{"action":"erase","target":"contact","contact":"erased:0/17"}`,
		`{"action":"erase","target":"contact"}`,
		`{"label":"a","target":"contact","contact":"erased:0/17"}`,
		cluster + `"label":"a","note":"` + strings.Repeat("x", 255) + `","more":"` +
			strings.Repeat("y", 16<<10) + `"}`,
	} {
		r := &kgo.Record{Value: []byte(value), Timestamp: published}
		got, err := wire.ParseLabelRecord(r)
		if err == nil && got.Action != wire.ActionResume && got.Target != wire.TargetContact &&
			!wire.IsAddress(got.ClusterID) {
			err = errors.New("no address")
		}
		want, rejection := article.ParseLabelRecord(r.Value, r.Timestamp, member)
		if (rejection == nil) != (err == nil) {
			t.Errorf("%s: %v is stated, the daemon says %v", value, err, rejection)
		}
		if rejection != nil || err != nil {
			continue
		}
		stated := wire.LabelRecord{
			Label: want.Name, Action: string(want.Action), By: want.By, Note: want.Note,
			At: want.At.UnixMilli(), Trial: want.Trial, Other: want.Other, Han: want.Han,
			Terms: want.Terms,
		}
		switch {
		case want.Target == article.TargetContact:
			stated.Target, stated.Contact = string(want.Target), want.Targeted.Contact
			stated.Space, stated.Partition = want.Space, int32(want.Partition)
		case want.Action == article.Erase:
			stated.Target, stated.Source = string(want.Target), want.Source.String()
		}
		if want.Words != "" {
			stated.Words = []byte(want.Words)
		}
		if want.Other != "" {
			stated.StoryID = want.Cluster.String()
		}
		if want.Action != article.ResumeLabel && want.Target != article.TargetContact {
			stated.ClusterID = want.Cluster.String()
		}
		if diff := cmp.Diff(stated, got); diff != "" {
			t.Errorf("%s: %s", value, diff)
		}
	}
}

func TestCorrectionIsTheDaemons(t *testing.T) {
	written := article.Correction{
		ArticleID: "a1",
		LabelChange: article.LabelChange{
			ClusterID: founder.String(), Label: "spam", Action: article.AddLabel,
			Labels: []string{"scam", "spam"}, By: "alice", At: published, Note: "an <ad>", Position: 9,
			Record: "labels/0/3",
		},
		MemberPosition: 4, Source: member,
	}
	r := &kgo.Record{Key: []byte(founder.String()), Value: written.AppendJSON(nil)}
	got, err := wire.ParseCorrection(r)
	if err != nil {
		t.Fatal(err)
	}
	want := wire.Correction{
		ArticleID: "a1",
		Change: wire.Change{
			ClusterID: founder.String(), Label: "spam", Action: wire.ActionAdd,
			Labels: []string{"scam", "spam"}, By: "alice", At: published, Note: "an <ad>", Position: 9,
			Record: "labels/0/3",
		},
		MemberPosition: 4,
	}
	want.Source.Topic, want.Source.Partition, want.Source.Offset = "articles", 1, 1<<40
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	r.Key = []byte("articles/0/0")
	if _, err := wire.ParseCorrection(r); err == nil {
		t.Error("a correction under the key of another cluster is one")
	}
}

// Headers of an input record go on as the daemon passes them on.
func TestPassing(t *testing.T) {
	header := func(name, value string) kgo.RecordHeader {
		return kgo.RecordHeader{Key: name, Value: []byte(value)}
	}
	large := header("large", strings.Repeat("x", 16<<10))
	r := &kgo.Record{Headers: []kgo.RecordHeader{
		header("a", "1"), large, header("clusterd.source", "x"), header("input.clusterd.source", "y"),
		header("input.a", "z"), header("a", "2"),
	}}
	for _, test := range []struct {
		names []string
		want  string
		bytes int
	}{
		{nil, "", 0},
		{[]string{"a"}, `"a"="1";"a"="2";`, 4},
		{
			[]string{"*"}, `"a"="1";"input.clusterd.source"="x";"input.input.clusterd.source"="y";` +
				`"input.a"="z";"a"="2";`, 62,
		},
	} {
		got, bytes := wire.Passing(r, test.names)
		if got != test.want || bytes != test.bytes {
			t.Errorf("%q: %s, %d bytes; want %s, %d", test.names, got, bytes, test.want, test.bytes)
		}
	}
	for _, h := range r.Headers {
		own := wire.Address{Partition: 1, Offset: 2}
		name := article.ForeignHeader(h.Key)
		passed, _ := wire.Passed(&kgo.Record{Headers: []kgo.RecordHeader{
			{Key: name, Value: h.Value}, header(wire.HeaderSource, own.In("articles")),
		}})
		want, _ := wire.Passing(&kgo.Record{Headers: []kgo.RecordHeader{h}}, []string{"*"})
		if h.Key != large.Key && passed != want {
			t.Errorf("header %s: %s is passed, %s is stated", h.Key, passed, want)
		}
	}
	many := &kgo.Record{}
	for range 100 {
		many.Headers = append(many.Headers, header("a", "1"))
	}
	if got, _ := wire.Passing(many, []string{"*"}); strings.Count(got, ";") != 64 {
		t.Errorf("%d headers are passed on of 100, want 64", strings.Count(got, ";"))
	}
}

// How many publishers there are is read in the form of this version, and of earlier ones.
func TestPublishers(t *testing.T) {
	for text, want := range map[string]string{
		`"publishers":0`: "0", `"publishers":64`: "64", `"publishers":64,"publishers_more":false`: "64",
		`"publishers":64,"publishers_more":true`: "64+", `"publishers":"64+"`: "64+",
	} {
		var s wire.Signals
		err := json.Unmarshal([]byte("{"+text+`,"recent":3}`), &s)
		if err != nil || s.Publishers.String() != want || s.Recent != 3 {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
		story, err := wire.ParseTold(&kgo.Record{
			Key: []byte("a/0/0"), Value: []byte(`{"story_id":"a/0/0",` + text + "}"),
			Headers: []kgo.RecordHeader{{Key: wire.HeaderPosition, Value: []byte("1")}},
		})
		if err != nil || story.Publishers.String() != want {
			t.Errorf("a story with %s: %s, %v", text, story.Publishers, err)
		}
	}
	for _, text := range []string{
		`"publishers":65`, `"publishers":-1`, `"publishers":"64"`, `"publishers":null`,
		`"publishers":63,"publishers_more":true`, `"publishers":"64+","publishers_more":true`,
		`"publishers":64,"publishers_more":1`,
	} {
		var s wire.Signals
		if err := json.Unmarshal([]byte("{"+text+"}"), &s); err == nil {
			t.Errorf("%s is taken for %s", text, s.Publishers)
		}
	}
	if wire.NewPublisher(strings.Repeat("x", 300)) != strings.Repeat("x", 256)+"…" {
		t.Error("a long publisher is not cut")
	}
}
