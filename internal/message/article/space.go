package article

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// MaxSpaceBytes is how long the value may be by which it is told apart what is compared.
const MaxSpaceBytes = 256

// spaceField is the name of that value among what could not be used of a record.
const spaceField = "space"

// spaceHeader is what a field begins with that is a header of the record.
const spaceHeader = "header:"

// SpaceHeader returns the name of the header that a field is, and whether it is one.
func SpaceHeader(field string) (name string, ok bool) {
	return strings.CutPrefix(field, spaceHeader)
}

// ByField returns a decoder that also takes the Space of articles from the field at a dotted path.
// An empty path and one that is a header are none. Records that are not JSON have no fields.
func ByField(d Decoder, field string) Decoder {
	text, ok := d.(*textDecoder)
	if _, header := SpaceHeader(field); !ok || header || field == "" {
		return d
	}
	parser, ok := text.parser.(*jsonParser)
	if !ok {
		return d
	}
	dividing := *parser
	dividing.space = []JSONPath{NewJSONPath(field)}
	return &textDecoder{dividing.looking(), text.maxBytes, text.encoding}
}

// spaceOf returns the value that a field has: a string, or a number or boolean as it is written.
// Where there is none, or it is null, of another type or too long, the value is empty.
func (p *jsonParser) spaceOf(a *Article, r *gjson.Result) string {
	value := r.Str
	switch {
	case absent(r):
		return ""
	case r.Type == gjson.Number || r.IsBool():
		value = r.Raw
	case r.Type != gjson.String:
		a.note().leaveOut(spaceField, wrongType, "field %q is %s, and neither a string, a number nor a "+
			"boolean; the article goes to the space without a value", p.space[0].Name, kind(*r))
		return ""
	}
	if len(value) > MaxSpaceBytes {
		a.note().leaveOut(spaceField, tooLong, "field %q has %d bytes, and at most %d are allowed; the "+
			"article goes to the space without a value", p.space[0].Name, len(value), MaxSpaceBytes)
		return ""
	}
	return value
}

// SpaceOfHeader returns the value that a header has, and adds to notes, nil for none, why that of a
// longer one, or one that is not UTF-8, is empty.
func SpaceOfHeader(n *Notes, name string, value []byte) (string, *Notes) {
	if len(value) <= MaxSpaceBytes && utf8.Valid(value) {
		return string(value), n
	}
	if n == nil {
		n = &Notes{}
	}
	if len(value) > MaxSpaceBytes {
		n.leaveOut(spaceField, tooLong, "header %q has %d bytes, and at most %d are allowed; the "+
			"article goes to the space without a value", name, len(value), MaxSpaceBytes)
	} else {
		n.leaveOut(spaceField, wrongType, "header %q is not UTF-8; the article goes to the space "+
			"without a value", name)
	}
	return "", n
}
