package article

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// Notes say what was odd about a record that is an article all the same.
type Notes struct {
	// Encoding is what the text was in; empty for UTF-8.
	Encoding string
	// Invalid is whether there were bytes that are no character; U+FFFD stands for them.
	Invalid bool
	// Fallbacks are the fields that could not be used.
	Fallbacks []Fallback
	// Keys are those of an object without content, as dotted paths; not nil then.
	Keys []string
	// LooksJSON is whether a plain text looks like a JSON object.
	LooksJSON bool
}

// A Fallback is a field that could not be used. The article goes on without it.
type Fallback struct {
	// Field is the part of an article: id, title, content, source or published_at; copy, headers or
	// space.
	Field  string
	Reason string // type, format or too_long
	Detail string // for a person: what was there, and what stands in for it
}

// The reasons of fallbacks.
const (
	wrongType   = "type"
	wrongFormat = "format"
	tooLong     = "too_long"
)

// EachFallback calls for every field and every reason that it may have.
func EachFallback(call func(field, reason string)) {
	for _, p := range partNames() {
		call(p, wrongType)
	}
	call(partNames()[idPart], tooLong)
	call(partNames()[timePart], wrongFormat)
	call(copyField, tooLong)
	call(headersField, tooLong)
	call(spaceField, wrongType)
	call(spaceField, tooLong)
}

// What results repeat of a record, where it is too long for that.
const (
	copyField    = "copy"
	headersField = "headers"
)

// partNames returns the names of the parts, as the configuration has them.
func partNames() [parts]string {
	return [parts]string{
		idPart: "id", titlePart: "title", contentPart: "content",
		sourcePart: "source", timePart: "published_at",
	}
}

// note returns the notes of an article. In most cases it makes them: there are none yet.
func (a *Article) note() *Notes {
	if a.Notes == nil {
		a.Notes = &Notes{}
	}
	return a.Notes
}

// ReadFrom notes that the article's record, which stands here in UTF-8, was in another encoding.
func (a *Article) ReadFrom(encoding string, value []byte) {
	n := a.note()
	n.Encoding, n.Invalid = encoding, n.Invalid || bytes.Contains(value, []byte("\uFFFD"))
}

func (a *Article) fallBack(part int, reason, format string, args ...any) {
	a.note().leaveOut(partNames()[part], reason, format, args...)
}

func (n *Notes) leaveOut(field, reason, format string, args ...any) {
	n.Fallbacks = append(n.Fallbacks, Fallback{field, reason, fmt.Sprintf(format, args...)})
}

// WithoutHeaders adds to notes, nil for none, why a result goes without headers of its record.
func WithoutHeaders(n *Notes, format string, args ...any) *Notes {
	if n == nil {
		n = &Notes{}
	}
	n.leaveOut(headersField, tooLong, format, args...)
	return n
}

const (
	maxKeys     = 20
	maxKeyBytes = 60
	maxKeyDepth = 4
)

// keysOf returns the first keys of an object, with those of objects within it as dotted paths, and
// an ellipsis if there are more.
func keysOf(object gjson.Result) []string { return appendKeys([]string{}, "", object, 1) }

func appendKeys(keys []string, prefix string, object gjson.Result, depth int) []string {
	object.ForEach(func(key, value gjson.Result) bool {
		if len(keys) >= maxKeys {
			if len(keys) == maxKeys {
				keys = append(keys, "…")
			}
			return false
		}
		path := prefix + key.Str
		if value.IsObject() && depth < maxKeyDepth && len(path) < maxKeyBytes {
			keys = appendKeys(keys, path+".", value, depth+1)
		} else {
			keys = append(keys, clip(strings.Clone(path), maxKeyBytes))
		}
		return true
	})
	return keys
}

// QuotedKeys lists keys for a person, with what could steer a terminal escaped.
func QuotedKeys(keys []string) string {
	if len(keys) == 0 {
		return "no key at all"
	}
	all := make([]string, len(keys))
	for i, k := range keys {
		if all[i] = fmt.Sprintf("%q", k); k == "…" {
			all[i] = k
		}
	}
	return strings.Join(all, ", ")
}
