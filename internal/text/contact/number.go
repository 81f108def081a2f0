package contact

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Digits of a number that is a contact by itself, and of one that a keyword announces.
const (
	fewestDigits    = 7
	fewestAnnounced = 5
	mostDigits      = 15
	mostGroups      = 6
)

// number takes a telephone or QQ number, or a code of digits: a run of digits, or groups of
// digits with one separator between two. It reports whether one begins here; a number that is no
// contact, such as a date, is taken too.
func (s *scanner) number() bool {
	if end := s.digitsEnd(s.at); end < len(s.text) && s.text[end] >= utf8.RuneSelf && s.numerals() {
		return true
	}
	if s.international() || s.regional() {
		return true
	}
	start, wanted := s.at, s.wanted(s.at)
	g := s.groups(start)
	if g.count == 1 && s.goesOn(g.end) {
		return s.glued(start, g)
	}
	s.at = g.end
	switch {
	case g.none:
	case wanted.kind == kindCode:
		if !wanted.weak && g.count == 1 && len(s.digits) >= 4 && len(s.digits) <= mostDigits {
			s.add(kindCode, s.digits, start, g.end)
		}
	case s.counts(s.digits, start, g, wanted):
		s.add(kindNumber, s.digits, start, g.end)
	}
	return true
}

// goesOn reports whether a word goes on at a place.
func (s *scanner) goesOn(at int) bool {
	return at < len(s.text) && classes[s.text[at]]&inWord != 0
}

// glued takes a telephone number that has a word directly behind it: eleven digits that begin
// with 0 or 1. It reports whether there is one, and not just a word that begins with digits.
func (s *scanner) glued(start int, g groups) bool {
	const size = 11
	if g.longest < size || s.digits[0] != '0' && s.digits[0] != '1' ||
		g.longest > size && !s.isRate(g) || isUnlikely(s.digits[:size]) {
		return false
	}
	s.add(kindNumber, s.national(s.digits[:size], false), start, start+size)
	s.at = s.wordEnd(s.at)
	return true
}

// isRate reports whether the last one to three digits of a group are a price, an age or a time, as
// in 08712404000150p: the number ends before them.
func (s *scanner) isRate(g groups) bool {
	word := s.text[g.end:s.wordEnd(g.end)]
	for _, unit := range []string{"p", "am", "pm", "yrs"} {
		if bytes.HasPrefix(word, []byte(unit)) && g.longest <= 14 && s.digits[0] == '0' {
			return true
		}
	}
	return false
}

// counts reports whether a number is a contact.
func (s *scanner) counts(number []byte, start int, g groups, wanted wants) bool {
	if len(number) > mostDigits || len(number) < fewestAnnounced {
		return false
	}
	if wanted.kind != "" && !wanted.weak {
		return true
	}
	if isRound(number) || s.isAmount(number, start, g.end) {
		return false
	}
	if wanted.kind != "" {
		return true
	}
	return len(number) >= fewestDigits && !bytes.HasPrefix(number, []byte("000")) &&
		!isTyped(number) && !s.isSeries(start, g)
}

// groups are digits with one separator between two runs of them; the scanner's digits are theirs.
type groups struct {
	end     int
	count   int
	longest int  // digits of one
	single  bool // one behind the first has a single digit
	none    bool // a decimal, a version, an address on the Internet, an amount or a date
}

// separators may stand between groups of digits.
var separators = []string{" ", "-", ")", "*", "·", ") ", ") (", " (", " - ", "--"}

// groups reads the digits that begin at a place, so many as one telephone number has.
func (s *scanner) groups(start int) groups {
	s.digits = s.digits[:0]
	g := groups{end: start}
	s.take(&g, start)
	if s.isDotted(g.end) && g.longest < 10 {
		return s.dotted(start, g)
	}
	if n := s.thousands(g); n > 0 {
		return groups{end: n, count: 2, none: true}
	}
	for g.count < mostGroups {
		next := s.separated(g.end)
		end := s.digitsEnd(next)
		if next == g.end || s.goesOn(end) || s.isNext(g, next, end) {
			break
		}
		s.take(&g, next)
		if g.count <= 3 && isDate(s.text[start:g.end]) {
			g.none = true
			break
		}
	}
	if g.count > 1 && s.isDotted(g.end) && len(s.digits) < 10 {
		return s.decimal(g) // a part of a number is another number
	}
	return g
}

// isNext reports whether the group of digits from one place to another belongs to no telephone
// number that goes on there. A single digit does only behind what begins with 0, as in
// 06 1 234 5678, and five digits and more do not follow a number that is complete.
func (s *scanner) isNext(g groups, from, to int) bool {
	size, n := to-from, len(s.digits)
	isTrunk := s.digits[0] == '0'
	switch {
	case n >= enoughDigits(s.digits):
		return !isTrunk || g.count == 1 || size < 2 || n+size > 13 || s.text[from-1] != '-' ||
			s.text[g.end] != '-'
	case size == 1:
		return !isTrunk || n >= fewestDigits || g.single || to == len(s.text)
	case size >= 5 && n >= fewestDigits:
		return g.count == 1 || n+size > 12 && !(isTrunk && n+size == 13)
	}
	return false
}

