package v1

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// A label on one article names the article in its record, as its result has it.
func TestLabelOneArticle(t *testing.T) {
	f := newFake()
	answer := send(t, handler(f.options()), "POST", "/v1/labels", typeJSON,
		`{"target":"article","article_id":"a 1/2","label":"ham","note":"n"}`)
	want := `{"results":[{"target":"article","cluster_id":"articles/0/12","article_id":"a 1/2",` +
		`"label":"ham","action":"add","record":"labels/0/0","applied":true,"position":17}]}`
	if answer.StatusCode != 200 || strings.TrimSpace(answer.body) != want {
		t.Errorf("%d %s\nwant %s", answer.StatusCode, answer.body, want)
	}
	record := f.written[0]
	record.At = noon
	if diff := cmp.Diff(api.LabelRecord{
		Target: api.ForArticle, ClusterID: knownID, ArticleID: "a12", Source: "articles/0/12",
		MemberPosition: new(uint64(12)), Fingerprint: new(article.Fingerprint(7)), Label: "ham",
		Action: api.Add, By: record.By, At: noon, Note: "n",
	}, record); diff != "" {
		t.Error(diff)
	}
	answer = send(t, handler(f.options()), "POST", "/v1/labels", typeJSON,
		`{"target":"article","article_id":"a 1/2","label":"ham","action":"remove"}`)
	if answer.StatusCode != 200 || !strings.Contains(answer.body, `"applied":true`) ||
		len(f.exceptions) > 0 {
		t.Errorf("to remove it: %d %s", answer.StatusCode, answer.body)
	}
}

// A label on a contact says who labelled, and one of labels.allow who says that it is harmless.
func TestLabelContact(t *testing.T) {
	f := newFake()
	h := handler(f.options())
	for _, step := range []struct {
		body   string
		status int
		want   string
	}{
		{`"label":"ham"`, 404, "no label has marked it"},
		{`"label":"spam"`, 200, `"contact":"number:+447700900123","label":"spam","action":"add"`},
		{`"label":"ham"`, 200, `"applied":true`},
		{`"label":"spam","action":"remove"`, 200, `"applied":true`},
	} {
		answer := send(t, h, "POST", "/v1/labels", typeJSON,
			`{"target":"contact","contact":"`+called+`",`+step.body+`}`)
		if answer.StatusCode != step.status || !strings.Contains(answer.body, step.want) {
			t.Errorf("%s: %d %s", step.body, answer.StatusCode, answer.body)
		}
	}
	for _, r := range f.written {
		if r.Target != api.ForContact || r.Contact != called || r.ClusterID != "" {
			t.Errorf("written: %+v", r)
		}
	}
	answer := send(t, h, "POST", "/v1/labels", typeJSON,
		`{"target":"contact","contact":"number:+1","label":"spam"}`)
	if answer.StatusCode != 404 || len(f.written) != 3 {
		t.Errorf("an unknown contact: %d %s", answer.StatusCode, answer.body)
	}
}

// What cannot be done is refused, and what was not done is not said to be.
func TestTargetsThatAreNotApplied(t *testing.T) {
	one := `"target":"article","article_id":"a 1/2"`
	contact := `"target":"contact","contact":"` + called + `"`
	for body, want := range map[string]string{
		one + `,"label":"ham"`:                              "was not taken",
		one + `,"cluster_id":"articles/0/40","label":"ham"`: "belongs to cluster articles/0/12",
		contact + `,"label":"spam"`:                         "was not taken",
		contact + `,"label":"spam","action":"remove"`:       "was not removed",
	} {
		f := newFake()
		f.refuses, f.clicked = true, []api.By{{Record: "labels/0/99"}}
		answer := send(t, handler(f.options()), "POST", "/v1/labels", typeJSON, `{`+body+`}`)
		if answer.StatusCode != 422 || !strings.Contains(answer.body, want) {
			t.Errorf("%s: %d %s", body, answer.StatusCode, answer.body)
		}
	}
}

// A trial label is added next to the real one, and each is removed by itself.
func TestTrialLabelsAreOthers(t *testing.T) {
	f := newFake()
	f.refuses = true
	f.labels["spam"] = api.Label{Label: "spam", At: noon}
	for body, want := range map[string]string{
		`"label":"spam","trial":true`:                   "was not taken",
		`"label":"spam","action":"remove","trial":true`: `"applied":true`,
		`"label":"spam","action":"remove"`:              "was not removed",
	} {
		answer := send(t, handler(f.options()), "POST", "/v1/labels", typeJSON,
			`{"cluster_id":"articles/0/12",`+body+`}`)
		if !strings.Contains(answer.body, want) {
			t.Errorf("%s: %d %s, want %s", body, answer.StatusCode, answer.body, want)
		}
	}
}

// The list of what is labelled has clusters, exceptions and marks, and so has the export.
func TestLabelledTargets(t *testing.T) {
	f := newFake()
	f.labels["spam"] = api.Label{Label: "spam", At: noon}
	f.labels["scam"] = api.Label{Label: "scam", At: noon, ContactRef: api.ContactRef{Contact: called}}
	f.exceptions["ham"] = api.Label{Label: "ham", At: noon, By: "bob"}
	f.clicked = []api.By{
		{At: noon, Record: "labels/0/1", ClusterID: knownID}, {At: noon, Record: "labels/0/2"},
	}
	f.harmless = []api.By{{At: noon, Record: "labels/0/3", Label: "ham"}}
	h := handler(f.options())
	first := send(t, h, "GET", "/v1/labels?limit=1", "", "")
	if !strings.Contains(first.body, `"exceptions":[{"article_id":"a 1/2","source":"articles/0/12",`) {
		t.Errorf("%s", first.body)
	}
	lines := ""
	for next := "/v1/labels?limit=1"; next != ""; {
		answer := sendLines(t, h, next)
		lines += answer.body
		link, _, _ := strings.Cut(strings.TrimPrefix(answer.Header.Get("Link"), "<"), ">")
		if next = link; strings.Count(lines, "\n") > 20 {
			t.Fatal("there is no end")
		}
	}
	at := `"action":"add","at":"2026-05-01T12:00:00Z"}` + "\n"
	for _, want := range []string{
		`{"cluster_id":"articles/0/12","label":"spam",` + at,
		`{"target":"article","cluster_id":"articles/0/12","article_id":"a 1/2","source":"articles/0/12",` +
			`"member_position":12,"fingerprint":"0000000000000007","label":"ham","action":"add","by":"bob",`,
		`{"target":"contact","contact":"number:+447700900123","label":"spam",` + at,
		`{"target":"contact","contact":"number:+447700900123","label":"ham",` + at,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("no line %s in\n%s", want, lines)
		}
	}
	if strings.Contains(lines, "scam") || strings.Count(lines, `"target":"contact"`) != 2 {
		t.Errorf("too many lines:\n%s", lines)
	}
}

// sendLines asks for label records, a line each.
func sendLines(t *testing.T, h http.Handler, target string) got {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	r.Header.Set("Accept", typeLines)
	return sendRequest(t, h, r)
}
