package article

import (
	"bytes"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/charset"
)

// MaxDepth is how deeply the JSON of an article may be nested.
const MaxDepth = 64

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
	paths  [parts]path
	copies []path // of what results repeat
	space  []path // of what divides articles: one, or none
}

func newJSONParser(fields Fields) *jsonParser {
	return &jsonParser{paths: [parts]path{
		idPart:      newPath(fields.ID),
		titlePart:   newPath(fields.Title),
		contentPart: newPath(fields.Content),
		sourcePart:  newPath(fields.Source),
		timePart:    newPath(fields.PublishedAt),
	}}
}

// A path is a dotted path: as the user wrote it, and in the form gjson looks up. One that is a
// plain key needs no looking up.
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

func (p *jsonParser) parse(_ []byte, text charset.Text) (a Article, _ *Rejection) {
	value := text.UTF8
	if len(bytes.TrimSpace(value)) == 0 {
		return Article{}, reject(Empty, "the value is empty")
	}
	// The depth is bounded before any recursive decoder sees the value. Few brackets cannot nest
	// deeply.
	brackets := bytes.Count(value, []byte("{")) + bytes.Count(value, []byte("["))
	if brackets > MaxDepth && jsonDepth(value) > MaxDepth {
		return Article{}, reject(TooDeep, "the JSON is nested more than %d levels deep", MaxDepth)
	}
	if !gjson.ValidBytes(value) {
		return Article{}, reject(BadJSON, "the value is not valid JSON")
	}
	object := gjson.Parse(view(value))
	if !object.IsObject() {
		return Article{}, reject(BadJSON, "the value is JSON, but %s, not an object", kind(object))
	}

	found := p.find(object)
	title, content := &found[titlePart], &found[contentPart]
	if title.Type != gjson.String && content.Type != gjson.String {
		return Article{}, p.nothing(object, title, content)
	}
	if absent(content) {
		a.note().Keys = keysOf(object)
	}
	a.ID = p.id(&a, &found[idPart])
	a.Title, a.Content = p.text(&a, title, titlePart), p.text(&a, content, contentPart)
	a.Source = p.text(&a, &found[sourcePart], sourcePart)
	a.PublishedAt = p.time(&a, &found[timePart])
	if len(p.space) > 0 {
		a.Space = p.spaceOf(&a, object)
	}
	if len(p.copies) > 0 {
		a.Copied = p.copied(&a, object)
	}
	return a, nil
}

// nothing rejects an object in which there is nothing to read, and says what is there.
func (p *jsonParser) nothing(object gjson.Result, title, content *gjson.Result) *Rejection {
	titleName, contentName := p.paths[titlePart].name, p.paths[contentPart].name
	switch {
	case !absent(content):
		return reject(BadField, "field %q is %s; it must be a string", contentName, kind(*content))
	case !absent(title):
		return reject(BadField, "field %q is %s; it must be a string", titleName, kind(*title))
	}
	return reject(Empty, "there is no field %q and no field %q with a value; there is %s",
		titleName, contentName, QuotedKeys(keysOf(object)))
}

// find returns what stands at the paths of the parts.
func (p *jsonParser) find(object gjson.Result) (found [parts]gjson.Result) {
	lookUp(object, p.paths[:], found[:])
	return found
}

// lookUp sets found to what stands at the paths. Plain keys, which they nearly always are, take one
// pass for all. Where keys are double, the first counts.
func lookUp(object gjson.Result, paths []path, found []gjson.Result) {
	object.ForEach(func(key, value gjson.Result) bool {
		for i := range paths {
			if at := &paths[i]; at.plain && at.name == key.Str && !found[i].Exists() {
				found[i] = value
			}
		}
		return true
	})
	for i := range paths {
		if at := &paths[i]; !at.plain {
			found[i] = object.Get(at.query)
		}
	}
}

// jsonDepth returns the deepest nesting of objects and arrays in value, which need not be valid
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

// absent reports whether a field is not there. Null is the same.
func absent(r *gjson.Result) bool { return r.Type == gjson.Null }

// text returns the string of a part, empty where there is none or it is of another type.
func (p *jsonParser) text(a *Article, r *gjson.Result, part int) string {
	if !absent(r) && r.Type != gjson.String {
		a.fallBack(part, wrongType, "field %q is %s, and not a string; the article goes without",
			p.paths[part].name, kind(*r))
		return ""
	}
	return r.Str
}

// id returns the article's id, which many producers write as a number. Empty is none.
func (p *jsonParser) id(a *Article, r *gjson.Result) string {
	name := p.paths[idPart].name
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
			p.paths[timePart].name, kind(*r), timeFormats)
		return time.Time{}
	}
	if !ok {
		a.fallBack(timePart, wrongFormat,
			"field %q is %s, which is no time or may be several: it must be %s; the record's time counts",
			p.paths[timePart].name, clip(r.Raw, 40), timeFormats)
		return time.Time{}
	}
	return t
}
