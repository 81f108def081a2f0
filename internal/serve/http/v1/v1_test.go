package v1

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// What each question is answered, of which the description says the form.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		method, target, contentType, body string
		status                            int
		want                              string // within the answer
	}{
		{"POST", "/v1/check", typeText, "known", 200, `{"status":"joined","cluster":{"cluster_id":"` + knownID},
		{"POST", "/v1/check", typeText + "; charset=UTF-8", "", 200, `{"status":"unclustered","cluster":null`},
		{"POST", "/v1/check", typeJSON, `{"text":"near"}`, 200, `"distance":3,"matched":"text","labels":[]`},
		{"POST", "/v1/check", typeJSON, `{"title":"x","content":"called"}`, 200, `"contact":"number:+15550100"`},
		{"POST", "/v1/check", typeJSON, `{"title":"x","published_at":"2026-05-01T12:00:00Z"}`, 200, `"new"`},
		{"POST", "/v1/check", typeJSON, `{"text":"x","runners_up":3}`, 200, `"suspect":{"cluster"`},
		{"POST", "/v1/check", typeJSON, `{"text":"x","partition":0}`, 200, `"as_of":{"space":"all"`},
		{
			"POST", "/v1/check", typeJSON, `{"articles":[{"text":"near"},{"title":""}],"runners_up":1}`, 200,
			`"as_of":{"space":"all"`,
		},
		{"POST", "/v1/compare", typeJSON, `{"a":{"text":"x"},"b":{"text":"y"}}`, 200, `"same":true`},
		{"POST", "/v1/compare", typeJSON, `{"a":{"text":"x"},"b":{"text":""}}`, 200, `"distance":null`},
		{"GET", "/v1/clusters", "", "", 200, `"publishers":64,"publishers_more":true`},
		{"GET", "/v1/clusters?sort=growth&minutes=5&label=spam&title=a%20b&limit=7", "", "", 200, `"next":"`},
		{"GET", "/v1/clusters?sort=growth", "", "", 200, `"since":"2026-05-01T12:00:00Z"`},
		{"GET", "/v1/clusters/articles%2F0%2F12", "", "", 200, `"as_of"`},
		{"GET", "/v1/clusters/articles/0/12", "", "", 200, `"as_of"`},
		{"GET", "/v1/clusters/articles/0/12/members", "", "", 200, `"view":{"lag":2,"complete":true}`},
		{
			"GET", "/v1/clusters/articles%2F0%2F12/members?text=true&limit=2", "", "", 200,
			`"text":{"title":"T","content":"C"}},`,
		},
		{
			"GET", "/v1/clusters/articles%2F0%2F12/members?text=true", "", "", 200,
			`"text":null,"gone":"retention"}`,
		},
		{"GET", "/v1/stories", "", "", 200, `"headline":{"title":"H"`},
		{"GET", "/v1/stories?sort=size&limit=3", "", "", 200, `"articles":9`},
		{"GET", "/v1/stories/articles%2F0%2F12", "", "", 200, `"next":"`},
		{"GET", "/v1/stories/articles/0/12?limit=2", "", "", 200, `"clusters":[{`},
		{
			"POST", "/v1/stories/articles%2F0%2F12/merge", typeJSON, `{"other":"articles/0/3","note":"n"}`, 200,
			`{"record":"labels/0/0","applied":true}`,
		},
		{
			"POST", "/v1/stories/articles/0/12/split", typeJSON, `{"cluster_id":"articles/0/12"}`, 422,
			"must not be the first",
		},
		{"GET", "/v1/articles/a%201%2F2", "", "", 200, `"cluster":{"cluster_id":"` + knownID},
		{"GET", "/v1/articles/a%201/2", "", "", 200, `"cluster_id":"` + knownID},
		{"GET", "/v1/articles/lost", "", "", 200, `"cluster_id":"articles/0/1","cluster":null`},
		{"GET", "/v1/articles/nothing", "", "", 200, `"cluster_id":null`},
		{"GET", "/v1/stats", "", "", 200, `"above_flood":true`},
		{"GET", "/v1/labels", "", "", 200, `{"clusters":[`},
		{"GET", "/v1/openapi.json", "", "", 200, `"openapi": "3.1.0"`},
		{"POST", "/v1/articles", typeJSON, `{"content":"x","url":"u","n":{"m":null}}`, 200, `"position":17}`},
		{
			"POST", "/v1/labels", typeJSON, `{"cluster_id":"articles/0/12","label":"spam"}`, 200,
			`"record":"labels/0/0","applied":true,"position":17,"members":3}`,
		},
		{
			"POST", "/v1/labels", typeJSON, `{"text":"known","label":"spam","trial":true,"note":"n"}`, 200,
			`"applied":true`,
		},
		{"POST", "/v1/labels", typeJSON, `{"title":"","content":"never seen","label":"spam"}`, 200, `"applied":true`},
		{
			"POST", "/v1/labels", typeJSON, `{"article_id":"a 1/2","label":"spam","action":"remove"}`, 200,
			`"applied":true,"members":3}`,
		},
		{"POST", "/v1/labels", typeJSON, `{"label":"spam","action":"resume"}`, 200, `"applied":true}`},
		{
			"POST", "/v1/labels", typeJSON,
			`{"labels":[{"cluster_id":"articles/0/12","label":"spam"},{"article_id":"x","label":"spam"}]}`, 200,
			`"applied":false,"error":"article_id: there is no such article"}`,
		},

		{"POST", "/v1/check", "", "x", 415, "Content-Type: must be application/json or text/plain"},
		{"POST", "/v1/check", "application/x-www-form-urlencoded", "x", 415, "Content-Type"},
		{"POST", "/v1/check", "text/plain; charset=gbk", "x", 415, "in UTF-8"},
		{"POST", "/v1/compare", typeText, "x", 415, "must be application/json"},
		{"POST", "/v1/check", typeText, "\xff", 400, "not UTF-8"},
		{"POST", "/v1/check?x=1", typeText, "x", 400, "no parameters"},
		{"POST", "/v1/check", typeText, strings.Repeat("x", api.MaxBody+1), 413, "1048576 bytes"},
		{"POST", "/v1/articles", typeJSON, `{"content":7}`, 400, "/content: must not be a number"},
		{"GET", "/v1/clusters?sort=x", "", "", 400, "sort: must be one of size, growth, newest"},
		{"GET", "/v1/clusters?limit=201", "", "", 400, "limit: must be a whole number from 1 to 200"},
		{"GET", "/v1/clusters?cursor=x", "", "", 404, "cursor: must be"},
		{"GET", "/v1/labels?label=x", "", "", 400, "label: there is no such parameter"},
		{"GET", "/v1/stats?x", "", "", 400, "no parameters"},
		{"GET", "/v1/stream?status=old", "", "", 400, "status: must be one of"},
		{"GET", "/v1/clusters/articles%2F0%2F13", "", "", 404, "cluster: there is none"},
		{"GET", "/v1/clusters/articles%2F0%2F13/members", "", "", 404, "cluster: there is none"},
		{"POST", "/v1/stories/articles/0/12/merge", typeJSON, `{"other":"x"}`, 422, "/other"},
		{"POST", "/v1/stories/articles/0/13/merge", typeJSON, `{"other":"articles/0/3"}`, 404, "story: there is none"},
		{"POST", "/v1/stories/articles/0/12/split", typeJSON, `{"cluster_id":"x"}`, 422, "/cluster_id"},
		{"POST", "/v1/stories/articles/0/12/merge", typeJSON, `{"other":"articles/0/3","note":"\u0007"}`, 422, "/note"},
		{"GET", "/v1/stories?sort=growth", "", "", 400, "sort"},
		{"GET", "/v1/stories/articles/0/12?cursor=x", "", "", 404, "cursor"},
		{"GET", "/v1/stories/articles%2F0%2F13", "", "", 404, "story: there is none"},
		{"GET", "/v1/clusters/articles%2F7%2F1", "", "", 421, "no space 7"},
		{"GET", "/v1/articles/", "", "", 404, "1 to 1024 bytes"},
		{"GET", "/v1/articles/" + strings.Repeat("x", 1025), "", "", 404, "1 to 1024 bytes"},
		{"GET", "/v1/articles/x", "", "", 404, "article: there is none"},
		{"POST", "/v1/labels", typeJSON, `{"cluster_id":"articles/0/13","label":"spam"}`, 404, "no such cluster"},
		{"POST", "/v1/labels", typeJSON, `{"cluster_id":"13","label":"spam"}`, 422, "not an address"},
		{"POST", "/v1/labels", typeJSON, `{"article_id":"x","label":"spam"}`, 404, "no such article"},
		{"POST", "/v1/labels", typeJSON, `{"article_id":"nothing","label":"spam"}`, 404, "nothing in it"},
		{"POST", "/v1/labels", typeJSON, `{"text":"","label":"spam"}`, 404, "nothing in it"},
		{
			"POST", "/v1/labels", typeJSON, `{"text":"never seen","label":"spam","action":"remove"}`, 404,
			"belongs to no cluster",
		},
	} {
		t.Run(tt.method+" "+tt.target+" "+tt.body[:min(60, len(tt.body))], func(t *testing.T) {
			answer := send(t, handler(newFake().options()), tt.method, tt.target, tt.contentType, tt.body)
			if answer.StatusCode != tt.status || !strings.Contains(answer.body, tt.want) {
				t.Errorf("%d %s\nwant %d and %s", answer.StatusCode, answer.body, tt.status, tt.want)
			}
		})
	}
}

