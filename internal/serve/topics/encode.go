package topics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/text/charset"
)

// An Input is an article that is to be written to the input topic.
type Input struct {
	ID          string // may be empty
	Title       string // may be empty
	Content     string // may be empty
	Source      string // may be empty
	PublishedAt time.Time
	// Others are the other fields of the record, as JSON values by their names. A part of the article
	// goes before one of the same name.
	Others map[string][]byte
}

// An encoder writes records that an [article.Decoder] of the same settings reads as the article
// that they were made of. It is safe for concurrent use.
type encoder struct {
	format string
	fields article.Fields
	mark   bool // values need a byte order mark to be read as UTF-8
}

// newEncoder returns the encoder of a format, with the settings of [article.NewDecoder].
func newEncoder(format string, fields article.Fields, encoding string) (*encoder, error) {
	e, err := charset.Get(encoding)
	if err != nil {
		return nil, fmt.Errorf("input.encoding: %q: %w", encoding, err)
	}
	if format != article.JSON && format != article.Text {
		return nil, fmt.Errorf("input.format: %q is neither %s nor %s", format, article.JSON,
			article.Text)
	}
	name := e.String()
	return &encoder{format, fields, name != charset.UTF8 && name != charset.Auto}, nil
}

// encode returns the key and the value of a record. The key is the id, and nil where there is none.
// The error says what the format has no place for.
func (e *encoder) encode(in *Input) (key, value []byte, err error) {
	if in.ID != "" {
		key = []byte(in.ID)
	}
	if len(in.ID) > article.MaxIDBytes {
		return nil, nil, fmt.Errorf("the id has %d bytes, and at most %d are allowed", len(in.ID),
			article.MaxIDBytes)
	}
	if e.format == article.JSON {
		value, err = e.object(in)
		return key, e.marked(value), err
	}
	if in.Title != "" || in.Source != "" || !in.PublishedAt.IsZero() || len(in.Others) > 0 {
		return nil, nil, errors.New("input.format is text: an article has an id and a content, and " +
			"nothing else")
	}
	return e.marked(key), e.marked([]byte(in.Content)), nil
}

// marked begins text with a byte order mark where it would else be read as something other than
// UTF-8.
func (e *encoder) marked(text []byte) []byte {
	if text == nil || !e.mark && bytes.IndexByte(text, 0) < 0 {
		return text
	}
	return append([]byte("\ufeff"), text...)
}

// object writes the parts of the article where their fields are.
func (e *encoder) object(in *Input) ([]byte, error) {
	object := make(fieldsOf, len(in.Others)+5)
	for name, value := range in.Others {
		if !json.Valid(value) {
			return nil, fmt.Errorf("field %q is not valid JSON", name)
		}
		object[name] = value
	}
	published := ""
	if !in.PublishedAt.IsZero() {
		published = in.PublishedAt.UTC().Format(time.RFC3339Nano)
	}
	for _, part := range []struct{ path, value string }{
		{e.fields.ID, in.ID},
		{e.fields.Title, in.Title},
		{e.fields.Source, in.Source},
		{e.fields.PublishedAt, published},
		{e.fields.Content, in.Content},
	} {
		if part.value == "" {
			continue
		}
		value, err := encodeJSON(part.value)
		if err == nil {
			err = object.set(strings.Split(part.path, "."), value)
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", part.path, err)
		}
	}
	return encodeJSON(object)
}

// fieldsOf are the fields of an object, as JSON values.
type fieldsOf map[string]json.RawMessage

// set gives the field at a path a value, and makes the objects on the way.
func (f fieldsOf) set(path []string, value json.RawMessage) error {
	name := path[0]
	if len(path) == 1 {
		f[name] = value
		return nil
	}
	child := make(fieldsOf)
	if there := f[name]; there != nil {
		if err := json.Unmarshal(there, &child); err != nil || child == nil {
			return fmt.Errorf("%q is there already, and no object", name)
		}
	}
	if err := child.set(path[1:], value); err != nil {
		return err
	}
	encoded, err := encodeJSON(child)
	f[name] = encoded
	return err
}

// encodeJSON writes <, > and & as they are.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
