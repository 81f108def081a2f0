package fold

import (
	"unicode"
	"unicode/utf8"
)

// MaxMarks is how many combining marks a letter of Latin, Cyrillic, Greek or Han may have: no
// language has more. Those of [Combining] are dropped before. The rest are marks of other
// scripts and of Cyrillic.
const MaxMarks = 2

// DropMarks drops the marks beyond MaxMarks on letters of those scripts in normalised text from
// text[from:] on, and returns the text. Letters of other scripts keep theirs.
func DropMarks(text []byte, from int) []byte {
	kept, marks, few := from, 0, false
	for at := from; at < len(text); {
		if text[at] < utf8.RuneSelf {
			marks, few = 0, isWordByte(text[at]) // a digit may become a letter
			text[kept] = text[at]
			kept++
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		if unicode.IsMark(r) {
			marks++
		} else {
			marks, few = 0, unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Han)
		}
		if !few || marks <= MaxMarks {
			kept += copy(text[kept:], text[at:at+size])
		}
		at += size
	}
	return text[:kept]
}