// A body that the server takes is as described, and one that it refuses is not.
func TestRequestsAreAsDescribed(t *testing.T) {
	text := `"text":"x"`
	for path, bodies := range map[string]map[string]bool{
		"/v1/check": {
			`{"text":"x"}`: true, `{"text":""}`: true, `{"title":"x"}`: true, `{"content":"x","title":""}`: true,
			`{"text":"x","runners_up":10}`: true, `{"text":"x","partition":0}`: true,
			`{"text":"x","runners_up":7.0}`: true, `{"text":"x","runners_up":1e0,"partition":1E2}`: true,
			`{"text":"x","runners_up":1e400}`: false, `{"text":"x","partition":1e30}`: false,
			`{"articles":[{"text":"x"},{"content":"x"}],"runners_up":0}`: true,
			`{"text":"x","published_at":"2026-05-01T12:00:00+02:00"}`:    true,

			`{}`: false, `[]`: false, `null`: false, `"x"`: false, `7`: false, `{"text":null}`: false,
			`{"text":7}`: false, `{"Text":"x"}`: false, `{"text":"x","x":1}`: false,
			`{"text":"x","content":"y"}`: false, `{"text":"x","title":"y"}`: false,
			`{"published_at":"2026-05-01T12:00:00Z"}`: false, `{"runners_up":1}`: false,
			`{"text":"x","runners_up":11}`: false, `{"text":"x","runners_up":-1}`: false,
			`{"text":"x","runners_up":1.5}`: false, `{"text":"x","runners_up":"1"}`: false,
			`{"text":"x","runners_up":null}`: false, `{"text":"x","partition":-1}`: false,
			`{"text":"x","partition":99999999999}`: false,
			`{"text":"x","published_at":"today"}`:  false, `{"text":"x","published_at":7}`: false,
			`{"articles":[]}`: false, `{"articles":[{}]}`: false, `{"articles":[7]}`: false,
			`{"articles":{"text":"x"}}`: false, `{"articles":[{"text":"x"}],"text":"x"}`: false,
			`{"articles":[{"text":"x","runners_up":1}]}`:                           false,
			`{"articles":[` + strings.Repeat(`{`+text+`},`, 99) + `{"text":""}]}`:  true,
			`{"articles":[` + strings.Repeat(`{`+text+`},`, 100) + `{"text":""}]}`: false,
		},
		"/v1/compare": {
			`{"a":{"text":"x"},"b":{"title":"x"}}`: true,
			`{"a":{"text":"x"}}`:                   false, `{}`: false, `{"a":"x","b":"y"}`: false,
			`{"a":{"text":"x"},"b":{"text":"x"},"c":1}`: false,
		},
		"/v1/articles": {
			`{"title":"x"}`: true, `{"content":""}`: true, `{"content":"x","url":"u","tags":[1,null]}`: true,
			`{"id":"a","title":"x","source":"s","published_at":"2026-05-01T12:00:00Z"}`: true,
			`{}`: false, `{"id":"a"}`: false, `{"content":7}`: false, `{"content":"x","id":7}`: false,
			`{"content":"x"` + manyFields() + `}`: false,
			`{"content":"x","source":null}`:       false, `{"content":"x","published_at":1}`: false,
			`{"content":"x","id":"` + strings.Repeat("x", 1025) + `"}`: false,
		},
		"/v1/labels": {
			`{"cluster_id":"articles/0/12","label":"spam"}`:                true,
			`{"article_id":"a 1/2","label":"垃圾"}`:                          true,
			`{"text":"x","label":"spam","action":"add"}`:                   true,
			`{"title":"x","label":"a b"}`:                                  true,
			`{"title":"x","content":"x","label":"spam","trial":true}`:      true,
			`{"label":"spam","action":"resume"}`:                           true,
			`{"labels":[{"cluster_id":"articles/0/12","label":"x"}]}`:      true,
			`{"cluster_id":"articles/0/12","label":"x","note":"\u00fc"}`:   true,
			`{"cluster_id":"articles/0/12","label":"x","action":"remove"}`: true,
			`{"label":"spam"}`:                                                                 false,
			`{"cluster_id":"articles/0/12"}`:                                                   false,
			`{"cluster_id":"articles/0/12","label":""}`:                                        false,
			`{"cluster_id":"articles/0/12","label":" x"}`:                                      false,
			`{"cluster_id":"articles/0/12","label":"x "}`:                                      false,
			`{"cluster_id":"articles/0/12","label":"a,b"}`:                                     false,
			`{"cluster_id":"articles/0/12","label":"a\u0007b"}`:                                false,
			`{"cluster_id":"articles/0/12","label":"x","note":"a\nb"}`:                         false,
			`{"cluster_id":"articles/0/12","label":"x","action":"drop"}`:                       false,
			`{"cluster_id":"articles/0/12","label":"x","action":""}`:                           false,
			`{"cluster_id":"","label":"x"}`:                                                    false,
			`{"cluster_id":"articles/0/12","text":"x","label":"x"}`:                            false,
			`{"cluster_id":"articles/0/12","article_id":"a","label":"x"}`:                      false,
			`{"text":"x","content":"x","label":"x"}`:                                           false,
			`{"article_id":"","label":"x","action":"resume"}`:                                  false,
			`{"text":"x","label":"x","action":"resume"}`:                                       false,
			`{"text":"x","label":"x","action":"remove","trial":true}`:                          true,
			`{"label":"x","action":"resume","trial":true}`:                                     false,
			`{"target":"cluster","text":"x","label":"x"}`:                                      true,
			`{"target":"article","article_id":"a 1/2","label":"x"}`:                            true,
			`{"target":"contact","contact":"number:+1","label":"x","space":"s","partition":0}`: true,
			`{"labels":[{"target":"contact","contact":"number:+1","label":"x"}]}`:              true,
			`{"target":"text","text":"x","label":"x"}`:                                         false,
			`{"target":"article","cluster_id":"articles/0/12","label":"x"}`:                    false,
			`{"target":"article","text":"x","label":"x"}`:                                      false,
			`{"target":"article","article_id":"a","contact":"number:+1","label":"x"}`:          false,
			`{"target":"article","article_id":"a","label":"x","action":"resume"}`:              false,
			`{"target":"contact","label":"x"}`:                                                 false,
			`{"target":"contact","contact":"+44 7700","label":"x"}`:                            false,
			`{"target":"contact","contact":"number:+1","article_id":"a","label":"x"}`:          false,
			`{"contact":"number:+1","label":"x"}`:                                              false,
			`{"cluster_id":"articles/0/12","partition":0,"label":"x"}`:                         false,
			`{"text":"x","label":"x","published_at":"2026-05-01T12:00:00Z"}`:                   false,
			`{"labels":[]}`: false, `{"labels":[{}]}`: false,
			`{"labels":[{"text":"x","label":"x"}],"label":"x"}`:                  false,
			`{"text":"x","label":"` + strings.Repeat("x", 65) + `"}`:             false,
			`{"text":"x","label":"x","note":"` + strings.Repeat("x", 257) + `"}`: false,
		},
	} {
		for body, valid := range bodies {
			described := description().check(t, at("POST", path, "", typeJSON), []byte(body))
			if (described == nil) != valid {
				t.Errorf("%s %.200s: by the description: %v", path, body, described)
			}
			answer := send(t, handler(newFake().options()), "POST", path, typeJSON, body)
			if refused := answer.StatusCode == 400 || answer.StatusCode == 422; refused == valid {
				t.Errorf("%s %.200s: %d %s", path, body, answer.StatusCode, answer.body)
			}
		}
	}
}

