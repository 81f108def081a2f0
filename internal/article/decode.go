package article

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

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

// The parts of an article, as they stand in Decoder.paths.
const (
	idPart = iota
	titlePart
	contentPart
	sourcePart
	timePart
	parts // how many they are
)

// Decoder makes articles of record values. It is safe for concurrent use.
type Decoder struct {
	maxBytes int
	json     bool
	paths    [parts]path
}

// path is a dotted path: as the user wrote it, and in the form gjson looks up. One that is a plain key needs
// no looking up.
type path struct {
	name, query string
	plain       bool
}

func newPath(name string) path {
	components := strings.Split(name, ".")
	for i, c := range components {
		components[i] = gjson.Escape(c)
	}
	return path{name: name, query: strings.Join(components, "."), plain: len(components) == 1}
}

// NewDecoder makes a decoder for JSON objects whose parts are at the paths of fields. A value
// over maxBytes is rejected unread.
func NewDecoder(fields Fields, maxBytes int) *Decoder {
	return &Decoder{maxBytes: maxBytes, json: true, paths: [parts]path{
		idPart: newPath(fields.ID), titlePart: newPath(fields.Title), contentPart: newPath(fields.Content),
		sourcePart: newPath(fields.Source), timePart: newPath(fields.PublishedAt),
	}}
}

// NewTextDecoder makes a decoder for plain text: the value is the content, the key, if any,
// the id.
func NewTextDecoder(maxBytes int) *Decoder { return &Decoder{maxBytes: maxBytes} }

// NewFormatDecoder makes the decoder of a format: json, whose parts are at the paths of fields, or text.
func NewFormatDecoder(format string, fields Fields, maxBytes int) *Decoder {
	if format == "text" {
		return NewTextDecoder(maxBytes)
	}
	return NewDecoder(fields, maxBytes)
}

// Decode makes an article of the record with this key and value at this address. The error is
// always a *[Rejection]. Invalid UTF-8 becomes U+FFFD. The article's strings share memory with key
// and value, which must not be written to while it is in use.
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
	a := Article{ID: validUTF8(view(key)), Content: validUTF8(view(value))}
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
	// The depth is bounded before any recursive decoder sees the value. Few brackets cannot nest deeply.
	if brackets := bytes.Count(value, []byte("{")) + bytes.Count(value, []byte("[")); brackets > MaxDepth && jsonDepth(value) > MaxDepth {
		return Article{}, reject(TooDeep, "the JSON is nested more than %d levels deep", MaxDepth)
	}
	if !gjson.ValidBytes(value) {
		return Article{}, reject(BadJSON, "the value is not valid JSON")
	}
	object := gjson.Parse(view(value))
	if !object.IsObject() {
		return Article{}, reject(BadJSON, "the value is JSON, but %s, not an object", kind(object))
	}

	found := d.find(object)
	var a Article
	var err error
	if a.ID, err = d.id(&found[idPart]); err != nil {
		return Article{}, err
	}
	title, content := &found[titlePart], &found[contentPart]
	if a.Title, err = d.text(title, titlePart); err != nil {
		return Article{}, err
	}
	if a.Content, err = d.text(content, contentPart); err != nil {
		return Article{}, err
	}
	if absent(title) && absent(content) {
		return Article{}, reject(Empty, "there is no field %q and no field %q", d.paths[titlePart].name, d.paths[contentPart].name)
	}
	if a.Source, err = d.text(&found[sourcePart], sourcePart); err != nil {
		return Article{}, err
	}
	if a.PublishedAt, err = d.time(&found[timePart]); err != nil {
		return Article{}, err
	}
	if a.ID == "" {
		a.ID = at.String()
	}
	return a, nil
}

// find returns what stands at the paths. Plain keys, which they nearly always are, take one pass for all.
// Where keys are double, the first counts.
func (d *Decoder) find(object gjson.Result) (found [parts]gjson.Result) {
	object.ForEach(func(key, value gjson.Result) bool {
		for i := range d.paths {
			if p := &d.paths[i]; p.plain && p.name == key.Str && !found[i].Exists() {
				found[i] = value
			}
		}
		return true
	})
	for i := range d.paths {
		if p := &d.paths[i]; !p.plain {
			found[i] = object.Get(p.query)
		}
	}
	return found
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

// An absent field and null are the same.
func absent(r *gjson.Result) bool { return r.Type == gjson.Null }

// text is the string of a part, empty where there is none.
func (d *Decoder) text(r *gjson.Result, part int) (string, error) {
	switch {
	case absent(r):
		return "", nil
	case r.Type == gjson.String:
		return validUTF8(r.Str), nil
	default:
		return "", reject(BadField, "field %q is %s; it must be a string", d.paths[part].name, kind(*r))
	}
}

// id is the article's id, which many producers write as a number.
func (d *Decoder) id(r *gjson.Result) (string, error) {
	name := d.paths[idPart].name
	var id string
	switch {
	case absent(r):
		return "", nil
	case r.Type == gjson.String:
		id = validUTF8(r.Str)
	case r.Type == gjson.Number:
		id = r.Raw
	default:
		return "", reject(BadField, "field %q is %s; it must be a string or a number", name, kind(*r))
	}
	if len(id) > MaxIDBytes {
		return "", reject(BadField, "field %q has %d bytes; at most %d are allowed", name, len(id), MaxIDBytes)
	}
	return id, nil
}

const timeFormats = "RFC 3339 (2006-01-02T15:04:05Z), or Unix seconds or milliseconds"

// time is when the article was published: a text that parseTime reads, or a number of seconds or
// milliseconds since 1970. An empty string is no time, as null is.
func (d *Decoder) time(r *gjson.Result) (t time.Time, err error) {
	name := d.paths[timePart].name
	var ok bool
	switch {
	case absent(r) || r.Type == gjson.String && r.Str == "":
		return time.Time{}, nil
	case r.Type == gjson.String:
		t, ok = parseTime(r.Str)
	case r.Type == gjson.Number:
		t, ok = unixTime(r.Raw)
	default:
		return time.Time{}, reject(BadField, "field %q is %s; a time is %s", name, kind(*r), timeFormats)
	}
	if !ok {
		return time.Time{}, reject(BadField, "field %q is %s, which is no time: it must be %s", name, clip(validUTF8(r.Raw), 40), timeFormats)
	}
	return t, nil
}

// parseTime reads RFC 3339, and the same without a zone, which many programs write and which is taken as
// UTC, with a T or a space after the date; or a number of seconds or milliseconds. What stands after the
// date tells which.
func parseTime(s string) (time.Time, bool) {
	const date = len(time.DateOnly)
	if len(s) <= date || s[date] != 'T' && s[date] != ' ' {
		return unixTime(s)
	}
	layouts := []string{time.RFC3339, "2006-01-02T15:04:05"}
	if s[date] == ' ' {
		layouts = []string{time.DateTime}
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			t = t.UTC()
			return t, inRange(t)
		}
	}
	return time.Time{}, false
}

// unixTime reads a number of seconds or milliseconds since 1970. One of 1e11 and more is milliseconds: as
// seconds it would be past the year 5138.
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

// view is b as a string without a copy, which is most of what decoding once cost. So b must not be
// written to while the string is in use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func validUTF8(s string) string {
	if utf8.ValidString(s) { // twice as fast as what finds the place
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

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
