package answers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/message/article"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/serve/tail"
)

// hiddenText stands for what is not told.
const hiddenText = "hidden"

// errHidden is of a question that would tell by its answer which texts there are.
func errHidden(field string) error {
	return &v1.InvalidError{Field: field, Reason: "texts are hidden: serve.content"}
}

// hideRepresentative leaves the id.
func hideRepresentative(r *article.Representative) { *r = article.Representative{ID: r.ID} }

// hideContact leaves what kind of contact it is. Whatever tells a contact while texts are hidden
// calls it: contacts are telephone numbers, mail addresses and names.
func hideContact(contact string) string {
	kind, _, found := strings.Cut(contact, ":")
	if !found {
		return contact
	}
	return kind + ":" + hiddenText
}

// hideEvent returns what an event of the stream says without what articles say.
func hideEvent(kind tail.Kind, value []byte) []byte {
	if kind == tail.Result {
		return hideResult(value)
	}
	return hideRecord(value)
}

// hideRecord returns a label record or a correction without contacts. Anybody may have written it:
// what is no JSON object is told as null.
func hideRecord(value []byte) []byte {
	var record map[string]any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if err := d.Decode(&record); err != nil || record == nil {
		return []byte("null")
	}
	for name, is := range record {
		// As encoding/json reads the record: without regard to case.
		if contact, ok := is.(string); ok && strings.EqualFold(name, "contact") {
			record[name] = hideContact(contact)
		}
	}
	hidden, err := json.Marshal(record)
	if err != nil {
		return []byte("null")
	}
	return hidden
}

// hideResult returns a result without what its articles say. What output.copy repeats may be texts,
// so it has none of that.
func hideResult(value []byte) []byte {
	nothing := func(string) string { return "" }
	value, _ = replaceText(value, "representative.title", nothing)
	value, _ = replaceText(value, "representative.excerpt", nothing)
	value, _ = replaceText(value, "contact", hideContact)
	for i, found := 0, true; found; i++ {
		value, found = replaceText(value, fmt.Sprintf("labelled_by.%d.contact", i), hideContact)
	}
	// It is never the first field, and results have no blanks between fields.
	if copied := gjson.GetBytes(value, "copied"); copied.IsObject() && copied.Index > 0 {
		before := bytes.TrimSuffix(value[:copied.Index], []byte(`,"copied":`))
		value = append(append([]byte{}, before...), value[copied.Index+len(copied.Raw):]...)
	}
	return value
}

// replaceText puts another text in place of that at a path, and reports whether there is one.
func replaceText(value []byte, path string, by func(found string) string) (_ []byte, ok bool) {
	found := gjson.GetBytes(value, path)
	if found.Type != gjson.String || found.Index == 0 {
		return value, false
	}
	quoted := gjson.AppendJSONString(nil, by(found.Str))
	after := value[found.Index+len(found.Raw):]
	return append(append(append([]byte{}, value[:found.Index]...), quoted...), after...), true
}