// Whatever answers fails as what it is, and says so.
func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		detail string
	}{
		{api.ErrNotReady, 503, "this instance is not ready to answer"},
		{fmt.Errorf("reading: %w", errors.New("the disk is full")), 503, "reading: the disk is full"},
		{&api.ElsewhereError{Space: "3", Reason: "another has it"}, 421, "this instance has no space 3"},
		{api.Invalid("/partition", "is needed"), 422, "/partition: is needed"},
	} {
		f := newFake()
		f.err = tt.err
		h := handler(f.options())
		answer := send(t, h, "POST", "/v1/check", typeText, "x")
		if answer.StatusCode != tt.status || !strings.Contains(answer.body, tt.detail) {
			t.Errorf("%v: %d %s", tt.err, answer.StatusCode, answer.body)
		}
		if has := answer.Header.Get("Retry-After") != ""; has != (tt.status == 503) {
			t.Errorf("%v: Retry-After %q", tt.err, answer.Header.Get("Retry-After"))
		}
		if tt.status != 422 { // there is nothing to say in it
			send(t, h, "GET", "/v1/clusters/articles%2F0%2F12", "", "")
		}
		for _, target := range []string{"/v1/compare", "/v1/articles", "/v1/labels"} {
			body := `{"text":"x","label":"x"}`
			if target == "/v1/compare" {
				body = `{"a":{"text":"x"},"b":{"text":"x"}}`
			} else if target == "/v1/articles" {
				body = `{"content":"x"}`
			}
			if tt.status != 503 && target != "/v1/labels" {
				continue // they do not fail so
			}
			if answer := send(t, h, "POST", target, typeJSON, body); answer.StatusCode != tt.status {
				t.Errorf("%s: %d %s", target, answer.StatusCode, answer.body)
			}
		}
	}
	f := newFake()
	o := f.options()
	o.Members, o.Labels = nil, false
	for target, want := range map[string]string{
		"/v1/articles/x": noView, "/v1/clusters/articles%2F0%2F12/members": noView,
	} {
		if answer := send(t, handler(o), "GET", target, "", ""); answer.StatusCode != 404 ||
			!strings.Contains(answer.body, want) {
			t.Errorf("%s: %d %s", target, answer.StatusCode, answer.body)
		}
	}
	if answer := send(t, handler(o), "POST", "/v1/labels", typeJSON,
		`{"text":"x","label":"x"}`); answer.StatusCode != 404 {
		t.Errorf("labels: %d %s", answer.StatusCode, answer.body)
	}
}

