package v1

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// What is written of stories says who did it, and a cluster that leaves its story takes the words
// of its founder with it.
func TestStoryRecords(t *testing.T) {
	f := newFake()
	h := handler(f.options())
	merged := send(t, h, "POST", "/v1/stories/articles/0/12/merge", typeJSON,
		`{"other":"articles/1/3","note":"one event"}`)
	apart := send(t, h, "POST", "/v1/stories/articles/0/12/unmerge", typeJSON,
		`{"other":"articles/1/3"}`)
	split := send(t, h, "POST", "/v1/stories/articles/0/12/split", typeJSON,
		`{"cluster_id":"articles/0/40"}`)
	for _, answer := range []got{merged, apart, split} {
		if answer.StatusCode != 200 {
			t.Fatalf("%d %s", answer.StatusCode, answer.body)
		}
	}
	want := []api.StoryRecord{
		{Action: api.Merge, StoryID: knownID, Other: "articles/1/3", By: "alice", Note: "one event"},
		{Action: api.Unmerge, StoryID: knownID, Other: "articles/1/3", By: "alice"},
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
	for target, body := range map[string]string{
		"merge": `{"other":"articles/1/3"}`, "unmerge": `{"other":"articles/1/3"}`,
		"split": `{"cluster_id":"a/0/1"}`,
	} {
		answer := send(t, handler(off), "POST", "/v1/stories/articles/0/12/"+target, typeJSON, body)
		if answer.StatusCode != 404 {
			t.Errorf("%s without labels: %d %s", target, answer.StatusCode, answer.body)
		}
	}
}

// What cannot be is refused before anything is written: 404 where it is the story of the address,
// and 422, with the field, where it is what the body names.
func TestStoriesAreCheckedFirst(t *testing.T) {
	for _, tt := range []struct {
		target, body string
		status       int
		want         string
	}{
		{"0/13/merge", `{"other":"articles/0/3"}`, 404, "story: there is none"},
		{"0/12/merge", `{"other":"articles/0/13"}`, 422, "/other: there is no story articles/0/13"},
		{"0/12/merge", `{"other":"articles/0/12"}`, 422, "/other: is part of this story already, or is"},
		{"0/12/merge", `{"other":"articles/7/1"}`, 422, "/other: is a story of another partition"},
		{"0/12/merge", `{"other":"articles/8/1"}`, 422, "/other: is a story of another partition"},
		{"0/13/unmerge", `{"other":"articles/0/3"}`, 404, "story: there is none"},
		{"0/12/unmerge", `{"other":"articles/0/3"}`, 422, "/other: is not part of this story"},
		{"0/12/unmerge", `{"other":"x"}`, 422, "/other: must be the id"},
		{"0/13/split", `{"cluster_id":"articles/0/40"}`, 404, "story: there is none"},
		{"0/12/split", `{"cluster_id":"articles/0/13"}`, 422, "/cluster_id: there is no such cluster"},
		{"0/12/split", `{"cluster_id":"articles/7/1"}`, 422, "/cluster_id: must be a cluster of this"},
		{"0/12/split", `{"cluster_id":"articles/0/3"}`, 422, "/cluster_id: must be a cluster of this"},
		{"0/12/split", `{"cluster_id":"articles/0/12"}`, 422, "/cluster_id: must not be the first"},
	} {
		f := newFake()
		answer := send(t, handler(f.options()), "POST", "/v1/stories/articles/"+tt.target, typeJSON,
			tt.body)
		if answer.StatusCode != tt.status || !strings.Contains(answer.body, tt.want) {
			t.Errorf("%s %s: %d %s\nwant %d %s", tt.target, tt.body, answer.StatusCode, answer.body,
				tt.status, tt.want)
		}
		if len(f.changed) > 0 {
			t.Errorf("%s %s is written: %+v", tt.target, tt.body, f.changed)
		}
	}
}

// What was checked, and could not be done any more when it was read, is not said to be applied; nor
// is what was not read.
func TestStoriesThatAreNotChanged(t *testing.T) {
	for target, body := range map[string]string{
		"merge": `{"other":"articles/0/3"}`, "unmerge": `{"other":"articles/1/3"}`,
		"split": `{"cluster_id":"articles/0/40"}`,
	} {
		f := newFake()
		f.refuses, f.into["articles/1/3"] = true, knownID
		address := "/v1/stories/articles/0/12/" + target
		answer := send(t, handler(f.options()), "POST", address, typeJSON, body)
		if answer.StatusCode != 422 || !strings.Contains(answer.body, "dead letter of labels/0/0") {
			t.Errorf("%s: %d %s", target, answer.StatusCode, answer.body)
		}
		f = newFake()
		f.silent, f.into["articles/1/3"] = true, knownID
		r := httptest.NewRequest("POST", address, strings.NewReader(body))
		r.Header.Set("Content-Type", typeJSON)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		answer = sendRequest(t, handler(f.options()), r.WithContext(ctx))
		cancel()
		if answer.StatusCode != 202 || !strings.Contains(answer.body, `"applied":false`) {
			t.Errorf("%s, not read: %d %s", target, answer.StatusCode, answer.body)
		}
	}
}
