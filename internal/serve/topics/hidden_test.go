package topics

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/message/article"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/serve/tail"
)

// Where texts are hidden, no answer has one, and what else it has is as ever.
func TestHidden(t *testing.T) {
	const said = "canary"
	texts, err := (&Topics{Hidden: true}).Texts(t.Context(), make([]article.Address, 2))
	if err != nil || len(texts) != 2 || texts[1] != (v1.Text{Gone: "hidden"}) {
		t.Errorf("texts: %+v, %v", texts, err)
	}
	value := `{"article_id":"a1","contact":"name:` + said + `","size":2,` +
		`"labelled_by":[{"label":"spam","contact":"number:` + said + `"},` +
		`{"label":"ads","trial":true,"contact":"site:` + said + `"}],"representative":{"id":"a1",` +
		`"title":"a \\"` + said + `\\"","excerpt":"` + said + `"},"copied":{"x":"` + said + `"}}`
	value = strings.ReplaceAll(value, `\\`, `\`)
	e := tail.Event{Kind: tail.Result, Value: []byte(value)}
	want := map[string]any{
		"article_id": "a1", "contact": "name:hidden", "size": 2.0,
		"labelled_by": []any{
			map[string]any{"label": "spam", "contact": "number:hidden"},
			map[string]any{"label": "ads", "trial": true, "contact": "site:hidden"},
		},
		"representative": map[string]any{"id": "a1", "title": "", "excerpt": ""},
	}
	var got map[string]any
	err = json.Unmarshal(event(&e, true).Value, &got)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("a result: %v, %v", got, err)
	}
	if string(event(&e, false).Value) != value || string(e.Value) != value {
		t.Error("a result that is shown has changed")
	}
}

// Records of labels and corrections are told without the contacts that they name. Anybody may write
// to the topic of labels.
func TestHiddenEventsOfLabels(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{
			"of a contact", `{"target":"contact","contact":"number:+447700900123","at":1234567890123456789}`,
			`{"at":1234567890123456789,"contact":"number:hidden","target":"contact"}`,
		},
		{"twice", `{"contact":"mail:a@b.example","contact":"mail:c@d.example"}`, `{"contact":"mail:hidden"}`},
		{"in capitals", `{"Contact":"mail:a@b.example"}`, `{"Contact":"mail:hidden"}`},
		{"without a contact", `{"label":"spam"}`, `{"label":"spam"}`},
		{"no object", `"number:+447700900123"`, `null`},
		{"no JSON", `number:+447700900123`, `null`},
		{"a tombstone", ``, `null`},
	} {
		for _, kind := range []tail.Kind{tail.Label, tail.Correction} {
			e := tail.Event{Kind: kind, Value: []byte(test.value)}
			if got := string(event(&e, true).Value); got != test.want {
				t.Errorf("%s, %s: %s, want %s", kind, test.name, got, test.want)
			}
			if got := string(event(&e, false).Value); got != test.value {
				t.Errorf("%s, %s, shown: %s", kind, test.name, got)
			}
		}
	}
}
