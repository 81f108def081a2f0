package article_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
)

// written is when the label records of these tests were written.
var written = time.Date(2026, 5, 1, 12, 0, 0, 123456789, time.UTC)

func labelAddress() article.Address { return article.Address{Topic: "labels", Offset: 17} }

func TestParseLabelRecord(t *testing.T) {
	cluster := article.Address{Topic: "articles", Partition: 2, Offset: 7}
	milliseconds := time.Date(2026, 5, 1, 12, 0, 0, 123e6, time.UTC)
	at := labelAddress().String()
	for value, want := range map[string]article.LabelRecord{
		`{"cluster_id":"articles/2/7","label":"spam"}`: {
			Cluster: cluster, Action: article.AddLabel,
			Label: article.Label{Name: "spam", At: milliseconds, Record: at},
		},
		` {"cluster_id":"articles/2/7","label":"垃圾 广告","action":"add","by":"alice","note":"a\nb",` +
			`"at":"2026-04-30T23:00:00.0009-05:00","trial":true,"tenant":9} `: {
			Cluster: cluster, Action: article.AddLabel, Label: article.Label{
				Name: "垃圾 广告", By: "alice", Note: "a\nb", Trial: true, Record: at,
				At: time.Date(2026, 5, 1, 4, 0, 0, 0, time.UTC),
			},
		},
		`{"cluster_id":"articles/2/7","label":"spam","action":"remove","at":null}`: {
			Cluster: cluster, Action: article.RemoveLabel,
			Label: article.Label{Name: "spam", At: milliseconds, Record: at},
		},
		`{"action":"merge","story_id":"articles/2/7","other":"articles/0/9","by":"alice"}`: {
			Cluster: cluster, Action: article.MergeStories, Other: "articles/0/9",
			Label: article.Label{By: "alice", At: milliseconds, Record: at},
		},
		`{"action":"unmerge","story_id":"articles/2/7","other":"articles/0/9","note":"two events"}`: {
			Cluster: cluster, Action: article.UnmergeStories, Other: "articles/0/9",
			Label: article.Label{Note: "two events", At: milliseconds, Record: at},
		},
		`{"action":"split","cluster_id":"articles/2/7"}`: {
			Cluster: cluster, Action: article.SplitStory,
			Label: article.Label{At: milliseconds, Record: at},
		},
		`{"action":"split","cluster_id":"articles/2/7","words":"AAECAwQF","han":true,"terms":"a\nb"}`: {
			Cluster: cluster, Action: article.SplitStory, Words: "\x00\x01\x02\x03\x04\x05", Han: true,
			Terms: "a\nb", Label: article.Label{At: milliseconds, Record: at},
		},
		`{"action":"erase","target":"article","cluster_id":"articles/2/7","source":"articles/0/9","by":"alice"}`: {
			Cluster: cluster, Action: article.Erase,
			Label: article.Label{By: "alice", At: milliseconds, Record: at},
			Targeted: article.Targeted{
				Target: article.TargetArticle, Source: article.Address{Topic: "articles", Offset: 9},
			},
		},
		`{"action":"erase","target":"contact","contact":"mail:a@example.org","partition":3}`: {
			Action: article.Erase, Label: article.Label{At: milliseconds, Record: at},
			Targeted: article.Targeted{
				Target: article.TargetContact, Contact: "mail:a@example.org", Partition: 3,
			},
		},
		`{"label":"spam","action":"resume"}`: {
			Action: article.ResumeLabel,
			Label:  article.Label{Name: "spam", At: milliseconds, Record: at},
		},
		`{"cluster_id":"articles/2/7","label":"` + strings.Repeat("l", 64) + `","by":"` +
			strings.Repeat("b", 64) + `","note":"` + strings.Repeat("n", 256) + `"}`: {
			Cluster: cluster, Action: article.AddLabel, Label: article.Label{
				Name: strings.Repeat("l", 64), By: strings.Repeat("b", 64), Note: strings.Repeat("n", 256),
				At: milliseconds, Record: at,
			},
		},
	} {
		got, rejection := article.ParseLabelRecord([]byte(value), written, labelAddress())
		if rejection != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", value, got, rejection, want)
		}
	}
	// A record without a time has one before 1970.
	got, rejection := article.ParseLabelRecord([]byte(`{"cluster_id":"a/0/1","label":"x"}`),
		time.UnixMilli(-1), labelAddress())
	if rejection != nil || !got.At.Equal(time.UnixMilli(0)) {
		t.Errorf("without a time: %+v, %v", got, rejection)
	}
}

