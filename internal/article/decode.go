package article

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	// MaxDepth is how deeply the JSON of an article may be nested.
	MaxDepth = 64
	// MaxIDBytes is how long an article's own id may be: it stands in every result.
	MaxIDBytes = 1024
)

// Fields maps the parts of an article to dotted paths in the JSON object.
type Fields struct {
	ID, Title, Content, PublishedAt, Source string
}

// Decoder makes articles of record values. It is safe for concurrent use.
type Decoder struct {
	maxBytes int
	json     bool
	paths    struct{ id, title, content, publishedAt, source path }
}

// path is a dotted path: as the user wrote it, for messages, and in the form gjson looks up.
type path struct{ name, query string }

func newPath(name string) path {
	components := strings.Split(name, ".")
	for i, c := range components {
		components[i] = gjson.Escape(c)
	}
	return path{name: name, query: strings.Join(components, ".")}
}

// NewDecoder makes a decoder for JSON objects whose parts are at the paths of fields. A value
// over maxBytes is rejected unread.
func NewDecoder(fields Fields, maxBytes int) *Decoder {
	d := &Decoder{maxBytes: maxBytes, json: true}
	d.paths.id = newPath(fields.ID)
	d.paths.title = newPath(fields.Title)
	d.paths.content = newPath(fields.Content)
	d.paths.publishedAt = newPath(fields.PublishedAt)
	d.paths.source = newPath(fields.Source)
	return d
}

// NewTextDecoder makes a decoder for plain text: the value is the content, the key, if any,
// the id.
func NewTextDecoder(maxBytes int) *Decoder { return &Decoder{maxBytes: maxBytes} }

// Decode makes an article of the record with this key and value at this address. The error is
// always a *[Rejection]. Invalid UTF-8 becomes U+FFFD.
func (d *Decoder) Decode(key, value []byte, at Address) (Article, error) {
	switch {
	case value == nil:
		return Article{}, reject(NullValue, "the record has no value")
	case len(value) > d.maxBytes:
		return Article{}, reject(TooLarge, "the value is larger than input.max_bytes, %d bytes", d.maxBytes)
	case d.json:
		return d.decodeJSON(value, at)
	default:
		return decodeText(key, value, at)
	}
}

func decodeText(key, value []byte, at Address) (Article, error) {
	if len(value) == 0 {
		return Article{}, reject(Empty, "the value is empty")
	}
	a := Article{ID: validUTF8(string(key)), Content: validUTF8(string(value))}
	if len(a.ID) > MaxIDBytes {
		return Article{}, reject(BadField, "the key, which is the id, has %d bytes; at most %d are allowed", len(a.ID), MaxIDBytes)
	}
	if a.ID == "" {
		a.ID = at.String()
	}
	return a, nil
}

func (d *Decoder) decodeJSON(value []byte, at Address) (Article, error) {
	if len(bytes.TrimSpace(value)) == 0 {
		return Article{}, reject(Empty, "the value is empty")
	}
	// The depth is bounded before any recursive decoder sees the value.
	if depth := jsonDepth(value); depth > MaxDepth {
		return Article{}, reject(TooDeep, "the JSON is nested more than %d levels deep", MaxDepth)
	}
	if !gjson.ValidBytes(value) {
		return Article{}, reject(BadJSON, "the value is not valid JSON")
	}
	object := gjson.ParseBytes(value)
	if !object.IsObject() {
		return Article{}, reject(BadJSON, "the value is JSON, but %s, not an object", kind(object))
	}

	var a Article
	var err error
	if a.ID, err = idAt(object, d.paths.id); err != nil {
		return Article{}, err
	}
	title, hasTitle, err := stringAt(object, d.paths.title)
	if err != nil {
		return Article{}, err
	}
	content, hasContent, err := stringAt(object, d.paths.content)
	if err != nil {
		return Article{}, err
	}
	if !hasTitle && !hasContent {
		return Article{}, reject(Empty, "there is no field %q and no field %q", d.paths.title.name, d.paths.content.name)
	}
	a.Title, a.Content = title, content
	if a.Source, _, err = stringAt(object, d.paths.source); err != nil {
		return Article{}, err
	}
	if a.PublishedAt, err = timeAt(object, d.paths.publishedAt); err != nil {
		return Article{}, err
	}
	if a.ID == "" {
		a.ID = at.String()
	}
	return a, nil
}

