package text

import (
	"iter"
	"unicode"
	"unicode/utf8"

	"github.com/go-ego/gse"
)

// maxRun bounds a run in bytes. gse sums the cost of a path in a float32, which
// loses word boundaries from about 64 KiB of unbroken text on; and what it
// allocates at once is tens of times the run's length.
const maxRun = 16 << 10

// runs yields the stretches of s between punctuation, symbols, white space and
// control characters, cut at the boundary of a character where one is longer
// than maxRun bytes.
//
// No word crosses such a place: of the 352,275 words in gse's dictionary only
// at&t, c# and c++ hold one, and no user word may.
func runs(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i, r := range s {
			size := utf8.RuneLen(r)
			inside := isWordRune(r)
			if inside && i+size-start <= maxRun {
				continue
			}
			if i > start && !yield(s[start:i]) {
				return
			}
			start = i
			if !inside {
				start += size
			}
		}
		if start < len(s) {
			yield(s[start:])
		}
	}
}

// isWordRune tells whether r may be part of a word: a letter, a number or a
// mark that is written on one.
func isWordRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	case r >= 0x4E00 && r <= 0x9FFF: // Han: the common case, quickly
		return true
	}
	return isLetterOrNumber(r) || unicode.IsMark(r)
}

// segmenter divides a run into words.
type segmenter struct {
	dict *gse.Segmenter
}

// words yields the words of a run in order; joined they are the run.
func (s *segmenter) words(run string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if isASCII(run) { // to gse, too, a run of Latin letters and digits is one word
			yield(run)
			return
		}
		// Never Cut(text, true): its hidden Markov model takes quadratic time.
		for _, word := range s.dict.Segment([]byte(run)) {
			if !yield(run[word.Start():word.End()]) {
				return
			}
		}
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
