package article

import (
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/clusterd/clusterd/internal/text/charset"
)

// MaxIDBytes is how long an article's own id may be: it stands in every result.
const MaxIDBytes = 1024

// A Decoder makes articles of records. It is safe for concurrent use.
type Decoder interface {
	// Decode returns the article of the record with this key and value at this address, or says why it
	// is none. The article's strings may share memory with key and value, which must not be written to
	// while it is in use.
	//
	// A field that is not needed never costs the article: its [Notes] say what was wrong with it.
	Decode(key, value []byte, at Address) (Article, *Rejection)
}

// The formats of records that are text, in any encoding.
const (
	JSON = "json" // the value is an object, and its fields are the article's
	Text = "text" // the value is the content; the key, if any, is the id
)

// NewDecoder returns the decoder of a format. Fields say where the parts of an article are, if the
// format has fields; a value of more than maxBytes is rejected unread; the encoding is a name that
// [charset.Get] knows.
func NewDecoder(format string, fields Fields, maxBytes int, encoding string) (Decoder, error) {
	e, err := charset.Get(encoding)
	if err != nil {
		return nil, fmt.Errorf("input.encoding: %q: %w", encoding, err)
	}
	switch format {
	case JSON:
		return &textDecoder{newJSONParser(fields), maxBytes, e}, nil
	case Text:
		return &textDecoder{plainParser{e}, maxBytes, e}, nil
	}
	return nil, fmt.Errorf("input.format: %q is neither %s nor %s", format, JSON, Text)
}

// A parser makes articles of values that are text. An article without an id has none.
type parser interface {
	parse(key []byte, value charset.Text) (Article, *Rejection)
}

// A textDecoder bounds values and makes them UTF-8, whatever their format is.
type textDecoder struct {
	parser
	maxBytes int
	encoding *charset.Encoding
}

// Decode implements [Decoder].
func (d *textDecoder) Decode(key, value []byte, at Address) (Article, *Rejection) {
	switch {
	case value == nil:
		return Article{}, reject(NullValue, "the record has no value")
	case len(value) > d.maxBytes:
		return Article{}, reject(TooLarge, "the value is larger than input.max_bytes, %d bytes",
			d.maxBytes)
	}
	text := d.encoding.Text(value)
	if text.From != charset.UTF8 && len(text.UTF8) > d.maxBytes {
		return Article{}, reject(TooLarge,
			"the value, which is %s, is larger than input.max_bytes, %d bytes, in UTF-8",
			text.From, d.maxBytes)
	}
	a, rejection := d.parse(key, text)
	if rejection != nil {
		if text.From != charset.UTF8 {
			rejection.Reason += " (read as " + text.From + ")"
		}
		return Article{}, rejection
	}
	if text.From != charset.UTF8 {
		a.note().Encoding = text.From
	}
	if text.Invalid {
		a.note().Invalid = true
	}
	if a.ID == "" {
		a.ID = at.String()
	}
	return a, nil
}

// A plainParser takes the whole value for the content.
type plainParser struct{ encoding *charset.Encoding }

func (p plainParser) parse(key []byte, value charset.Text) (a Article, _ *Rejection) {
	if len(value.UTF8) == 0 {
		return Article{}, reject(Empty, "the value is empty")
	}
	a.ID, a.Content = view(p.key(key, value.From)), view(value.UTF8)
	if len(a.ID) > MaxIDBytes {
		a.fallBack(idPart, tooLong,
			"the key, which is the id, has %d bytes, and at most %d are allowed; the record's address is "+
				"the id",
			len(a.ID), MaxIDBytes)
		a.ID = ""
	}
	if c := value.UTF8; c[0] == '{' && c[len(c)-1] == '}' {
		a.note().LooksJSON = true
	}
	return a, nil
}

// key returns a key in UTF-8. It alone says little about its encoding: if it is not UTF-8, it is in
// that of the value.
func (p plainParser) key(key []byte, from string) []byte {
	if p.encoding.String() == charset.Auto && from != charset.UTF8 && !utf8.Valid(key) {
		if e, err := charset.Get(from); err == nil {
			return e.Text(key).UTF8
		}
	}
	return p.encoding.Text(key).UTF8
}

// view returns b as a string without a copy. So b must not be written to while the string is in
// use.
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
