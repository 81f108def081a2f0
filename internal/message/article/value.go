package article

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// result returns a value that is written as raw, without its number.
func result(raw string, escaped bool) gjson.Result {
	r := gjson.Result{Raw: raw}
	switch raw[0] {
	case '"':
		r.Type, r.Str = gjson.String, content(raw, escaped)
	case '{', '[':
		r.Type = gjson.JSON
	case 't':
		r.Type = gjson.True
	case 'f':
		r.Type = gjson.False
	case 'n':
		r.Type = gjson.Null
	default:
		r.Type = gjson.Number
	}
	return r
}

// content returns what a string says that is written as raw. Half a surrogate pair is U+FFFD, with
// the \u that follows it if that is no other half.
func content(raw string, escaped bool) string {
	rest := raw[1 : len(raw)-1]
	if !escaped {
		return rest
	}
	var b strings.Builder
	b.Grow(len(rest))
	for rest != "" {
		if rest[0] != '\\' {
			before := strings.IndexByte(rest, '\\')
			if before < 0 {
				before = len(rest)
			}
			b.WriteString(rest[:before])
			rest = rest[before:]
			continue
		}
		letter := rest[1]
		if rest = rest[2:]; letter != 'u' {
			b.WriteByte(escapes[letter])
			continue
		}
		r := codeUnit(rest)
		if rest = rest[4:]; utf16.IsSurrogate(r) {
			other := rune(utf8.RuneError)
			if strings.HasPrefix(rest, `\u`) {
				other, rest = codeUnit(rest[2:]), rest[6:]
			}
			r = utf16.DecodeRune(r, other)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// escapes are the characters that a backslash and a letter stand for.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// codeUnit returns the UTF-16 code unit that four hexadecimal digits begin s with.
func codeUnit(s string) rune {
	return rune(hex[s[0]])<<12 | rune(hex[s[1]])<<8 | rune(hex[s[2]])<<4 | rune(hex[s[3]])
}

// hex are the values of hexadecimal digits, and noDigit of what is none.
var hex = func() (values [256]uint8) {
	for c := range values {
		values[c] = noDigit
		if at := strings.IndexByte("0123456789abcdef", byte(c)|' '); at >= 0 && c >= '0' {
			values[c] = uint8(at)
		}
	}
	return values
}()

const noDigit = 0xFF
