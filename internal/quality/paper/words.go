package paper

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words divides a text into the units that edits are made of: runs of letters and digits, of
// Han characters no more than two at a time (most Chinese words have two), and each other
// character by itself. Joined, they are the text again. No dictionary is asked, so that no
// method is favoured by where words end.
func words(text string) []string {
	var all []string
	for len(text) > 0 {
		end := wordEnd(text)
		all = append(all, text[:end])
		text = text[end:]
	}
	return all
}

func wordEnd(text string) int {
	first, end := utf8.DecodeRuneInString(text)
	if !inWord(first) {
		return end
	}
	if unicode.Is(unicode.Han, first) {
		if second, size := utf8.DecodeRuneInString(text[end:]); unicode.Is(unicode.Han, second) {
			end += size
		}
		return end
	}
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !inWord(r) || unicode.Is(unicode.Han, r) {
			break
		}
		end += size
	}
	return end
}

// isWord reports whether a unit is a word, and not a mark or a space.
func isWord(unit string) bool {
	r, _ := utf8.DecodeRuneInString(unit)
	return inWord(r)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// spaced returns a word as it is written before another: with a space, unless it is of Han
// characters.
func spaced(word string) string {
	if last, _ := utf8.DecodeLastRuneInString(word); isWord(word) && !unicode.Is(unicode.Han, last) {
		return word + " "
	}
	return word
}

// sentences divides a text after the marks that end a sentence, with the closing marks and the
// space after them, and after line breaks. Joined, they are the text again.
func sentences(text string) []string {
	var all []string
	for len(text) > 0 {
		end := sentenceEnd(text)
		all = append(all, text[:end])
		text = text[end:]
	}
	return all
}

func sentenceEnd(text string) int {
	for i, r := range text {
		after := i + utf8.RuneLen(r)
		next := text[min(after, len(text)):]
		if r == '\n' || strings.ContainsRune("。！？；!?;", r) || r == '.' && strings.HasPrefix(next, " ") {
			rest := strings.TrimLeft(next, "。！？；!?;.”’」』》）\")' \n")
			return len(text) - len(rest)
		}
	}
	return len(text)
}