// The pages of a question make a whole, and their cursors hold for it alone.
func TestPages(t *testing.T) {
	f := newFake()
	h := handler(f.options())
	next := func(target string) string {
		var page struct{ Next string }
		answer := send(t, h, "GET", target, "", "")
		if err := json.Unmarshal([]byte(answer.body), &page); err != nil || answer.StatusCode != 200 {
			t.Fatalf("%s: %d %s", target, answer.StatusCode, answer.body)
		}
		return page.Next
	}
	cursor := next("/v1/clusters?label=spam")
	if last := next("/v1/clusters?label=spam&limit=7&cursor=" + cursor); last != "" ||
		f.query.After != "after the first" || f.query.Limit != 7 {
		t.Errorf("the second page: next %q of %+v", last, f.query)
	}
	for _, target := range []string{
		"/v1/clusters?cursor=", "/v1/clusters?label=ham&cursor=", "/v1/labels?cursor=",
	} {
		if answer := send(t, h, "GET", target+cursor, "", ""); answer.StatusCode != 404 {
			t.Errorf("%s takes another question's cursor: %s", target, answer.body)
		}
	}
	var got []uint64
	for target := "/v1/clusters/articles%2F0%2F12/members?limit=2"; ; {
		var page api.Members
		answer := send(t, h, "GET", target, "", "")
		if err := json.Unmarshal([]byte(answer.body), &page); err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Members {
			got = append(got, m.Position)
		}
		if page.Next == "" {
			break
		}
		target = "/v1/clusters/articles/0/12/members?limit=1&cursor=" + page.Next
	}
	if fmt.Sprint(got) != "[12 13 14]" {
		t.Errorf("members at %v", got)
	}
}

