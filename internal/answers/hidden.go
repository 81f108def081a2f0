package answers

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/article"
	v1 "github.com/clusterd/clusterd/internal/httpapi/v1"
)

// hiddenText stands for what is not told.
const hiddenText = "hidden"

// errHidden is of a question that would tell by its answer which texts there are.
func errHidden(field string) error {
	return &v1.InvalidError{Field: field, Reason: "texts are hidden: serve.content"}
}

// hideRepresentative leaves the id.
func hideRepresentative(r *article.Representative) { *r = article.Representative{ID: r.ID} }

// hideContact leaves what kind of contact it is.
func hideContact(contact string) string {
	kind, _, found := strings.Cut(contact, ":")
	if !found {
		return contact
	}
	return kind + ":" + hiddenText
}

// hideResult returns a result without what its articles say. What output.copy repeats may be texts,
// so it has none of that.
func hideResult(value []byte) []byte {
	for path, text := range map[string]func(found string) string{
		"representative.title":   func(string) string { return "" },
		"representative.excerpt": func(string) string { return "" },
		"contact":                hideContact,
	} {
		found := gjson.GetBytes(value, path)
		if found.Type != gjson.String || found.Index == 0 {
			continue
		}
		quoted := gjson.AppendJSONString(nil, text(found.Str))
		after := value[found.Index+len(found.Raw):]
		value = append(append(append([]byte{}, value[:found.Index]...), quoted...), after...)
	}
	// It is never the first field, and results have no blanks between fields.
	if copied := gjson.GetBytes(value, "copied"); copied.IsObject() && copied.Index > 0 {
		before := bytes.TrimSuffix(value[:copied.Index], []byte(`,"copied":`))
		value = append(append([]byte{}, before...), value[copied.Index+len(copied.Raw):]...)
	}
	return value
}
