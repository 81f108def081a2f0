package cli

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Wrap breaks a text between words, so that no line is wider than a number of cells. A word that is
// wider, such as a path, stays whole: somebody may want to copy it.
func Wrap(text string, width int) (lines []string) {
	var line strings.Builder
	used := 0
	for word := range strings.FieldsSeq(text) {
		n := uniseg.StringWidth(word)
		if used > 0 && used+1+n > width {
			lines = append(lines, line.String())
			line.Reset()
			used = 0
		}
		if used > 0 {
			line.WriteByte(' ')
			used++
		}
		line.WriteString(word)
		used += n
	}
	return append(lines, line.String())
}
