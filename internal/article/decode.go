package article

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/charset"
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
	encoding *charset.Encoding
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

// NewDecoder makes a decoder for JSON objects whose parts are at the paths of fields, in any encoding that can be told.
// A value over maxBytes is rejected unread.
func NewDecoder(fields Fields, maxBytes int) *Decoder {
	return &Decoder{maxBytes: maxBytes, encoding: anyEncoding(), json: true, paths: [parts]path{
		idPart: newPath(fields.ID), titlePart: newPath(fields.Title), contentPart: newPath(fields.Content),
		sourcePart: newPath(fields.Source), timePart: newPath(fields.PublishedAt),
	}}
}

// NewTextDecoder makes a decoder for plain text: the value is the content, the key, if any,
// the id.
func NewTextDecoder(maxBytes int) *Decoder {
	return &Decoder{maxBytes: maxBytes, encoding: anyEncoding()}
}

// NewFormatDecoder makes the decoder of a format: json, whose parts are at the paths of fields, or text; of values in an
// encoding, a name that [charset.Get] knows.
func NewFormatDecoder(format string, fields Fields, maxBytes int, encoding string) (*Decoder, error) {
	e, err := charset.Get(encoding)
	if err != nil {
		return nil, fmt.Errorf("input.encoding: %q: %w", encoding, err)
	}
	if format == "text" {
		return NewTextDecoder(maxBytes).In(e), nil
	}
	return NewDecoder(fields, maxBytes).In(e), nil
}

// In makes the decoder one of values in an encoding, and returns it.
func (d *Decoder) In(e *charset.Encoding) *Decoder {
	d.encoding = e
	return d
}

func anyEncoding() *charset.Encoding {
	e, err := charset.Get(charset.Auto)
	if err != nil {
		panic(err) // it is a name
	}
	return e
}

// Decode makes an article of the record with this key and value at this address. The error is
// always a *[Rejection]. The article's strings may share memory with key and value, which must not be written to
// while it is in use.
//
// A field that is not needed never costs the article: its [Notes] say what was wrong with it.
func (d *Decoder) Decode(key, value []byte, at Address) (Article, error) {
	switch {
	case value == nil:
		return Article{}, reject(NullValue, "the record has no value")
	case len(value) > d.maxBytes:
		return Article{}, reject(TooLarge, "the value is larger than input.max_bytes, %d bytes", d.maxBytes)
	}
	text := d.encoding.Text(value)
	if text.From != charset.UTF8 && len(text.UTF8) > d.maxBytes {
		return Article{}, reject(TooLarge, "the value, which is %s, is larger than input.max_bytes, %d bytes, in UTF-8", text.From, d.maxBytes)
	}
	var a Article
	if text.From != charset.UTF8 {
		a.note().Encoding = text.From
	}
	if text.Invalid {
		a.note().Invalid = true
	}
	var err *Rejection
	if d.json {
		err = d.decodeJSON(&a, text.UTF8)
	} else {
		err = d.decodeText(&a, key, text)
	}
	if err != nil {
		if text.From != charset.UTF8 {
			err.Reason += " (read as " + text.From + ")"
		}
		return Article{}, err
	}
	if a.ID == "" {
		a.ID = at.String()
	}
	return a, nil
}

func (d *Decoder) decodeText(a *Article, key []byte, text charset.Text) *Rejection {
	if len(text.UTF8) == 0 {
		return reject(Empty, "the value is empty")
	}
	a.ID, a.Content = view(d.key(key, text.From)), view(text.UTF8)
	if len(a.ID) > MaxIDBytes {
		a.fallBack(idPart, tooLong, "the key, which is the id, has %d bytes, and at most %d are allowed; the record's address is the id", len(a.ID), MaxIDBytes)
		a.ID = ""
	}
	if c := text.UTF8; c[0] == '{' && c[len(c)-1] == '}' {
		a.note().LooksJSON = true
	}
	return nil
}

// key reads a key, which alone says little about its encoding: if it is not UTF-8, it is in that of the value.
func (d *Decoder) key(key []byte, from string) []byte {
	if d.encoding.String() == charset.Auto && from != charset.UTF8 && !utf8.Valid(key) {
		if e, err := charset.Get(from); err == nil {
			return e.Text(key).UTF8
		}
	}
	return d.encoding.Text(key).UTF8
}

