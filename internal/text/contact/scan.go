package contact

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// A scanner goes through a text once, from left to right.
type scanner struct {
	finder  *Finder // nil: only the places of contacts are looked for
	text    []byte
	styled  []Range // that do not end before the last word
	at      int
	wants   wants    // of a keyword just before
	sending int      // where a word such as "send" ended
	money   int      // where a currency ended
	noHost  int      // up to here no host name begins
	taken   int      // up to here contacts were found
	hasOne  bool     // found is set
	found   Contact  // the last one
	values  []string // the different ones
	buffer  []byte   // of a value
	host    []byte   // of hostName
	local   []byte   // of an address
	digits  []byte   // of number
	stops   []stop   // of these

	// The last host name and URL are remembered: a text that has very many often repeats one.
	suffixOf struct {
		host   string
		length int
		listed bool
	}
	reduced struct{ host, page, kind, value string }
}

// wants is what a keyword makes of what follows it.
type wants struct {
	kind string // name, number or code; empty is nothing
	end  int    // how far it may be
	weak bool   // the keyword is a common word, too
	sure bool   // a colon, or a word such as "id", stands between
	wide bool   // the keyword is Chinese
	// A number of a chat, such as QQ, is no telephone number.
	plain bool
}

// next goes on to the next contact, and reports whether there is one.
func (s *scanner) next() bool {
	s.hasOne = false
	for s.at < len(s.text) && !s.hasOne {
		s.step()
	}
	return s.hasOne
}

// step takes what begins here: a contact, a word, or a character.
func (s *scanner) step() {
	c := s.text[s.at]
	switch {
	case isAlnum(c) || c == '+':
		s.word()
	case c >= utf8.RuneSelf:
		s.wide()
	case c == '@':
		s.handle()
	case c == ':' || c == '=':
		s.wants.sure = s.wants.sure || !s.wants.weak
		s.at++
	default:
		s.at++
	}
}

// wide takes a character beyond ASCII, a keyword or a number of such.
func (s *scanner) wide() {
	r, size := utf8.DecodeRune(s.text[s.at:])
	class := wideClass(r)
	if class&beginsKeyword != 0 {
		if k, ok := s.wideKeyword(r, s.at); ok {
			s.at += len(k.text)
			s.expect(k.kind, false)
			s.wants.wide = true
			return
		}
	}
	if class&isFiller != 0 && s.wants.kind != "" {
		s.wants.sure, s.wants.end = true, s.wants.end+size
	}
	if class&isNumeral == 0 || !s.numerals() {
		s.at += size
	}
}

// wideKeyword returns the keyword that stands at a place and begins with r.
func (s *scanner) wideKeyword(r rune, at int) (k keyword, ok bool) {
	for _, k := range wideKeywords[r] {
		if bytes.HasPrefix(s.text[at:], k.text) {
			return k, true
		}
	}
	return keyword{}, false
}

// reach is how many bytes may stand between a keyword and what it announces, beside fillers.
const reach = 8

func (s *scanner) expect(kind string, weak bool) {
	plain := kind == kindChat
	if plain {
		kind = kindNumber
	}
	s.wants = wants{kind: kind, end: s.at + reach, weak: weak, plain: plain}
}

// wanted returns what a keyword makes of what begins at a place.
func (s *scanner) wanted(at int) wants {
	if at > s.wants.end {
		return wants{}
	}
	return s.wants
}

// word takes what begins with a letter, a digit or a plus sign.
func (s *scanner) word() {
	start := s.at
	end := s.wordEnd(start)
	switch {
	case end > start && s.url(end):
	case isDigit(s.text[start]) && s.number():
	case end == start: // a plus sign
		if !s.international() {
			s.at++
		}
	default:
		s.at = end
		s.name(start, end)
	}
}

// wordEnd returns where a run of letters, digits and underscores ends.
func (s *scanner) wordEnd(from int) int {
	for from < len(s.text) && classes[s.text[from]]&inWord != 0 {
		from++
	}
	return from
}

// add sets what was found, and goes on behind it. What is ignored may have no value.
func (s *scanner) add(kind string, value []byte, start, end int) {
	s.at, s.taken, s.wants = end, end, wants{}
	s.hasOne, s.found = true, Contact{Start: start, End: end}
	if len(value) > 0 && s.wantsValue() {
		s.buffer = append(append(append(s.buffer[:0], kind...), ':'), value...)
		s.found.Value = s.value()
	}
}

// wantsValue reports whether the value of a contact counts.
func (s *scanner) wantsValue() bool { return s.finder != nil && len(s.values) < MaxPerText }

// value returns what the buffer holds, the same string of the same value.
func (s *scanner) value() string {
	for _, v := range s.values {
		if v == string(s.buffer) {
			return v
		}
	}
	if len(s.buffer) > MaxBytes || s.finder.ignored.Has(s.buffer) {
		return ""
	}
	s.values = append(s.values, string(s.buffer))
	return s.values[len(s.values)-1]
}

// Classes of ASCII.
const (
	aLetter = 1 << iota
	aDigit
	inWord // or an underscore
	inHost // or in the local part of an address
	inPath
)

var classes = func() (classes [256]uint8) {
	for c := range classes {
		switch b := byte(c); {
		case 'a' <= b && b <= 'z':
			classes[c] = aLetter | inWord | inHost
		case '0' <= b && b <= '9':
			classes[c] = aDigit | inWord | inHost
		case b == '_':
			classes[c] = inWord | inHost
		case slices.Contains([]byte(".-%+"), b):
			classes[c] = inHost
		}
		if ' ' < c && c < 0x7f && bytes.IndexByte([]byte("\"'<>`{}|\\^[]"), byte(c)) < 0 {
			classes[c] |= inPath
		}
	}
	return classes
}()

func isAlnum(c byte) bool  { return classes[c]&(aLetter|aDigit) != 0 }
func isLetter(c byte) bool { return classes[c]&aLetter != 0 }
func isDigit(c byte) bool  { return classes[c]&aDigit != 0 }