// What an export gives is what labels are set by.
func TestExport(t *testing.T) {
	f := newFake()
	f.labels["spam"] = api.Label{Label: "spam", By: "bob", At: noon, Note: "n", Trial: true}
	h := handler(f.options())
	r, err := http.NewRequestWithContext(t.Context(), "GET", "/v1/labels?limit=5", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", typeLines)
	answer := sendRequest(t, h, r)
	want := `{"cluster_id":"articles/0/12","label":"spam","action":"add","by":"bob",` +
		`"at":"2026-05-01T12:00:00Z","note":"n","trial":true}` + "\n"
	if answer.body != want {
		t.Errorf("got  %s\nwant %s", answer.body, want)
	}
	if link := answer.Header.Get("Link"); !strings.HasPrefix(link, "</v1/labels?limit=5&cursor=") {
		t.Errorf("Link: %s", link)
	}
}

// Each field of a message is described, and what is described is a field. Each has words.
func TestMessagesAreDescribed(t *testing.T) {
	for name, message := range map[string]any{
		"Problem": api.Problem{}, "Text": api.TextRequest{}, "Check": api.CheckRequest{},
		"AsOf": api.AsOf{}, "Label": api.Label{}, "Signals": api.Signals{}, "Cluster": api.Cluster{},
		"Representative": article.Representative{}, "OneCluster": api.OneCluster{}, "Near": api.Near{},
		"Checked": api.Checked{}, "CheckedAll": api.CheckedAll{}, "Compare": api.CompareRequest{},
		"Comparison": api.Comparison{}, "Clusters": api.Clusters{}, "Address": article.Address{},
		"Member": api.Member{}, "View": api.View{}, "Members": api.Members{}, "Article": api.Article{},
		"NewArticle": articleRequest{}, "Accepted": api.Accepted{}, "LabelRequest": api.LabelRequest{},
		"LabelsRequest": api.LabelsRequest{}, "Labelled": api.Labelled{},
		"LabelledAll": api.LabelledAll{}, "Contacts": api.Contacts{}, "Contact": api.Contact{},
		"Mark": api.Mark{}, "By": api.By{}, "Exception": api.Exception{},
		"Story": api.Story{}, "Headline": article.Headline{}, "Stories": api.Stories{},
		"OneStory": api.OneStory{}, "NearStory": api.NearStory{}, "Merge": api.MergeRequest{},
		"Split": api.SplitRequest{}, "StoryChanged": api.StoryChanged{},
		"LabelRecord": api.LabelRecord{}, "Stats": api.Stats{},
		"Result": struct {
			article.Result
			Labels      []string `json:"labels"`
			TrialLabels []string `json:"trial_labels"`
			Position    uint64   `json:"position"`
		}{},
	} {
		var described []string
		for field := range description().schemas[name]["properties"].(map[string]any) {
			described = append(described, field)
		}
		slices.Sort(described)
		fields := fieldsOf(reflect.TypeOf(message))
		slices.Sort(fields)
		fields = slices.DeleteFunc(slices.Compact(fields), func(field string) bool {
			return (name == "LabelRequest" || name == "LabelsRequest") && field == "published_at" ||
				name == "Article" && (field == "text" || field == "gone")
		})
		if diff := cmp.Diff(described, fields); diff != "" {
			t.Errorf("%s, - described, + in the code:\n%s", name, diff)
		}
	}
	var doc any
	if err := json.Unmarshal(api.Description, &doc); err != nil {
		t.Fatal(err)
	}
	if n := inWords(t, "", doc); n < 150 {
		t.Errorf("only %d properties found", n)
	}
}

// fieldsOf returns the names of a struct in JSON.
func fieldsOf(of reflect.Type) (names []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "" && name != "-":
			names = append(names, name)
		case field.Anonymous:
			names = append(names, fieldsOf(field.Type)...)
		}
	}
	return names
}