func (d *Decoder) decodeJSON(a *Article, value []byte) *Rejection {
	if len(bytes.TrimSpace(value)) == 0 {
		return reject(Empty, "the value is empty")
	}
	// The depth is bounded before any recursive decoder sees the value. Few brackets cannot nest deeply.
	if brackets := bytes.Count(value, []byte("{")) + bytes.Count(value, []byte("[")); brackets > MaxDepth && jsonDepth(value) > MaxDepth {
		return reject(TooDeep, "the JSON is nested more than %d levels deep", MaxDepth)
	}
	if !gjson.ValidBytes(value) {
		return reject(BadJSON, "the value is not valid JSON")
	}
	object := gjson.Parse(view(value))
	if !object.IsObject() {
		return reject(BadJSON, "the value is JSON, but %s, not an object", kind(object))
	}

	found := d.find(object)
	title, content := &found[titlePart], &found[contentPart]
	if title.Type != gjson.String && content.Type != gjson.String {
		return d.nothing(object, title, content)
	}
	if absent(content) {
		a.note().Keys = keysOf(object)
	}
	a.ID = d.id(a, &found[idPart])
	a.Title, a.Content = d.text(a, title, titlePart), d.text(a, content, contentPart)
	a.Source = d.text(a, &found[sourcePart], sourcePart)
	a.PublishedAt = d.time(a, &found[timePart])
	return nil
}

// nothing rejects an object in which there is nothing to read, and says what is there.
func (d *Decoder) nothing(object gjson.Result, title, content *gjson.Result) *Rejection {
	titleName, contentName := d.paths[titlePart].name, d.paths[contentPart].name
	switch {
	case !absent(content):
		return reject(BadField, "field %q is %s; it must be a string", contentName, kind(*content))
	case !absent(title):
		return reject(BadField, "field %q is %s; it must be a string", titleName, kind(*title))
	}
	return reject(Empty, "there is no field %q and no field %q with a value; there is %s", titleName, contentName, quoted(keysOf(object)))
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

// text is the string of a part, empty where there is none or it is of another type.
func (d *Decoder) text(a *Article, r *gjson.Result, part int) string {
	if !absent(r) && r.Type != gjson.String {
		a.fallBack(part, wrongType, "field %q is %s, and not a string; the article goes without", d.paths[part].name, kind(*r))
		return ""
	}
	return r.Str
}

// id is the article's id, which many producers write as a number. Empty is none.
func (d *Decoder) id(a *Article, r *gjson.Result) string {
	name := d.paths[idPart].name
	id := r.Str
	switch {
	case absent(r):
		return ""
	case r.Type == gjson.Number:
		id = r.Raw
	case r.Type != gjson.String:
		a.fallBack(idPart, wrongType, "field %q is %s, and neither a string nor a number; the record's address is the id", name, kind(*r))
		return ""
	}
	if len(id) > MaxIDBytes {
		a.fallBack(idPart, tooLong, "field %q has %d bytes, and at most %d are allowed; the record's address is the id", name, len(id), MaxIDBytes)
		return ""
	}
	return id
}

// time is when the article was published: a text that parseTime reads, or a Unix time. An empty string is no time, as
// null is.
func (d *Decoder) time(a *Article, r *gjson.Result) (t time.Time) {
	ok := true
	switch {
	case absent(r) || r.Type == gjson.String && strings.TrimSpace(r.Str) == "":
		return time.Time{}
	case r.Type == gjson.String:
		t, ok = parseTime(r.Str)
	case r.Type == gjson.Number:
		t, ok = unixTime(r.Raw)
	default:
		a.fallBack(timePart, wrongType, "field %q is %s, and no time, which is %s; the record's time counts", d.paths[timePart].name, kind(*r), timeFormats)
		return time.Time{}
	}
	if !ok {
		a.fallBack(timePart, wrongFormat, "field %q is %s, which is no time or may be several: it must be %s; the record's time counts",
			d.paths[timePart].name, clip(r.Raw, 40), timeFormats)
		return time.Time{}
	}
	return t
}

// view is b as a string without a copy, which is most of what decoding once cost. So b must not be
// written to while the string is in use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

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