// jsonDepth is the deepest nesting of objects and arrays in value, which need not be valid
// JSON. It does not recurse, and stops counting just past [MaxDepth].
func jsonDepth(value []byte) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > deepest {
				if deepest = depth; deepest > MaxDepth {
					return deepest
				}
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

func kind(r gjson.Result) string {
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

// stringAt is the string at p. An absent field and null are the same: no string.
func stringAt(object gjson.Result, p path) (s string, found bool, err error) {
	switch r := object.Get(p.query); {
	case !r.Exists() || r.Type == gjson.Null:
		return "", false, nil
	case r.Type == gjson.String:
		return validUTF8(r.Str), true, nil
	default:
		return "", false, reject(BadField, "field %q is %s; it must be a string", p.name, kind(r))
	}
}

// idAt is the id at p, which many producers write as a number.
func idAt(object gjson.Result, p path) (string, error) {
	r := object.Get(p.query)
	var id string
	switch {
	case !r.Exists() || r.Type == gjson.Null:
		return "", nil
	case r.Type == gjson.String:
		id = validUTF8(r.Str)
	case r.Type == gjson.Number:
		id = r.Raw
	default:
		return "", reject(BadField, "field %q is %s; it must be a string or a number", p.name, kind(r))
	}
	if len(id) > MaxIDBytes {
		return "", reject(BadField, "field %q has %d bytes; at most %d are allowed", p.name, len(id), MaxIDBytes)
	}
	return id, nil
}

const timeFormats = "RFC 3339 (2006-01-02T15:04:05Z), or Unix seconds or milliseconds"

// timeLayouts are those of RFC 3339, and the same without a zone, which many programs write and which
// is taken as UTC.
var timeLayouts = [...]string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// timeAt is the time at p: one of timeLayouts, or a number (which may stand in a string) of seconds or
// milliseconds since 1970. An empty string is no time, as null is. A number of 1e11 and more is milliseconds: as seconds it would be
// past the year 5138.
func timeAt(object gjson.Result, p path) (time.Time, error) {
	r := object.Get(p.query)
	switch {
	case !r.Exists() || r.Type == gjson.Null || r.Type == gjson.String && r.Str == "":
		return time.Time{}, nil
	case r.Type == gjson.Number:
		if t, ok := unixTime(r.Raw); ok {
			return t, nil
		}
	case r.Type == gjson.String:
		for _, layout := range timeLayouts {
			if t, err := time.Parse(layout, r.Str); err == nil && inRange(t.UTC()) {
				return t.UTC(), nil
			}
		}
		if t, ok := unixTime(r.Str); ok {
			return t, nil
		}
	default:
		return time.Time{}, reject(BadField, "field %q is %s; a time is %s", p.name, kind(r), timeFormats)
	}
	return time.Time{}, reject(BadField, "field %q is %s, which is no time: it must be %s", p.name, clip(validUTF8(r.Raw), 40), timeFormats)
}

func unixTime(s string) (time.Time, bool) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return time.Time{}, false
	}
	if math.Abs(n) < 1e11 {
		n *= 1000
	}
	t := time.UnixMilli(int64(math.Round(n))).UTC()
	return t, math.Abs(n) < 1e15 && inRange(t)
}

// inRange holds times, which are in UTC, to the years that RFC 3339 can write.
func inRange(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// clip shortens s to at most limit bytes, at a rune boundary, and marks it with an ellipsis.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
