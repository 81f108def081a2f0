package ksentence

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/method/shingling"
)

// A splitter divides one text after the other into sentences, in memory that it uses again.
type splitter struct {
	text      []byte // what counts of the sentences, one after the other
	sentences []sentence
	joined    []byte
}

// A sentence is a stretch of the splitter's text.
type sentence struct {
	start, end int
	length     int // characters
}

// split divides a cleaned text, which has compatible forms: a full-width full stop is a plain
// one. Sentences end at line breaks and at the punctuation that ends one in Chinese or
// English. Of each, letters, numbers and the marks on them count; one without is none.
func (s *splitter) split(clean []byte) {
	s.text, s.sentences = shingling.Reuse(s.text), s.sentences[:0]
	at := sentence{}
	word := 0 // Latin letters and digits without a break up to here
	for i := 0; i < len(clean); {
		r, size := utf8.DecodeRune(clean[i:])
		i += size
		switch {
		case unicode.In(r, unicode.L, unicode.N, unicode.M):
			s.text = append(s.text, clean[i-size:i]...)
			at.length++
			word++
			if r >= 0x2E80 { // a Han character is a word
				word = longWord
			}
		case ends(r) || r == '.' && endsByDot(word, clean[i:]):
			at = s.end(at)
			word = 0
		default:
			word = 0
		}
	}
	s.end(at)
}

// end adds a sentence that ends here, and returns the next one.
func (s *splitter) end(at sentence) (next sentence) {
	if at.end = len(s.text); at.length > 0 {
		s.sentences = append(s.sentences, at)
	}
	return sentence{start: len(s.text)}
}

// ends reports whether a sentence ends at r, whatever is around it.
func ends(r rune) bool {
	switch r {
	case '。', '!', '?', ';', '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// longWord is the length of a word from which on a full stop after it ends a sentence. After
// a shorter one it may be an abbreviation (Dr. Li, the U.S. Army) or a number in a list.
const longWord = 3

// endsByDot reports whether a full stop between a word of that length and the rest of a text ends
// a sentence. It does not in 3.14 and example.org.
func endsByDot(word int, rest []byte) bool {
	next, _ := utf8.DecodeRune(rest)
	return word >= longWord && !unicode.IsLetter(next) && !unicode.IsNumber(next)
}

// longest returns so many of the longest sentences, or all if there are no more: of equally
// long ones the first, and in the order of the text, with a line break between them. They are
// valid until the next call.
func (s *splitter) longest(n int) []byte {
	if len(s.sentences) > n {
		slices.SortStableFunc(s.sentences,
			func(a, b sentence) int { return cmp.Compare(b.length, a.length) })
		s.sentences = s.sentences[:n]
		slices.SortFunc(s.sentences, func(a, b sentence) int { return cmp.Compare(a.start, b.start) })
	}
	s.joined = s.joined[:0]
	for _, one := range s.sentences {
		s.joined = append(s.joined, s.text[one.start:one.end]...)
		s.joined = append(s.joined, '\n')
	}
	return s.joined
}
