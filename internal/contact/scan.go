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
	if !s.numerals() {
		_, size := utf8.DecodeRune(s.text[s.at:])
		s.at += size
	}
}

// numeralDigits are the digits that Chinese numerals stand for when they are read one by one.
var numeralDigits = map[rune]byte{
	'零': '0', '〇': '0', '一': '1', '壹': '1', '幺': '1', '二': '2', '贰': '2', '两': '2', '三': '3', '叁': '3',
	'四': '4', '肆': '4', '五': '5', '伍': '5', '六': '6', '陆': '6', '七': '7', '柒': '7', '八': '8', '捌': '8',
	'九': '9', '玖': '9',
}

// fewestNumerals make a number of Chinese numerals, with digits among them.
const fewestNumerals = 6

// numerals takes a number that is written in Chinese numerals, and reports whether one begins here.
func (s *scanner) numerals() bool {
	var number []byte
	end := s.at
	for end < len(s.text) {
		r, size := utf8.DecodeRune(s.text[end:])
		digit, ok := numeralDigits[r]
		if !ok && (r < '0' || r > '9') {
			break
		}
		if !ok {
			digit = byte(r)
		}
		number, end = append(number, digit), end+size
	}
	if len(number) < fewestNumerals || len(number) > mostDigits || isQuantity(number) {
		return false
	}
	s.add(kindNumber, canonicalNumber(number), s.at, end)
	return true
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
	c := Contact{Kind: kind, Start: start, End: end}
	if full := kind + ":" + string(value); len(full) <= MaxBytes && !s.finder.ignored.has(full) {
		c.Value = full
	}
	s.found = append(s.found, c)
}

func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
