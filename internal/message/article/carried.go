package article

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"
)

// Copied is what a result repeats of its input record: a JSON object without white space, of the
// dotted paths of fields and their values as they came. Empty is none.
type Copied string

// MarshalJSON writes the object.
func (c Copied) MarshalJSON() ([]byte, error) { return []byte(c), nil }

// UnmarshalJSON reads an object; null is none.
func (c *Copied) UnmarshalJSON(value []byte) error {
	if string(value) == "null" {
		*c = ""
		return nil
	}
	if value[0] != '{' {
		return fmt.Errorf("copied is %.40q, not an object", value)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return err
	}
	*c = Copied(b.String())
	return nil
}

// What is repeated at most, in bytes.
const (
	MaxCopiedValue = 1 << 10 // of the value of one field, as it came
	MaxCopied      = 4 << 10 // of the object, without white space
)

// Copying returns a decoder that also copies these fields, by their dotted paths, in this order.
// What is not there, or null, or longer than [MaxCopiedValue], or does not fit into [MaxCopied] any
// more, is left out. Records that are not JSON have no fields.
func Copying(d Decoder, fields []string) Decoder {
	text, ok := d.(*textDecoder)
	if !ok || len(fields) == 0 {
		return d
	}
	parser, ok := text.parser.(*jsonParser)
	if !ok {
		return d
	}
	copying := &jsonParser{paths: parser.paths, space: parser.space}
	for _, name := range fields {
		copying.copies = append(copying.copies, NewJSONPath(name))
	}
	return &textDecoder{copying.looking(), text.maxBytes, text.encoding}
}

// copied returns what a result repeats of the fields that were found.
func (p *jsonParser) copied(a *Article, found []gjson.Result) Copied {
	var out bytes.Buffer
	for i := range found {
		f, before := &found[i], out.Len()
		if absent(f) {
			continue
		}
		fits := len(f.Raw) <= MaxCopiedValue && appendField(&out, p.copies[i].Name, f.Raw) == nil &&
			out.Len() < MaxCopied
		if !fits {
			out.Truncate(before)
			a.note().leaveOut(copyField, tooLong, "field %q has %d bytes, and results repeat at most %d of "+
				"a field and %d of all; they go without it", p.copies[i].Name, len(f.Raw), MaxCopiedValue,
				MaxCopied)
		}
	}
	if out.Len() == 0 {
		return ""
	}
	out.WriteByte('}')
	return Copied(out.String())
}

// appendField appends a field to an object that is not closed yet, without the line breaks that its
// value may have.
func appendField(object *bytes.Buffer, name, value string) error {
	begin := byte(',')
	if object.Len() == 0 {
		begin = '{'
	}
	object.WriteByte(begin)
	object.Write(append(appendString(object.AvailableBuffer(), name), ':'))
	return json.Compact(object, []byte(value))
}
