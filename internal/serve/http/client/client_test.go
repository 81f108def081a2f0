package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// serve answers with what a function says of each request, and counts them.
func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(s.Close)
	c, err := New(s.URL+"/", "canary")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func read[T any](t *testing.T, r *http.Request) (v T) {
	t.Helper()
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, api.MaxBody)).Decode(&v); err != nil {
		t.Errorf("a request of %d bytes: %v", r.ContentLength, err)
	}
	return v
}

// As many texts as one likes are checked, in requests that the server takes, and the answers are in
// order.
func TestCheck(t *testing.T) {
	requests := 0
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		if got := r.Header.Get("Authorization"); got != "Bearer canary" {
			t.Errorf("Authorization: %q", got)
		}
		q := read[api.CheckRequest](t, r)
		if len(q.Articles) > api.MaxTexts || q.RunnersUp != 3 {
			t.Errorf("%d texts, %+v", len(q.Articles), q.CheckOptions)
		}
		var all api.CheckedAll
		for _, text := range q.Articles {
			all.Results = append(all.Results, api.Checked{Labels: []string{fmt.Sprint(len(*text.Text))}})
		}
		_ = json.NewEncoder(w).Encode(all)
	})
	var texts []api.TextRequest
	for i := range 305 {
		text := strings.Repeat("x", i)
		if i >= 300 {
			text = strings.Repeat("<", 400_000+i)
		}
		texts = append(texts, api.TextRequest{Text: &text})
	}
	var got []string
	err := c.Check(t.Context(), texts, api.CheckOptions{RunnersUp: 3}, func(a api.Checked) error {
		got = append(got, a.Labels...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		if got[i] != fmt.Sprint(len(*texts[i].Text)) {
			t.Fatalf("the answer to text %d is that to one of %s bytes", i, got[i])
		}
	}
	if requests > 8 {
		t.Errorf("%d requests", requests)
	}
}

func TestLabelled(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		page := map[string]any{"clusters": []map[string]any{{"cluster_id": r.URL.RawQuery}}}
		if !strings.Contains(r.URL.RawQuery, "cursor") {
			page["next"] = "a b"
		}
		_ = json.NewEncoder(w).Encode(page)
	})
	var got []string
	if err := c.Labelled(t.Context(), func(page api.Clusters) error {
		got = append(got, page.Clusters[0].ClusterID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"limit=200", "limit=200&cursor=a+b"}, got); diff != "" {
		t.Error(diff)
	}
}

// What the server or the network says is in the error, and the token is not.
func TestErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		want   string
	}{
		"a problem": {
			func(w http.ResponseWriter, _ *http.Request) { api.WriteProblem(w, 422, "", "/label: no") },
			"refuses: /label: no",
		},
		"no token": {
			func(w http.ResponseWriter, _ *http.Request) { api.WriteProblem(w, 401, "", "no such token") },
			"refuses: no such token: give one by CLUSTERD_TOKEN or --token-file",
		},
		"a proxy": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) },
			"refuses: 502 Bad Gateway",
		},
		"another server": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) },
			"the answer is not that of clusterd",
		},
		"too few": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) },
			"answered 0 of 1 labels",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := serve(t, tt.answer).Label(t.Context(), []api.LabelRequest{{Label: "x"}},
				func(api.Labelled) error { return nil })
			if err == nil || !strings.Contains(err.Error(), tt.want) ||
				strings.Contains(err.Error(), "canary") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	c, err := New("http://127.0.0.1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	err = c.Labelled(t.Context(), func(api.Clusters) error { return nil })
	if want := "asking http://127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused: " +
		"is clusterd running there, with http.listen set so?"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	for _, server := range []string{"", "127.0.0.1:8080", "ftp://x", "http://", "http://x?y", "%"} {
		if _, err := New(server, ""); err == nil {
			t.Errorf("%q is taken for a URL", server)
		}
	}
}

