package contact

import (
	"bytes"
	"unicode/utf8"
)

// A scanner goes through a text once, from left to right.
type scanner struct {
	finder *Finder
	text   []byte
	at     int
	wants  wants // of a keyword just before
	found  []Contact
}

// wants is what a keyword makes of what follows it.
type wants struct {
	kind string // name, number or code; empty is nothing
	end  int    // how far it may be
	sure bool   // a colon, or a word such as "number", stands between
}

// next takes what begins here: a URL, an address, a number, a name, or a character that is none.
func (s *scanner) next() {
	c := s.text[s.at]
	switch {
	case isAlnum(c) || c == '+':
		s.word()
	case c == '@' || c == '#':
		s.handle()
	case c == ':' || c == '=':
		s.wants.sure = true
		s.at++
	case c < utf8.RuneSelf:
		s.at++
	default:
		s.wide()
	}
}

// wide takes a character beyond ASCII, or a keyword of such.
func (s *scanner) wide() {
	for _, k := range wideKeywords[s.text[s.at]&0x3f] {
		if bytes.HasPrefix(s.text[s.at:], k.text) {
			s.at += len(k.text)
			s.expect(k.kind)
			return
		}
	}
	for _, filler := range fillers {
		if s.wants.kind != "" && bytes.HasPrefix(s.text[s.at:], filler) {
			s.at += len(filler)
			s.wants.sure, s.wants.end = true, s.wants.end+len(filler)
			return
		}
	}
	_, size := utf8.DecodeRune(s.text[s.at:])
	s.at += size
}

// reach is how many bytes may stand between a keyword and what it announces, beside fillers.
const reach = 8

func (s *scanner) expect(kind string) {
	s.wants = wants{kind: kind, end: s.at + reach}
}

// word takes what begins with a letter, a digit or a plus sign.
func (s *scanner) word() {
	if s.url() || s.number() {
		return
	}
	start := s.at
	end := s.wordEnd(start)
	if end == start { // a plus sign
		s.at++
		return
	}
	s.at = end
	s.name(start, end)
}

// wordEnd returns where a run of letters, digits and underscores ends.
func (s *scanner) wordEnd(from int) int {
	for from < len(s.text) && (isAlnum(s.text[from]) || s.text[from] == '_') {
		from++
	}
	return from
}

// add appends a contact, and goes on behind it.
func (s *scanner) add(kind string, value []byte, start, end int) {
	s.at, s.wants = end, wants{}
	c := Contact{Start: start, End: end}
	if full := kind + ":" + string(value); len(full) <= MaxBytes && !s.finder.ignored.has(full) {
		c.Value = full
	}
	s.found = append(s.found, c)
}

func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
