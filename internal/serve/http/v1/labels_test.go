package v1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// What a cluster has no room for is refused before anything is written; a label that it has is not.
func TestLabelsAreCheckedFirst(t *testing.T) {
	f := newFake()
	for i := range article.MaxLabels {
		name := fmt.Sprint("label ", i)
		f.labels[name] = api.Label{Label: name, At: noon, Position: 3}
	}
	h := handler(f.options())
	for _, who := range []string{`"cluster_id":"articles/0/12"`, `"article_id":"a 1/2"`, `"text":"known"`} {
		answer := send(t, h, "POST", "/v1/labels", typeJSON, `{`+who+`,"label":"spam"}`)
		if answer.StatusCode != 422 || !strings.Contains(answer.body, "has 8 labels") {
			t.Errorf("%s: %d %s", who, answer.StatusCode, answer.body)
		}
	}
	answer := send(t, h, "POST", "/v1/labels", typeJSON, `{"article_id":"lost","label":"spam"}`)
	if answer.StatusCode != 404 || !strings.Contains(answer.body, "has expired") {
		t.Errorf("an article whose cluster has expired: %d %s", answer.StatusCode, answer.body)
	}
	if len(f.written) > 0 {
		t.Errorf("written: %+v", f.written)
	}
	for _, request := range []string{`"label":"label 3"`, `"label":"spam","action":"remove"`} {
		answer := send(t, h, "POST", "/v1/labels", typeJSON, `{"cluster_id":"articles/0/12",`+request+`}`)
		if answer.StatusCode != 200 || !strings.Contains(answer.body, `"applied":true`) {
			t.Errorf("%s: %d %s", request, answer.StatusCode, answer.body)
		}
	}
}

// A label record that was read and did nothing, since somebody came first, is not said to be
// applied.
func TestLabelsThatAreNotApplied(t *testing.T) {
	for request, want := range map[string]string{
		`"label":"spam"`:                   "was not taken, or has been removed",
		`"label":"ham","action":"remove"`:  "was not removed, or has been added again",
		`"label":"ham","trial":true`:       "was not taken, or has been removed",
		`"label":"spam","action":"remove"`: "",
		`"label":"spam","action":"resume"`: "",
	} {
		f := newFake()
		f.refuses = true
		f.labels["ham"] = api.Label{Label: "ham", At: noon}
		h := handler(f.options())
		cluster := `"cluster_id":"articles/0/12",`
		if strings.Contains(request, "resume") {
			cluster = ""
		}
		one := send(t, h, "POST", "/v1/labels", typeJSON, `{`+cluster+request+`}`)
		several := send(t, h, "POST", "/v1/labels", typeJSON, `{"labels":[{`+cluster+request+`}]}`)
		if want == "" {
			if one.StatusCode != 200 || !strings.Contains(one.body, `"applied":true`) {
				t.Errorf("%s: %d %s", request, one.StatusCode, one.body)
			}
			continue
		}
		if one.StatusCode != 422 || !strings.Contains(one.body, want) ||
			!strings.Contains(one.body, "dead letter of labels/0/0") {
			t.Errorf("%s: %d %s", request, one.StatusCode, one.body)
		}
		if several.StatusCode != 200 || !strings.Contains(several.body, `"applied":false`) ||
			!strings.Contains(several.body, want) {
			t.Errorf("several, %s: %d %s", request, several.StatusCode, several.body)
		}
	}
}
