package checkpoint_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/testutil/schematest"
)

func change() article.LabelChange {
	return article.LabelChange{
		ClusterID: "articles/0/7", Label: "<spam>", Action: article.AddLabel, Labels: []string{"<spam>"},
		By: "alice", At: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Note: "one & two", Position: 20,
		Record: "labels/0/17",
	}
}

func labelled() checkpoint.Record {
	return checkpoint.Record{
		Input: "articles", Group: "g", Scope: "topic", Space: "all", Pipeline: "hash=sdbm",
		Offsets:      map[int]int64{0: 9},
		NextPosition: 21,
		Labels: &checkpoint.Labels{
			Topic: "labels", Offsets: map[int]int64{0: 18},
			Flood: map[string]label.FloodCount{
				"spam": {Hits: 12, Before: 1000}, "eggs": {Suspended: true},
			},
			Corrections: []checkpoint.Correction{{LabelChange: change(), Next: 4}},
			Due: []checkpoint.Due{
				{Contact: "name:alexis17", Erase: true, Before: 9, At: change().At, Record: "labels/0/16"},
				{Contact: "name:alexis18", Click: true, Label: "spam", At: change().At, Record: "labels/0/17"},
			},
		},
	}
}

func flood(name string, hits int) func(*checkpoint.Labels) {
	return func(p *checkpoint.Labels) { p.Flood[name] = label.FloodCount{Hits: hits} }
}

// How far a space is with labels comes back from its checkpoint, and is not there without labels.
func TestCheckpointHasLabels(t *testing.T) {
	want := labelled()
	got, err := checkpoint.Parse([]byte(want.Key()), want.JSON())
	if want.Version = got.Version; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	want.Labels.Flood = nil // one is suspended, which is read and not written
	want.Labels.Corrections[0].Early = []checkpoint.Early{{
		Members: 6, Labels: []string{"spam"}, Excepted: []checkpoint.Excepted{
			{Source: "articles/0/8", Fingerprint: 7, Labels: []string{}},
		},
	}}
	if err := schematest.Check("checkpoint", want.JSON()); err != nil {
		t.Error(err)
	}
	if want.Labels = nil; strings.Contains(string(want.JSON()), "labels") {
		t.Errorf("without labels: %s", want.JSON())
	}
	for name, spoil := range map[string]func(*checkpoint.Labels){
		"no topic":             func(p *checkpoint.Labels) { p.Topic = "" },
		"no offsets":           func(p *checkpoint.Labels) { p.Offsets = nil },
		"a partition before 0": func(p *checkpoint.Labels) { p.Offsets[-1] = 1 },
		"an offset before 0":   func(p *checkpoint.Labels) { p.Offsets[0] = -1 },
		"hits before 0":        flood("spam", -1), "more hits than articles": flood("spam", 1001),
		"more hits than articles before": func(p *checkpoint.Labels) {
			p.Flood["spam"] = label.FloodCount{Before: 1001}
		},
		"hits of no label":        flood("a,b", 1),
		"a cursor at the end":     func(p *checkpoint.Labels) { p.Corrections[0].Next = 21 },
		"a correction of nothing": func(p *checkpoint.Labels) { p.Corrections[0].ClusterID = "" },
		"a correction by no record": func(p *checkpoint.Labels) {
			p.Corrections[0].Record = ""
		},
		"too many corrections": func(p *checkpoint.Labels) {
			for range checkpoint.MaxCorrections {
				p.Corrections = append(p.Corrections, p.Corrections[0])
			}
		},
	} {
		c := labelled()
		spoil(c.Labels)
		if _, err := checkpoint.Parse([]byte(c.Key()), c.JSON()); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
