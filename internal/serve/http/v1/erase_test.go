package v1

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// What is written names the article by its address, and who asked. It does not have the article's
// id.
func TestErase(t *testing.T) {
	for _, test := range []struct {
		name, body string
		change     func(*fake)
		code       int
		answer     string
		want       *api.EraseRecord
	}{
		{
			name: "a cluster", body: `{"cluster_id":"articles/0/12","note":"asked by mail"}`,
			change: func(f *fake) { f.erased = true }, code: 200, answer: `"founder":true`,
			want: &api.EraseRecord{
				Action: api.Erase, Target: "article", ClusterID: knownID, Source: knownID, By: "alice",
				Note: "asked by mail",
			},
		},
		{
			name: "an article", body: `{"article_id":"a 1/2"}`,
			change: func(f *fake) { f.erased = true }, code: 200, answer: `"applied":true`,
			want: &api.EraseRecord{
				Action: api.Erase, Target: "article", ClusterID: knownID, Source: "articles/0/12", By: "alice",
			},
		},
		{
			name: "an expired cluster", body: `{"cluster_id":"articles/0/1"}`, code: 200,
			answer: `"applied":true`,
			want: &api.EraseRecord{
				Action: api.Erase, Target: "article", ClusterID: "articles/0/1", Source: "articles/0/1",
				By: "alice",
			},
		},
		{
			name: "not read yet", body: `{"cluster_id":"articles/0/12"}`,
			change: func(f *fake) { f.silent = true }, code: 202, answer: `"applied":false`,
			want: &api.EraseRecord{
				Action: api.Erase, Target: "article", ClusterID: knownID, Source: knownID, By: "alice",
			},
		},
		{
			name: "refused", body: `{"cluster_id":"articles/0/12"}`, code: 422, answer: "dead letter of labels/0/0",
			want: &api.EraseRecord{
				Action: api.Erase, Target: "article", ClusterID: knownID, Source: knownID, By: "alice",
			},
		},
		{
			name: "a contact", body: `{"contact":"number:+447700900123","note":"asked by mail"}`, code: 200,
			answer: `{"contact":"number:+447700900123","record":"labels/0/0","applied":true}`,
			want: &api.EraseRecord{
				Action: api.Erase, Target: api.ForContact, By: "alice", Note: "asked by mail",
				ContactRef: api.ContactRef{Contact: "number:+447700900123"},
			},
		},
		{
			name: "a contact that is not known", body: `{"contact":"code:none"}`, code: 200,
			answer: `"applied":true`,
			want: &api.EraseRecord{
				Action: api.Erase, Target: api.ForContact, By: "alice",
				ContactRef: api.ContactRef{Contact: "code:none"},
			},
		},
		{
			name: "a contact, not read yet", body: `{"contact":"number:+447700900123"}`,
			change: func(f *fake) { f.silent = true }, code: 202, answer: `"applied":false`,
			want: &api.EraseRecord{
				Action: api.Erase, Target: api.ForContact, By: "alice",
				ContactRef: api.ContactRef{Contact: "number:+447700900123"},
			},
		},
		{name: "no contact", body: `{"contact":"+447700900123"}`, code: 422, answer: "is no contact"},
		{name: "erased before", body: `{"contact":"erased:0/17"}`, code: 422, answer: "was erased"},
		{name: "a space alone", body: `{"space":"a"}`, code: 422, answer: "is no contact"},
		{name: "no such article", body: `{"article_id":"none"}`, code: 404, answer: "there is no such article"},
		{name: "unclustered", body: `{"article_id":"nothing"}`, code: 404, answer: "nothing in it to compare"},
		{name: "nothing named", body: `{}`, code: 422, answer: "one of cluster_id, article_id and contact"},
		{
			name: "two named", body: `{"article_id":"a","cluster_id":"articles/0/12"}`, code: 422,
			answer: "one of cluster_id, article_id and contact",
		},
		{name: "no id", body: `{"cluster_id":"articles/0"}`, code: 422, answer: "topic/partition/offset"},
		{
			name: "a note too long", body: `{"cluster_id":"articles/0/12","note":"` +
				strings.Repeat("x", 257) + `"}`, code: 422, answer: "at most 256 bytes",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake()
			if test.change != nil {
				test.change(f)
			}
			got := send(t, handler(f.options()), "POST", "/v1/erase", typeJSON, test.body)
			if got.StatusCode != test.code || !strings.Contains(got.body, test.answer) {
				t.Errorf("%d %s, want %d with %s", got.StatusCode, got.body, test.code, test.answer)
			}
			var written *api.EraseRecord
			if len(f.erasures) > 0 {
				written = &f.erasures[0]
				written.At = (&api.EraseRecord{}).At
			}
			if diff := cmp.Diff(test.want, written); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEraseNeedsLabels(t *testing.T) {
	o := newFake().options()
	o.Labels = false
	got := send(t, handler(o), "POST", "/v1/erase", typeJSON, `{"cluster_id":"articles/0/12"}`)
	if got.StatusCode != http.StatusNotFound || !strings.Contains(got.body, "labels.topic") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

// Nothing brings back what is erased: it takes more than the right to label.
func TestEraseNeedsTwoRights(t *testing.T) {
	for _, r := range Routes(newFake().options()) {
		if r.Path == "/v1/erase" && r.Right != access.Label|access.Write {
			t.Errorf("the right %s", r.Right)
		}
	}
}
