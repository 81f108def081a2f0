package article

import (
	"math/bits"
	"strings"

	"github.com/tidwall/gjson"
)

// A scan is one pass over a text that may be JSON. It checks all of the text.
type scan struct{ text string }

// object reports whether the text is valid JSON, an object, and nested at most [MaxJSONDepth]
// levels deep, and sets found to what stands at the paths that are plain keys.
func (s *scan) object(paths []JSONPath, found []gjson.Result) (ok bool) {
	begin := s.space(0)
	if !s.has('{', begin) {
		return false
	}
	end := s.members(begin+1, 1, paths, found)
	return end >= 0 && s.space(end) == len(s.text)
}

// has reports whether c stands at i.
func (s *scan) has(c byte, i int) bool { return i < len(s.text) && s.text[i] == c }

// space returns where the white space at i ends.
func (s *scan) space(i int) int {
	for i < len(s.text) && s.text[i] <= ' ' && strings.IndexByte(" \t\n\r", s.text[i]) >= 0 {
		i++
	}
	return i
}

// members returns where an object at so many levels ends whose members begin at i, or -1 where it
// does not. It sets found to those that stand at the paths.
func (s *scan) members(i, depth int, paths []JSONPath, found []gjson.Result) (end int) {
	if i = s.space(i); s.has('}', i) {
		return i + 1
	}
	for s.has('"', i) {
		keyEnd, inKey := s.string(i)
		if keyEnd < 0 {
			return -1
		}
		colon := s.space(keyEnd)
		if !s.has(':', colon) {
			return -1
		}
		value := s.space(colon + 1)
		valueEnd, inValue := s.value(value, depth)
		if valueEnd < 0 {
			return -1
		}
		if len(paths) > 0 {
			take(content(s.text[i:keyEnd], inKey), s.text[value:valueEnd], inValue, paths, found)
		}
		switch i = s.space(valueEnd); {
		case s.has('}', i):
			return i + 1
		case !s.has(',', i):
			return -1
		}
		i = s.space(i + 1)
	}
	return -1
}

// elements does for an array what members does for an object.
func (s *scan) elements(i, depth int) (end int) {
	if i = s.space(i); s.has(']', i) {
		return i + 1
	}
	for {
		if i, _ = s.value(i, depth); i < 0 {
			return -1
		}
		switch i = s.space(i); {
		case s.has(']', i):
			return i + 1
		case !s.has(',', i):
			return -1
		}
		i = s.space(i + 1)
	}
}

// value returns where the value at i ends, which is in so many levels, or -1 where there is none.
// Of a string it says whether there are escapes in it.
func (s *scan) value(i, depth int) (end int, escaped bool) {
	if i == len(s.text) {
		return -1, false
	}
	switch c := s.text[i]; c {
	case '"':
		return s.string(i)
	case '{', '[':
		if depth == MaxJSONDepth {
			return -1, false
		}
		if c == '{' {
			return s.members(i+1, depth+1, nil, nil), false
		}
		return s.elements(i+1, depth+1), false
	case 't':
		return s.literal(i, "true"), false
	case 'f':
		return s.literal(i, "false"), false
	case 'n':
		return s.literal(i, "null"), false
	}
	return s.number(i), false
}

func (s *scan) literal(i int, word string) (end int) {
	if strings.HasPrefix(s.text[i:], word) {
		return i + len(word)
	}
	return -1
}

func (s *scan) number(i int) (end int) {
	if s.has('-', i) {
		i++
	}
	if s.has('0', i) {
		i++
	} else if i = s.digits(i); i < 0 {
		return -1
	}
	if s.has('.', i) {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if !s.has('e', i) && !s.has('E', i) {
		return i
	}
	if i++; s.has('+', i) || s.has('-', i) {
		i++
	}
	return s.digits(i)
}

// digits returns where the digits at i end, or -1 where there is none.
func (s *scan) digits(i int) (end int) {
	for end = i; end < len(s.text) && '0' <= s.text[end] && s.text[end] <= '9'; end++ {
	}
	if end == i {
		return -1
	}
	return end
}

// string returns where the string ends whose quotation mark stands at i, or -1, and whether there
// are escapes in it.
func (s *scan) string(i int) (end int, escaped bool) {
	for i = s.plain(i + 1); i < len(s.text); i = s.plain(i) {
		switch s.text[i] {
		case '"':
			return i + 1, escaped
		case '\\':
			if i = s.escape(i + 1); i < 0 {
				return -1, escaped
			}
			escaped = true
		default:
			return -1, escaped
		}
	}
	return -1, escaped
}

// plain returns the first place from i on where a quotation mark stands, a backslash or a control
// character.
func (s *scan) plain(i int) int {
	const each = 0x0101010101010101 // times a byte: that byte eight times
	for ; len(s.text)-i >= 8; i += 8 {
		t := s.text[i : i+8]
		eight := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
			uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
		// The high bit of a byte tells that it is one of them, or that a byte before it is.
		quote, backslash := eight^each*'"', eight^each*'\\'
		special := (eight-each*' ')&^eight | (quote-each)&^quote | (backslash-each)&^backslash
		if special &= each * 0x80; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for i < len(s.text) && s.text[i] >= ' ' && s.text[i] != '"' && s.text[i] != '\\' {
		i++
	}
	return i
}

// escape returns where the escape ends of which the letter stands at i, or -1.
func (s *scan) escape(i int) (end int) {
	if i == len(s.text) {
		return -1
	}
	if s.text[i] != 'u' {
		if escapes[s.text[i]] == 0 {
			return -1
		}
		return i + 1
	}
	if i++; len(s.text)-i < 4 {
		return -1
	}
	four := s.text[i : i+4]
	if hex[four[0]]|hex[four[1]]|hex[four[2]]|hex[four[3]] == noDigit {
		return -1
	}
	return i + 4
}

// take sets found to a value where its key is one of the paths, and the first such.
func take(key, raw string, escaped bool, paths []JSONPath, found []gjson.Result) {
	for i := range paths {
		if at := &paths[i]; at.plain && at.Name == key && !found[i].Exists() {
			found[i] = result(raw, escaped)
		}
	}
}