// What an export says of articles and contacts is read as requests for the same.
func TestReadTargets(t *testing.T) {
	space, partition := "shop 1", 3
	want := []api.LabelRequest{
		{
			Target: api.ForArticle, ClusterID: "articles/0/12", ArticleID: "a1", Label: "ham",
			Action: api.Add,
		},
		{
			Target: api.ForContact, ContactRef: api.ContactRef{
				Contact: "number:+447700900123", Space: &space, Partition: &partition,
			}, Label: "spam", Action: api.Add,
		},
	}
	page := api.Clusters{
		Clusters: []api.Cluster{{ClusterID: "articles/0/12", Exceptions: []api.Exception{{
			ArticleID: "a1", Source: "articles/0/13", MemberPosition: 4, Fingerprint: 7,
			Labels: []api.Label{{Label: "ham", By: "bob"}},
		}}}},
		Contacts: []api.Contact{{
			ContactRef: want[1].ContactRef,
			Marks:      []api.Mark{{Label: "spam", Clicked: []api.By{{By: "bob", Record: "labels/0/1"}}}},
		}},
	}
	var lines bytes.Buffer
	for r := range page.Records() {
		_ = json.NewEncoder(&lines).Encode(r)
	}
	for name, file := range map[string]string{
		"lines": lines.String(),
		"csv": "target,cluster_id,article_id,contact,space,partition,label,action\n" +
			"article,articles/0/12,a1,,,,ham,add\ncontact,,,number:+447700900123,shop 1,3,spam,add\n",
	} {
		got, err := ReadLabels(strings.NewReader(file))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestReadLabels(t *testing.T) {
	text, title := "buy, now", "T"
	want := []api.LabelRequest{
		{ClusterID: "articles/0/12", Label: "spam", Note: `a "b"`, Trial: true},
		{TextRequest: api.TextRequest{Text: &text}, Label: "ham", Action: api.Remove},
		{TextRequest: api.TextRequest{Title: &title}, Label: "ham"},
	}
	for name, file := range map[string]string{
		"lines": "\n" + `{"cluster_id":"articles/0/12","label":"spam","note":"a \"b\"","trial":true,` +
			`"by":"bob","at":"2026-05-01T12:00:00Z"}` + "\r\n\n" +
			`{"text":"buy, now","label":"ham","action":"remove"}` + "\n" + `{"title":"T","label":"ham"}`,
		"csv": "\uFEFFcluster_id,label,text,title,note,trial,action,by\n" +
			"articles/0/12,spam,,,\"a \"\"b\"\"\",true,,bob\n,ham,\"buy, now\",,,,remove,\n,ham,,T,,,,\n",
	} {
		got, err := ReadLabels(strings.NewReader(file))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	for file, want := range map[string]string{
		"":                                "",
		"\n \n":                           "",
		"label\nspam":                     "",
		`{"label":"x"}` + "\n{":           "line 2: this is no JSON",
		`{"label":"x"}` + "\n\n{\"l\":1}": "line 3: /l: there is no such field",
		`{"label":"x","action":"y"}`:      `line 1: /action`,
		"lable\nx":                        `line 1: there is no field "lable"; there are target, cluster_id,`,
		"text\nx":                         "line 1: there is no field label",
		"label,trial\nx,\ny,maybe":        `line 3: trial "maybe": must be true or false`,
		"label,action\nx,drop":            `line 2: action "drop": must be add, remove or resume`,
		"label,text\nx":                   "record on line 2: wrong number of fields",
		strings.Repeat("{", 2<<20):        "token too long",
	} {
		_, err := ReadLabels(strings.NewReader(file))
		if want == "" && err != nil || want != "" && !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%.60q: %v, want %s", file, err, want)
		}
	}
}

// A stream that says nothing for long, not even that it lives, is broken. So is one with a line
// that has no end.
func TestStreamBreaks(t *testing.T) {
	for want, tail := range map[string]string{
		"sent nothing for 50ms": "",
		"token too long":        "data: " + strings.Repeat("x", maxEvent),
	} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, ": open\n\nevent: result\ndata:{}\n\nevent: x\n\n"+tail)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
		if tail == "" {
			c.silence = 50 * time.Millisecond
		}
		var got []Event
		err := c.Stream(t.Context(), Filter{}, func() {}, func(e Event) error {
			got = append(got, e)
			return nil
		})
		if !errors.As(err, new(BrokenError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if diff := cmp.Diff([]Event{{Kind: "result", Data: []byte("{}")}}, got); diff != "" {
			t.Error(diff)
		}
	}
}
