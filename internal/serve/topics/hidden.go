package topics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/tail"
)

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
			record[name] = api.HideContact(contact)
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
	value, _ = replaceText(value, "contact", api.HideContact)
	for i, found := 0, true; found; i++ {
		value, found = replaceText(value, fmt.Sprintf("labelled_by.%d.contact", i), api.HideContact)
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
