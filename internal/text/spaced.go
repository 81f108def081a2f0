package text

import (
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/text/fold"
)

// A class is what a character is to joinSpaced.
type class uint8

const (
	gap    class = iota // white space but line breaks, punctuation, symbols, control characters
	single              // a letter or number that composes with nothing that stands before it
	inWord              // another letter, or a mark: what it stands beside is no single character
	newLine
)

// Of characters that are spaced out.
const (
	minSpaced = 3 // in a row: two are common, as in "plan A, B or" and 3.5
	maxGap    = 3 // characters between two
)

// classOf returns the class of r, of which kind is what the normalizer has.
func classOf(r rune, kind outcome) class {
	switch {
	case '\n' <= r && r <= '\r', r == '\u0085', r == '\u2028', r == '\u2029':
		return newLine
	case isLetterOrNumber(r) && kind != joined:
		return single
	case isLetterOrNumber(r) || unicode.IsMark(r):
		return inWord
	}
	return gap
}

func (n *normalizer) class(r rune) class {
	if int(r) < len(n.classes) {
		return n.classes[r]
	}
	return classOf(r, n.outcome(r))
}

// joinSpaced joins the letters and numbers that are spaced out in normalised text from text[from:]
// on, and returns the text, whether a letter may have too many marks, and whether a digit may
// follow a letter. It appends to joins, if that is not nil, where it did join.
//
// Of each run of at least minSpaced single ones, with one to maxGap characters between each and the
// next that are neither letters, numbers, marks nor line breaks, it drops what is between them. A
// letter or number is single if nothing of that kind and no mark stands beside it.
//
// A word or number of more characters at an end of a run stays apart, even if it may be the rest of
// the same word: "a l e x i s17" becomes "alexi s17". What is a word of its own looks the same, and
// is more frequent: "V I P lounge".
//
// Joined once, nothing is left to join: what was single stands beside others, and what was not has
// the same beside it as before. And it stays normalised, since single characters begin segments.
func (n *normalizer) joinSpaced(
	text []byte, from int, joins *[]fold.Join,
) (t []byte, piled, leet bool) {
	run := spaced{normalizer: n, text: text, kept: from, read: from, joins: joins}
	for at := from; at < len(text); {
		if run.count == 0 {
			next, leet := skipASCII(text, at)
			at, run.leet = next, run.leet || leet
		}
		r, size := utf8.DecodeRune(text[at:])
		end := at + size
		switch c := n.class(r); {
		case c == gap && run.between < maxGap:
			run.between++
		case c == gap || c == newLine:
			run.finish()
		default:
			if c == inWord {
				end = at // it counts there
			}
			end = run.wordEnd(end)
			if c == single && end == at+size {
				run.add(at, end)
			} else {
				run.finish()
			}
		}
		at = end
	}
	run.finish()
	if run.read > from {
		text = text[:run.kept+copy(text[run.kept:], text[run.read:])]
	}
	return text, run.piled, run.leet
}

// spaced is a run of single characters, and the text that it is in.
type spaced struct {
	*normalizer
	text       []byte
	kept       int // text[:kept] is what text[:read] has become
	read       int
	start, end int // of the run
	count      int // of single characters in it
	between    int // characters since the last of them
	joins      *[]fold.Join
	// A letter may have too many marks; a digit may follow a letter.
	piled, leet bool
}

// add adds the single character text[start:end].
func (s *spaced) add(start, end int) {
	if s.count == 0 {
		s.start = start
	}
	s.end = end
	s.count++
	s.between = 0
}

// finish joins the run, if it is long enough, and begins another.
func (s *spaced) finish() {
	if s.count >= minSpaced {
		s.kept += copy(s.text[s.kept:], s.text[s.read:s.start])
		begin := s.kept
		for at := s.start; at < s.end; {
			r, size := utf8.DecodeRune(s.text[at:])
			if s.class(r) == single {
				s.leet = s.leet || s.kept > begin && '0' <= r && r <= '9'
				s.kept += copy(s.text[s.kept:], s.text[at:at+size])
			}
			at += size
		}
		s.read = s.end
		if s.joins != nil {
			*s.joins = append(*s.joins, fold.Join{
				Before: fold.Range{Start: s.start, End: s.end}, After: fold.Range{Start: begin, End: s.kept},
			})
		}
	}
	s.count, s.between = 0, 0
}

// wordEnd returns where the letters, numbers and marks from text[at:] on end.
func (s *spaced) wordEnd(at int) int {
	text, classes := s.text, (*[1 << 16]class)(s.classes)
	marks := 0 // or else letters that are not single
	for at < len(text) {
		var c class
		size := 1
		switch a := text[at]; {
		case a < utf8.RuneSelf:
			c = classes[a]
			if a-'0' < 10 && text[at-1]-'a' < 26 {
				s.leet = true
			}
		case len(text)-at >= 3 && isThreeBytes(a, text[at+1], text[at+2]):
			c = classes[uint16(a)<<12|uint16(text[at+1]&0x3F)<<6|uint16(text[at+2]&0x3F)]
			size = 3
		default:
			var r rune
			r, size = utf8.DecodeRune(text[at:])
			c = s.class(r)
		}
		if c == single {
			marks = 0
		} else if marks++; c != inWord {
			return at
		} else if marks > fold.MaxMarks {
			s.piled = true
		}
		at += size
	}
	return at
}

// skipASCII returns a place in normalised text, at or after at, before which there is no single
// character, and whether a digit may follow a letter before it. Both places are not within a word.
// It looks at eight bytes at a time, and stops at what is not ASCII.
func skipASCII(text []byte, at int) (next int, leet bool) {
	// each times a byte is that byte eight times. What is known of a byte is in its high bit; its
	// other bits mean nothing.
	const each, high = 0x0101010101010101, 0x8080808080808080
	begin, before := at, uint64(0) // before: whether the byte before is a letter or a digit
	follow := uint64(0)            // digits that follow a letter
	for len(text)-at >= 8 {
		eight := binary.LittleEndian.Uint64(text[at:])
		if eight&high != 0 {
			break
		}
		letters := (eight + each*(0x80-'a')) &^ (eight + each*(0x80-'z'-1))
		digits := (eight + each*(0x80-'0')) &^ (eight + each*(0x80-'9'-1))
		follow |= digits & (letters << 8)
		words := letters | digits
		singles := words &^ (words<<8 | before) &^ (words >> 8)
		if singles &= high >> 8; singles != 0 { // what follows the last byte is not known
			return at + bits.TrailingZeros64(singles)/8, follow&high != 0
		}
		before = words >> 48 & 0x80
		at += 7
	}
	for at > begin && isASCIIWord(text[at-1]) {
		at--
	}
	return at, follow&high != 0
}

func isASCIIWord(b byte) bool { return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' }
