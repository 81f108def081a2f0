package article_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/article"
)

// The plain ways of decoding, encoding and parsing: several passes over a value, by libraries. The package is to
// do the same, only faster.

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

func (d plainDecoder) Decode(key, value []byte, at article.Address) (article.Article, error) {
	switch {
	case value == nil:
		return article.Article{}, plainReject(article.NullValue, "the record has no value")
	case len(value) > d.maxBytes:
		return article.Article{}, plainReject(article.TooLarge, "the value is larger than input.max_bytes, %d bytes", d.maxBytes)
	case d.fields == nil:
		return plainDecodeText(key, value, at)
	case len(bytes.TrimSpace(value)) == 0:
		return article.Article{}, plainReject(article.Empty, "the value is empty")
	case plainDepth(value) > article.MaxDepth:
		return article.Article{}, plainReject(article.TooDeep, "the JSON is nested more than %d levels deep", article.MaxDepth)
	case !gjson.ValidBytes(value):
		return article.Article{}, plainReject(article.BadJSON, "the value is not valid JSON")
	}
	object := gjson.ParseBytes(value)
	if !object.IsObject() {
		return article.Article{}, plainReject(article.BadJSON, "the value is JSON, but %s, not an object", plainKind(object))
	}
	return d.decodeObject(object, at)
}

func plainDecodeText(key, value []byte, at article.Address) (article.Article, error) {
	if len(value) == 0 {
		return article.Article{}, plainReject(article.Empty, "the value is empty")
	}
	a := article.Article{ID: plainUTF8(string(key)), Content: plainUTF8(string(value))}
	if len(a.ID) > article.MaxIDBytes {
		return article.Article{}, plainReject(article.BadField, "the key, which is the id, has %d bytes; at most %d are allowed", len(a.ID), article.MaxIDBytes)
	}
	if a.ID == "" {
		a.ID = at.String()
	}
	return a, nil
}

func (d plainDecoder) decodeObject(object gjson.Result, at article.Address) (a article.Article, err error) {
	if a.ID, err = d.id(object, d.fields.ID); err != nil {
		return article.Article{}, err
	}
	var hasTitle, hasContent bool
	if a.Title, hasTitle, err = d.string(object, d.fields.Title); err != nil {
		return article.Article{}, err
	}
	if a.Content, hasContent, err = d.string(object, d.fields.Content); err != nil {
		return article.Article{}, err
	}
	if !hasTitle && !hasContent {
		return article.Article{}, plainReject(article.Empty, "there is no field %q and no field %q", d.fields.Title, d.fields.Content)
	}
	if a.Source, _, err = d.string(object, d.fields.Source); err != nil {
		return article.Article{}, err
	}
	if a.PublishedAt, err = d.time(object, d.fields.PublishedAt); err != nil {
		return article.Article{}, err
	}
	if a.ID == "" {
		a.ID = at.String()
	}
	return a, nil
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

func (d plainDecoder) string(object gjson.Result, path string) (s string, found bool, err error) {
	switch r := object.Get(d.queries[path]); {
	case !r.Exists() || r.Type == gjson.Null:
		return "", false, nil
	case r.Type == gjson.String:
		return plainUTF8(r.Str), true, nil
	default:
		return "", false, plainReject(article.BadField, "field %q is %s; it must be a string", path, plainKind(r))
	}
}

func (d plainDecoder) id(object gjson.Result, path string) (string, error) {
	r := object.Get(d.queries[path])
	var id string
	switch {
	case !r.Exists() || r.Type == gjson.Null:
		return "", nil
	case r.Type == gjson.String:
		id = plainUTF8(r.Str)
	case r.Type == gjson.Number:
		id = r.Raw
	default:
		return "", plainReject(article.BadField, "field %q is %s; it must be a string or a number", path, plainKind(r))
	}
	if len(id) > article.MaxIDBytes {
		return "", plainReject(article.BadField, "field %q has %d bytes; at most %d are allowed", path, len(id), article.MaxIDBytes)
	}
	return id, nil
}

func (d plainDecoder) time(object gjson.Result, path string) (time.Time, error) {
	const formats = "RFC 3339 (2006-01-02T15:04:05Z), or Unix seconds or milliseconds"
	r := object.Get(d.queries[path])
	switch {
	case !r.Exists() || r.Type == gjson.Null || r.Type == gjson.String && r.Str == "":
		return time.Time{}, nil
	case r.Type == gjson.Number:
		if t, ok := plainUnixTime(r.Raw); ok {
			return t, nil
		}
	case r.Type == gjson.String:
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
			if t, err := time.Parse(layout, r.Str); err == nil && plainInRange(t.UTC()) {
				return t.UTC(), nil
			}
		}
		if t, ok := plainUnixTime(r.Str); ok {
			return t, nil
		}
	default:
		return time.Time{}, plainReject(article.BadField, "field %q is %s; a time is %s", path, plainKind(r), formats)
	}
	raw := plainUTF8(r.Raw)
	if limit := 40; len(raw) > limit {
		for !utf8.RuneStart(raw[limit]) {
			limit--
		}
		raw = raw[:limit] + "…"
	}
	return time.Time{}, plainReject(article.BadField, "field %q is %s, which is no time: it must be %s", path, raw, formats)
}

func plainUnixTime(s string) (time.Time, bool) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return time.Time{}, false
	}
	if math.Abs(n) < 1e11 {
		n *= 1000
	}
	t := time.UnixMilli(int64(math.Round(n))).UTC()
	return t, math.Abs(n) < 1e15 && plainInRange(t)
}

func plainInRange(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

func plainUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

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