// inWords wants a description of each property, and returns how many there are.
func inWords(t *testing.T, place string, node any) (n int) {
	switch node := node.(type) {
	case []any:
		for i, child := range node {
			n += inWords(t, fmt.Sprint(place, "/", i), child)
		}
	case map[string]any:
		isSchema := node["description"] != nil
		for key, child := range node {
			if properties, ok := child.(map[string]any); ok && key == "properties" && isSchema {
				for name, p := range properties {
					n++
					if p, ok := p.(map[string]any); !ok || p["description"] == nil {
						t.Errorf("%s/properties/%s has no description", place, name)
					}
				}
			}
			n += inWords(t, place+"/"+key, child)
		}
	}
	return n
}

// Each route is described, and each path that is described is a route or is answered before them.
func TestRoutesAreDescribed(t *testing.T) {
	before := []string{"post /v1/login", "post /v1/logout"}
	var described, routes []string
	for path, methods := range description().paths {
		for method := range methods {
			described = append(described, method+" "+path)
		}
	}
	for _, r := range Routes(newFake().options()) {
		routes = append(routes, strings.ToLower(r.Method)+" "+documented(r.Path))
		if r.Right == 0 || (r.Method == "POST") != (r.Body > 0) {
			t.Errorf("%s %s needs %+v", r.Method, r.Path, r.Route)
		}
	}
	routes = append(routes, before...)
	slices.Sort(described)
	slices.Sort(routes)
	if diff := cmp.Diff(described, slices.Compact(routes)); diff != "" {
		t.Errorf("- described, + in the code:\n%s", diff)
	}
}

// manyFields returns more fields than an article may have.
func manyFields() string {
	var all strings.Builder
	for i := range maxFields {
		fmt.Fprintf(&all, `,"f%d":0`, i)
	}
	return all.String()
}
