package v1

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/httpapi/api"
)

// What is written of stories says who did it, and a cluster that leaves its story takes the words
// of its founder with it.
func TestStoryRecords(t *testing.T) {
	f := newFake()
	h := handler(f.options())
	merged := send(t, h, "POST", "/v1/stories/articles/0/12/merge", typeJSON,
		`{"other":"articles/1/3","note":"one event"}`)
	split := send(t, h, "POST", "/v1/stories/articles/0/12/split", typeJSON,
		`{"cluster_id":"articles/0/40"}`)
	if merged.StatusCode != 200 || split.StatusCode != 200 {
		t.Fatalf("%d %s; %d %s", merged.StatusCode, merged.body, split.StatusCode, split.body)
	}
	want := []api.StoryRecord{
		{Action: api.Merge, StoryID: knownID, Other: "articles/1/3", By: "alice", Note: "one event"},
		{
			Action: api.Split, ClusterID: "articles/0/40", Words: []byte("vector"), Terms: "T", By: "alice",
		},
	}
	for i := range f.changed {
		if f.changed[i].At.IsZero() {
			t.Errorf("record %d has no time", i)
		}
		f.changed[i].At = want[i].At
	}
	if diff := cmp.Diff(want, f.changed); diff != "" {
		t.Error(diff)
	}
	off := f.options()
	off.Labels = false
	for _, target := range []string{"merge", "split"} {
		answer := send(t, handler(off), "POST", "/v1/stories/articles/0/12/"+target, typeJSON,
			map[string]string{"merge": `{"other":"articles/1/3"}`, "split": `{"cluster_id":"a/0/1"}`}[target])
		if answer.StatusCode != 404 {
			t.Errorf("%s without labels: %d %s", target, answer.StatusCode, answer.body)
		}
	}
}
