// Package cli is what all verbs share that talk to people: the width and the colours of a terminal,
// the layout of help, the completion of a shell, and the version. The packages below it are one
// verb each, or a family of verbs.
package cli

import (
	"os"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// Colours of what follows.
const (
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Cyan   = "\x1b[36m"
	Yellow = "\x1b[33m"
	Faint  = "\x1b[2m"
	Plain  = "\x1b[0m"
)

// ClearLine takes away what the line has, and begins it anew.
const ClearLine = "\r\x1b[2K"

// IsTerminal reports whether f, a reader or a writer, is a terminal that a person looks at.
func IsTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// HasColours reports whether f is a terminal, and the user has nothing against colours: see
// no-color.org.
func HasColours(f any) bool { return IsTerminal(f) && os.Getenv("NO_COLOR") == "" }

// Width returns how many cells a line of f has, or otherwise where that is not known.
func Width(f any, otherwise int) int {
	file, ok := f.(*os.File)
	if !ok {
		return otherwise
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width <= 0 {
		return otherwise
	}
	return width
}

// Fit returns text cut to a width in cells: a Chinese character takes two.
func Fit(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0
	for graphemes := uniseg.NewGraphemes(text); graphemes.Next(); {
		if used+graphemes.Width() > width-1 {
			break
		}
		used += graphemes.Width()
		b.WriteString(graphemes.Str())
	}
	return b.String() + "…"
}
