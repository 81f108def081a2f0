// Package printable keeps text that others wrote from steering a terminal, and from reading like
// something else than it is: what came from a topic, a file or a file's name goes through it on the
// way to people.
package printable

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns s with what is not to be shown as it is written the way Go does, \x1b or \u202e:
//
//   - control characters (C0, DEL, C1), line breaks and tabs among them, and U+2028 and U+2029;
//   - what turns the direction of text around (U+202A to U+202E, U+2066 to U+2069, U+200E, U+200F,
//     U+061C);
//   - characters that nobody sees, such as tags (U+E0020 to U+E007F), but for the joiners, without
//     which many an emoji and much of Persian and Hindi reads wrong;
//   - bytes that are no UTF-8.
func Text(s string) string {
	if !strings.ContainsFunc(s, isUnsafe) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16))
		case isUnsafe(r) && r != utf8.RuneError:
			b.WriteString(strings.Trim(strconv.QuoteToASCII(string(r)), `"`))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// isUnsafe reports whether a character is not to be shown. U+FFFD is one: it may stand for a byte
// that is no UTF-8.
func isUnsafe(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == zeroWidthNonJoiner || r == zeroWidthJoiner:
		return false
	}
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// JSON returns a writer that writes the same of JSON text to w, which stays the same JSON: within
// strings, where alone they can be, what Text does not show is written as \u202e. Line breaks and
// tabs between values stay. A character may come in two writes; at the end of the text none may be
// cut.
func JSON(w io.Writer) io.Writer { return &jsonWriter{to: w} }

type jsonWriter struct {
	to   io.Writer
	rest []byte // of a character that is not whole yet
	out  []byte
}

func (w *jsonWriter) Write(p []byte) (int, error) {
	text := append(w.rest, p...)
	w.out = w.out[:0]
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		if isUnsafe(r) && r != '\n' && r != '\r' && r != '\t' {
			w.out = appendEscaped(w.out, r)
		} else {
			w.out = append(w.out, text[:size]...)
		}
		text = text[size:]
	}
	w.rest = append([]byte(nil), text...)
	if _, err := w.to.Write(w.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func appendEscaped(dst []byte, r rune) []byte {
	units := utf16.AppendRune(nil, r)
	for _, u := range units {
		const digits = "0123456789abcdef"
		dst = append(dst, '\\', 'u', digits[u>>12], digits[u>>8&15], digits[u>>4&15], digits[u&15])
	}
	return dst
}
