package article

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// appendStrings appends an array behind its beginning, and nothing of an empty one.
func appendStrings(dst []byte, start string, all []string) []byte {
	for i, s := range all {
		if i > 0 {
			start = ","
		}
		dst = appendString(append(dst, start...), s)
	}
	if len(all) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// appendDistance appends a number, most quickly a whole one, which bits are.
func appendDistance(dst []byte, d float64) []byte {
	if whole := int64(d); float64(whole) == d {
		return strconv.AppendInt(dst, whole, 10)
	}
	return strconv.AppendFloat(dst, d, 'f', -1, 64)
}

func appendTime(dst []byte, t time.Time) []byte {
	dst, err := t.AppendText(append(dst, '"'))
	if err != nil {
		panic("article: " + err.Error())
	}
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"

// asItIs says of a byte that it is a character which needs no escape.
var asItIs = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// appendString appends s as a JSON string, escaped as encoding/json does it: line separators too,
// which JavaScript once could not read.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		if asItIs[s[i]] {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r < utf8.RuneSelf || r == '\u2028' || r == '\u2029' || r == utf8.RuneError && n == 1 {
			dst = appendEscaped(append(dst, s[start:i]...), r)
			start = i + n
		}
		i += n
	}
	return append(append(dst, s[start:]...), '"')
}

// appendEscaped appends the escape of a rune; invalid UTF-8 is U+FFFD.
func appendEscaped(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	default:
		return append(dst, '\\', 'u',
			hexDigits[r>>12&0xF], hexDigits[r>>8&0xF], hexDigits[r>>4&0xF], hexDigits[r&0xF])
	}
}
