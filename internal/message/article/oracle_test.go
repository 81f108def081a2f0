package article_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/message/article"
)

// The plain ways of decoding, encoding and parsing: several passes over a value, by libraries. The
// package is to do the same, only faster.

// plainDecoder decodes as [article.Decoder] does, one field after the other.
type plainDecoder struct {
	fields   *article.Fields // nil for plain text
	maxBytes int
	queries  map[string]string // a path in the form that gjson looks up
}

func newPlainDecoder(f article.Fields, maxBytes int) plainDecoder {
	d := plainDecoder{fields: &f, maxBytes: maxBytes, queries: make(map[string]string)}
	for _, path := range []string{f.ID, f.Title, f.Content, f.PublishedAt, f.Source} {
		components := strings.Split(path, ".")
		for i, c := range components {
			components[i] = gjson.Escape(c)
		}
		d.queries[path] = strings.Join(components, ".")
	}
	return d
}

func plainReject(class article.Class, format string, args ...any) *article.Rejection {
	return &article.Rejection{Class: class, Reason: fmt.Sprintf(format, args...)}
}

// Decode also says which fields it did without, as "field reason".
func (d plainDecoder) Decode(
	key, value []byte, at article.Address,
) (a article.Article, without []string, err *article.Rejection) {
	isNull := value == nil
	tooLarge := len(value) > d.maxBytes
	value, key = plainUTF8(value), plainUTF8(key)
	switch {
	case isNull:
		return a, nil, plainReject(article.NullValue, "the record has no value")
	case tooLarge:
		return a, nil, plainReject(article.TooLarge, "the value is larger than input.max_bytes, %d bytes",
			d.maxBytes)
	case d.fields == nil && len(value) == 0, d.fields != nil && len(bytes.TrimSpace(value)) == 0:
		return a, nil, plainReject(article.Empty, "the value is empty")
	case d.fields == nil:
		a, without = article.Article{ID: string(key), Content: string(value)}, nil
	case plainDepth(value) > article.MaxDepth:
		return a, nil, plainReject(article.TooDeep, "the JSON is nested more than %d levels deep",
			article.MaxDepth)
	case !gjson.ValidBytes(value):
		return a, nil, plainReject(article.BadJSON, "the value is not valid JSON")
	default:
		object := gjson.ParseBytes(value)
		if !object.IsObject() {
			return a, nil, plainReject(article.BadJSON, "the value is JSON, but %s, not an object",
				plainKind(object))
		}
		if a, without, err = d.decodeObject(object); err != nil {
			return article.Article{}, nil, err
		}
	}
	if len(a.ID) > article.MaxIDBytes {
		a.ID, without = "", append([]string{"id too_long"}, without...)
	}
	if a.ID == "" {
		a.ID = at.String()
	}
	return a, without, nil
}

func (d plainDecoder) decodeObject(
	object gjson.Result,
) (a article.Article, without []string, err *article.Rejection) {
	get := func(path string) gjson.Result { return object.Get(d.queries[path]) }
	wrong := func(r gjson.Result, types ...gjson.Type) bool {
		return r.Type != gjson.Null && !slices.Contains(types, r.Type)
	}
	title, content := get(d.fields.Title), get(d.fields.Content)
	switch noTitle, noContent := title.Type != gjson.String, content.Type != gjson.String; {
	case noTitle && noContent && wrong(content):
		return a, nil, plainReject(article.BadField, "field %q is %s; it must be a string",
			d.fields.Content, plainKind(content))
	case noTitle && noContent && wrong(title):
		return a, nil, plainReject(article.BadField, "field %q is %s; it must be a string",
			d.fields.Title, plainKind(title))
	case noTitle && noContent:
		return a, nil, plainReject(article.Empty, "")
	}
	switch id := get(d.fields.ID); {
	case wrong(id, gjson.String, gjson.Number):
		without = append(without, "id type")
	case id.Type == gjson.Number:
		a.ID = id.Raw
	default:
		a.ID = id.Str
	}
	for _, part := range []struct {
		name  string
		value gjson.Result
		to    *string
	}{{"title", title, &a.Title}, {"content", content, &a.Content}, {
		"source", get(d.fields.Source),
		&a.Source,
	}} {
		if wrong(part.value, gjson.String) {
			without = append(without, part.name+" type")
		}
		*part.to = part.value.Str
	}
	published := get(d.fields.PublishedAt)
	if wrong(published, gjson.String, gjson.Number) {
		without = append(without, "published_at type")
	} else if t, ok := plainTime(published); ok {
		a.PublishedAt = t
	}
	return a, without, nil
}

func plainDepth(value []byte) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

func plainKind(r gjson.Result) string {
	switch {
	case r.IsObject():
		return "an object"
	case r.IsArray():
		return "an array"
	case r.Type == gjson.String:
		return "a string"
	case r.Type == gjson.Number:
		return "a number"
	case r.IsBool():
		return "a boolean"
	default:
		return "null"
	}
}

// plainTime knows only the commonest forms.
func plainTime(r gjson.Result) (time.Time, bool) {
	if r.Type == gjson.String {
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
			if t, err := time.Parse(layout, r.Str); err == nil && plainInRange(t.UTC()) {
				return t.UTC(), true
			}
		}
		return time.Time{}, false
	}
	return plainUnixTime(r.Raw)
}

func plainUnixTime(s string) (time.Time, bool) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || math.Abs(n) >= 1e14 {
		return time.Time{}, false
	}
	if math.Abs(n) < 1e11 {
		n *= 1000
	}
	t := time.UnixMilli(int64(math.Round(n))).UTC()
	return t, plainInRange(t)
}

func plainInRange(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

func plainUTF8(b []byte) []byte {
	for bytes.HasPrefix(b, []byte("\ufeff")) {
		b = b[3:]
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD"))
}

// plainJSON encodes as JSON and AppendJSON do.
func plainJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("article: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
