package article

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/text/charset"
)

// MaxDepth is how deeply the JSON of an article may be nested.
const MaxDepth = MaxJSONDepth

// Fields maps the parts of an article to dotted paths in the JSON object.
type Fields struct {
	ID, Title, Content, PublishedAt, Source string
}

// The parts of an article, as they stand in jsonParser.paths.
const (
	idPart = iota
	titlePart
	contentPart
	sourcePart
	timePart
	parts // how many they are
)

// A jsonParser takes the parts of an article from the fields of an object.
type jsonParser struct {
	paths  [parts]JSONPath
	copies []JSONPath // of what results repeat
	space  []JSONPath // of what divides articles: one, or none
	all    []JSONPath // those of the parts, then the others as they stand here
}

// looking sets all, by what is to be looked for.
func (p *jsonParser) looking() *jsonParser {
	p.all = slices.Concat(p.paths[:], p.copies, p.space)
	return p
}

func newJSONParser(fields Fields) *jsonParser {
	p := jsonParser{paths: [parts]JSONPath{
		idPart:      NewJSONPath(fields.ID),
		titlePart:   NewJSONPath(fields.Title),
		contentPart: NewJSONPath(fields.Content),
		sourcePart:  NewJSONPath(fields.Source),
		timePart:    NewJSONPath(fields.PublishedAt),
	}}
	return p.looking()
}

func (p *jsonParser) parse(_ []byte, text charset.Text) (a Article, _ *Rejection) {
	value := text.UTF8
	if len(bytes.TrimSpace(value)) == 0 {
		return Article{}, reject(Empty, "the value is empty")
	}
	var few [parts + 4]gjson.Result // without allocation
	found := few[:]
	if len(p.all) > len(found) {
		found = make([]gjson.Result, len(p.all))
	}
	if !FindJSON(view(value), p.all, found) {
		return Article{}, noObject(value)
	}
	title, content := &found[titlePart], &found[contentPart]
	if title.Type != gjson.String && content.Type != gjson.String {
		return Article{}, p.nothing(value, title, content)
	}
	if absent(content) {
		a.note().Keys = keysOf(gjson.Parse(view(value)))
	}
	a.ID = p.id(&a, &found[idPart])
	a.Title, a.Content = p.text(&a, title, titlePart), p.text(&a, content, contentPart)
	a.Source = p.text(&a, &found[sourcePart], sourcePart)
	a.PublishedAt = p.time(&a, &found[timePart])
	others := found[parts:]
	if len(p.space) > 0 {
		a.Space = p.spaceOf(&a, &others[len(p.copies)])
	}
	if len(p.copies) > 0 {
		a.Copied = p.copied(&a, others[:len(p.copies)])
	}
	return a, nil
}

// noObject rejects a value that is no valid object, or one that is nested too deeply, and says
// which. No recursive parser sees one of these.
func noObject(value []byte) *Rejection {
	if JSONDepth(value) > MaxDepth {
		return reject(TooDeep, "the JSON is nested more than %d levels deep", MaxDepth)
	}
	if found := gjson.Parse(view(value)); !found.IsObject() && gjson.ValidBytes(value) {
		return reject(BadJSON, "the value is JSON, but %s, not an object", kind(found))
	}
	return reject(BadJSON, "the value is not valid JSON")
}

// nothing rejects an object in which there is nothing to read, and says what is there.
func (p *jsonParser) nothing(value []byte, title, content *gjson.Result) *Rejection {
	titleName, contentName := p.paths[titlePart].Name, p.paths[contentPart].Name
	switch {
	case !absent(content):
		return reject(BadField, "field %q is %s; it must be a string", contentName, kind(*content))
	case !absent(title):
		return reject(BadField, "field %q is %s; it must be a string", titleName, kind(*title))
	}
	return reject(Empty, "there is no field %q and no field %q with a value; there is %s",
		titleName, contentName, QuotedKeys(keysOf(gjson.Parse(view(value)))))
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

// absent reports whether a field is not there. Null is the same.
func absent(r *gjson.Result) bool { return r.Type == gjson.Null }

// text returns the string of a part, empty where there is none or it is of another type.
func (p *jsonParser) text(a *Article, r *gjson.Result, part int) string {
	if !absent(r) && r.Type != gjson.String {
		a.fallBack(part, wrongType, "field %q is %s, and not a string; the article goes without",
			p.paths[part].Name, kind(*r))
		return ""
	}
	return r.Str
}

// id returns the article's id, which many producers write as a number. Empty is none.
func (p *jsonParser) id(a *Article, r *gjson.Result) string {
	name := p.paths[idPart].Name
	id := r.Str
	switch {
	case absent(r):
		return ""
	case r.Type == gjson.Number:
		id = r.Raw
	case r.Type != gjson.String:
		a.fallBack(idPart, wrongType,
			"field %q is %s, and neither a string nor a number; the record's address is the id",
			name, kind(*r))
		return ""
	}
	if len(id) > MaxIDBytes {
		a.fallBack(idPart, tooLong,
			"field %q has %d bytes, and at most %d are allowed; the record's address is the id",
			name, len(id), MaxIDBytes)
		return ""
	}
	return id
}

// time returns when the article was published: a text that parseTime reads, or a Unix time. An
// empty string is no time, as null is.
func (p *jsonParser) time(a *Article, r *gjson.Result) (t time.Time) {
	var ok bool
	switch {
	case absent(r) || r.Type == gjson.String && strings.TrimSpace(r.Str) == "":
		return time.Time{}
	case r.Type == gjson.String:
		t, ok = parseTime(r.Str)
	case r.Type == gjson.Number:
		t, ok = unixTime(r.Raw)
	default:
		a.fallBack(timePart, wrongType,
			"field %q is %s, and no time, which is %s; the record's time counts",
			p.paths[timePart].Name, kind(*r), timeFormats)
		return time.Time{}
	}
	if !ok {
		a.fallBack(timePart, wrongFormat,
			"field %q is %s, which is no time or may be several: it must be %s; the record's time counts",
			p.paths[timePart].Name, clip(r.Raw, 40), timeFormats)
		return time.Time{}
	}
	return t
}