// decimal goes on with the digits behind dots, which are no number.
func (s *scanner) decimal(g groups) groups {
	g.none = true
	for s.isDotted(g.end) {
		g.end = s.digitsEnd(g.end + 1)
	}
	return g
}

// take takes the group of digits that begins at a place.
func (s *scanner) take(g *groups, at int) {
	g.end = s.digitsEnd(at)
	g.longest = max(g.longest, g.end-at)
	g.single = g.single || g.count > 0 && g.end-at == 1
	g.count++
	s.digits = append(s.digits, s.text[at:min(g.end, at+2*mostDigits)]...)
}

// enoughDigits returns how many digits a number that begins like this has at most, if others
// follow it.
func enoughDigits(digits []byte) int {
	switch {
	case bytes.HasPrefix(digits, []byte("00")):
		return 14
	case digits[0] == '0':
		return 11
	}
	return 10
}

// separated returns where the next group of digits begins if only a separator stands before it,
// else at itself. A slash is one between an area code and a number, as in 030/1234567.
func (s *scanner) separated(at int) int {
	rest := s.text[at:]
	if n := len(s.digits); n >= 3 && n <= 5 && s.digits[0] == '0' && len(rest) > 0 &&
		rest[0] == '/' && s.digitsEnd(at+1) > at+6 {
		return at + 1
	}
	for _, separator := range separators {
		if n := len(separator); len(rest) > n && isDigit(rest[n]) && string(rest[:n]) == separator {
			return at + n
		}
	}
	return at
}

func (s *scanner) digitsEnd(at int) int {
	for at < len(s.text) && isDigit(s.text[at]) {
		at++
	}
	return at
}

func (s *scanner) isDotted(at int) bool {
	return at+1 < len(s.text) && s.text[at] == '.' && isDigit(s.text[at+1])
}

// dotted goes on with digits between dots. They are a number if there are three groups of three
// and more digits, and the last has four, as in 400.820.8820.
func (s *scanner) dotted(start int, g groups) groups {
	g.none = g.end-start < 3
	last := 0
	for s.isDotted(g.end) {
		from := g.end + 1
		s.take(&g, from)
		last = g.end - from
		g.none = g.none || last < 3
		s.digits = s.digits[:min(len(s.digits), 2*mostDigits)]
	}
	g.none = g.none || g.count < 3 || last != 4
	return g
}

// thousands returns where an amount with commas ends, 0 if it is none.
func (s *scanner) thousands(g groups) int {
	end := 0
	for at := g.end; g.longest <= 3 && at < len(s.text) && s.text[at] == ',' &&
		s.digitsEnd(at+1) == at+4; {
		at += 4
		end = at
	}
	return end
}

// isAmount reports whether a number of fewer digits than a mobile phone's is an amount, by what
// stands around it.
func (s *scanner) isAmount(number []byte, start, end int) bool {
	if len(number) > 10 {
		return false
	}
	after, _ := utf8.DecodeRune(s.text[end:])
	before, _ := utf8.DecodeLastRune(s.text[:start])
	return strings.ContainsRune("%元万亿吨人美件个名户股份平次", after) && after != utf8.RuneError ||
		strings.ContainsRune("$£€¥₹", before) && before != utf8.RuneError ||
		s.money > 0 && start-s.money <= 2
}

// isSeries reports whether groups are several numbers: of two digits each, as in scores, or two
// round ones, as in 2500-3000.
func (s *scanner) isSeries(start int, g groups) bool {
	if g.count == 2 && g.longest <= 4 {
		round := true
		for i := start + 1; i <= g.end; i++ {
			if isDigit(s.text[i-1]) && (i == g.end || !isDigit(s.text[i])) {
				round = round && s.text[i-1] == '0'
			}
		}
		return round
	}
	return g.count > 1 && g.longest <= 2
}

// numeralDigits are the digits that Chinese numerals stand for when they are read one by one.
var numeralDigits = map[rune]byte{
	'零': '0', '〇': '0', '一': '1', '壹': '1', '幺': '1', '二': '2', '贰': '2', '两': '2', '三': '3', '叁': '3',
	'四': '4', '肆': '4', '五': '5', '伍': '5', '六': '6', '陆': '6', '七': '7', '柒': '7', '八': '8', '捌': '8',
	'九': '9', '玖': '9',
}

// numerals takes a number that is written in Chinese numerals, at least one of them, and reports
// whether one begins here.
func (s *scanner) numerals() bool {
	s.digits = s.digits[:0]
	end, wide := s.at, 0
	for end < len(s.text) && len(s.digits) <= mostDigits {
		if c := s.text[end]; isDigit(c) {
			s.digits, end = append(s.digits, c), end+1
			continue
		}
		r, size := utf8.DecodeRune(s.text[end:])
		if wideClass(r)&isNumeral == 0 {
			break
		}
		s.digits, end, wide = append(s.digits, numeralDigits[r]), end+size, wide+1
	}
	wanted := s.wanted(s.at)
	announced := wanted.kind != "" && !wanted.weak && len(s.digits) >= fewestAnnounced
	if wide == 0 || len(s.digits) > mostDigits || !announced &&
		(len(s.digits) < fewestDigits || isUnlikely(s.digits)) {
		return false
	}
	s.add(kindNumber, s.national(s.digits, wanted.plain), s.at, end)
	return true
}
