package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxExcerptSource is how much of a text its excerpt may come from, in bytes.
const maxExcerptSource = 16 << 10

// Excerpt returns the first characters of s as a reader of it sees it, without markup, at most as
// many as limit says. White space between words is one blank each. What is behind the first 16 KiB
// of s is not looked at. The excerpt is a copy.
func Excerpt(s string, limit int) string {
	if len(s) > maxExcerptSource {
		end := maxExcerptSource
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	s = strings.TrimSpace(Plain(s))
	n, blank := 0, false
	for i, r := range s {
		if n == limit {
			s = s[:i]
			break
		}
		space := r == ' ' || (r < ' ' || r > '~') && unicode.IsSpace(r)
		if space && (blank || r != ' ') {
			return foldedExcerpt(s, limit)
		}
		blank = space
		n++
	}
	return strings.Clone(strings.TrimSuffix(s, " "))
}

// foldedExcerpt returns the first characters of s, in which white space is one blank each.
func foldedExcerpt(s string, limit int) string {
	var out strings.Builder
	n := 0
	for word := range strings.FieldsSeq(s) {
		if n > 0 {
			if n+1 >= limit {
				break
			}
			out.WriteByte(' ')
			n++
		}
		for i := range word {
			if n == limit {
				out.WriteString(word[:i])
				return out.String()
			}
			n++
		}
		out.WriteString(word)
	}
	return out.String()
}