func TestParseLabelRecordRejects(t *testing.T) {
	for value, reason := range map[string]string{
		`{"action":"erase","cluster_id":"a/0/1","source":"a/0/1"}`:                  "target",
		`{"action":"erase","target":"article","cluster_id":"a/0","source":"a/0/1"}`: "cluster_id",
		`{"action":"erase","target":"article","cluster_id":"a/0/1"}`:                "source",
		`{"action":"erase","target":"article","cluster_id":"a/0/1","source":"a/0/1",` +
			`"label":"spam"}`: "has no label",
		`{"action":"erase","target":"contact"}`:                                   "contact",
		`{"action":"erase","target":"contact","contact":"erased:0/17"}`:           "was erased",
		`{"action":"erase","target":"contact","contact":"code:a","label":"spam"}`: "has no label",
		`{"label":"spam","target":"contact","contact":"erased:0/17"}`:             "was erased",
		"":                                     "no JSON object",
		"[]":                                   "no JSON object",
		`{"label":"spam"} x`:                   "no JSON object",
		`{"label":5}`:                          "no JSON object",
		`{}`:                                   "label has 0 bytes",
		`{"cluster_id":"a/0/1"}`:               "label has 0 bytes",
		`{"cluster_id":"a/0/1","label":"a,b"}`: "commas",
		`{"cluster_id":"a/0/1","label":" a"}`:  "white space",
		`{"cluster_id":"a/0/1","label":"a\u0007"}`:                                     "control characters",
		`{"cluster_id":"a/0/1","label":"` + strings.Repeat("l", 65) + `"}`:             "1 to 64",
		`{"cluster_id":"a/0/1","label":"a","by":"` + strings.Repeat("b", 65) + `"}`:    "at most 64 and 256",
		`{"cluster_id":"a/0/1","label":"a","note":"` + strings.Repeat("b", 257) + `"}`: "at most 64 and",
		`{"cluster_id":"a/0/1","label":"a","action":"hide"}`:                           "merge, unmerge, split and erase",
		`{"cluster_id":"a/0/1","label":"a","at":"1969-12-31T23:59:59Z"}`:               "1970 to 9999",
		`{"cluster_id":"a/0/1","label":"a","at":"9999-12-31T23:59:59-01:00"}`:          "1970 to 9999",
		`{"cluster_id":"a/0/1","label":"a","at":"yesterday"}`:                          "no JSON object",
		`{"label":"a"}`:                                                                      "not an address",
		`{"action":"merge","story_id":"a/0/1"}`:                                              "other",
		`{"action":"merge","cluster_id":"a/0/1","other":"a/0/2"}`:                            "story_id",
		`{"action":"unmerge","story_id":"a/0/1"}`:                                            "other",
		`{"action":"unmerge","story_id":"a/0/1","other":"a/0/2","label":"a"}`:                "has no label",
		`{"action":"split","cluster_id":"a/0/01"}`:                                           "cluster_id",
		`{"action":"split","cluster_id":"a/0/1","label":"a"}`:                                "has no label",
		`{"action":"split","cluster_id":"a/0/1","words":"?"}`:                                "no JSON object",
		`{"action":"split","cluster_id":"a/0/1","terms":"` + strings.Repeat("t", 257) + `"}`: "at most 256",
		`{"cluster_id":"a/0","label":"a"}`:                                                   "not an address",
		`{"cluster_id":"a/00/1","label":"a"}`:                                                "not written as",
		"{\"label\":\"\xff\"}":                                                               "not UTF-8",
		strings.Repeat(" ", 16<<10) + `{"x":1}`:                                              "larger than 16384 bytes",
		`{"cluster_id":"a/0/1","label":"a","action":"resume"}`:                               "has no cluster_id",
	} {
		got, rejection := article.ParseLabelRecord([]byte(value), written, labelAddress())
		if rejection == nil || rejection.Class != article.BadLabel ||
			!strings.Contains(rejection.Reason, reason) ||
			!reflect.DeepEqual(got, article.LabelRecord{}) {
			t.Errorf("%.80q: %+v, %v; want %q", value, got, rejection, reason)
		}
	}
	if _, rejection := article.ParseLabelRecord(nil, written, labelAddress()); rejection == nil {
		t.Error("a record without a value is taken")
	}
}

// FuzzParseLabelRecord: whatever a record holds, it is rejected with a reason, or what a cluster
// gets of it can be written and read again.
func FuzzParseLabelRecord(f *testing.F) {
	for _, seed := range []string{
		`{"cluster_id":"articles/2/7","label":"spam","action":"remove","by":"b","note":"n","trial":true}`,
		`{"label":"spam","action":"resume","at":"2026-04-30T23:00:00.0009-05:00"}`, "{", "null", `{"at":0}`,
		articleRecord, contactRecord,
	} {
		f.Add([]byte(seed), int64(1))
	}
	f.Fuzz(func(t *testing.T, value []byte, recorded int64) {
		r, rejection := article.ParseLabelRecord(value, time.UnixMilli(recorded), labelAddress())
		if rejection != nil {
			if !reflect.DeepEqual(r, article.LabelRecord{}) || rejection.Reason == "" ||
				rejection.Class == "" {
				t.Errorf("%+v, %+v", r, rejection)
			}
			return
		}
		if err := r.Check(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
		var back []article.Label
		err := json.Unmarshal(article.AppendLabels(nil, []article.Label{r.Label}), &back)
		if err != nil || len(back) != 1 || !reflect.DeepEqual(back[0], r.Label) {
			t.Errorf("%+v comes back as %+v, %v", r.Label, back, err)
		}
		if without := r.Action == article.ResumeLabel || r.Target == article.TargetContact; without !=
			(r.Cluster == article.Address{}) {
			t.Errorf("action %s of cluster %s", r.Action, r.Cluster)
		}
	})
}

func change() article.LabelChange {
	return article.LabelChange{
		ClusterID: "articles/0/7", Label: "<spam>", Action: article.AddLabel, Labels: []string{"<spam>"},
		By: "alice", At: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Note: "one & two", Position: 20,
		Record: labelAddress().String(),
	}
}

func TestCorrectionJSON(t *testing.T) {
	want := article.Correction{
		ArticleID: "a1", LabelChange: change(), MemberPosition: 3, Source: here(),
	}
	const text = `{"article_id":"a1","cluster_id":"articles/0/7","label":"<spam>","action":"add",` +
		`"labels":["<spam>"],"by":"alice","at":"2026-05-01T12:00:00Z","note":"one & two","position":20,` +
		`"record":"labels/0/17","member_position":3,"source":`
	line := want.AppendJSON([]byte("before "))
	if !strings.HasPrefix(string(line), "before "+text) {
		t.Errorf("%s\nwant %s", line, text)
	}
	got, err := article.ParseCorrection(line[len("before "):])
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := article.ParseCorrection([]byte("{")); err == nil {
		t.Error("half a correction is taken")
	}
}
