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
	var out strings.Builder
	out.Grow(min(len(s), limit*utf8.UTFMax))
	blank := ""
	for _, r := range Plain(s) {
		if unicode.IsSpace(r) {
			if out.Len() > 0 {
				blank = " "
			}
			continue
		}
		if limit -= len(blank) + 1; limit < 0 {
			break
		}
		out.WriteString(blank)
		out.WriteRune(r)
		blank = ""
	}
	return out.String()
}
