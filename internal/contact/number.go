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
	start, wanted := s.at, s.wanted(s.at)
	g := s.groups(start)
	if g.count == 1 && s.goesOn(g.end) {
		return s.glued(start, g)
	}
	s.at = g.end
	number := canonicalNumber(s.digits)
	switch {
	case g.none:
	case wanted.kind == kindCode:
		if !wanted.weak && g.count == 1 && len(s.digits) >= 4 && len(s.digits) <= mostDigits {
			s.add(kindCode, s.digits, start, g.end)
		}
	case s.counts(number, start, g, wanted):
		s.add(kindNumber, number, start, g.end)
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
		isRound(s.digits[:size]) || isTyped(s.digits[:size]) {
		return false
	}
	s.add(kindNumber, canonicalNumber(s.digits[:size]), start, start+size)
	s.at = s.wordEnd(s.at)
	return true
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
	return wanted.kind != "" ||
		len(number) >= fewestDigits && !isTyped(number) && !s.isSeries(start, g)
}

// groups are digits with one separator between two runs of them; the scanner's digits are theirs.
type groups struct {
	end     int
	count   int
	longest int  // digits of one
	none    bool // a decimal, a version, an address on the Internet, an amount or a date
}

// separators may stand between groups of digits.
var separators = []string{" ", "-", ")", "*", "·", ") ", ") (", " (", " - ", "--"}

func (s *scanner) plusNumber() bool {
	return s.text[s.at] == '+' && s.at+1 < len(s.text) && isDigit(s.text[s.at+1])
}

// groups reads the digits that begin at a place, so many as one telephone number has.
func (s *scanner) groups(start int) groups {
	s.digits = s.digits[:0]
	at := start
	if s.text[at] == '+' {
		s.digits, at = append(s.digits, '+'), at+1
	}
	g := groups{end: at}
	s.take(&g, at)
	if s.isDotted(g.end) && g.longest < 10 {
		return s.dotted(start, g)
	}
	if n := s.thousands(g); n > 0 {
		return groups{end: n, count: 2, none: true}
	}
	for g.count < mostGroups && len(s.digits) < enoughDigits(s.digits) {
		next := s.separated(g.end)
		end := s.digitsEnd(next)
		if next == g.end || end-next == 1 || len(s.digits) >= fewestDigits && end-next >= 5 ||
			s.goesOn(end) {
			break
		}
		s.take(&g, next)
		if g.count <= 3 && s.isDate(start, g.end) {
			g.none = true
			break
		}
	}
	return g
}

// take takes the group of digits that begins at a place.
func (s *scanner) take(g *groups, at int) {
	g.end = s.digitsEnd(at)
	g.longest = max(g.longest, g.end-at)
	g.count++
	s.digits = append(s.digits, s.text[at:min(g.end, at+2*mostDigits)]...)
}

// enoughDigits returns how many digits a number that begins like this has at most, if others
// follow it.
func enoughDigits(digits []byte) int {
	switch {
	case bytes.HasPrefix(digits, []byte("00")):
		return 14
	case digits[0] == '+':
		return 13
	case digits[0] == '0':
		return 11
	}
	return 10
}

// separated returns where the next group of digits begins if only a separator stands before it,
// else at itself.
func (s *scanner) separated(at int) int {
	rest := s.text[at:]
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

// isDate reports whether groups of digits are a date, or a span of years.
func (s *scanner) isDate(start, end int) bool {
	years := 0
	between := func(r rune) bool { return r < '0' || r > '9' }
	for g := range bytes.FieldsFuncSeq(s.text[start:end], between) {
		switch {
		case len(g) == 4 && isYear(g):
			years++
		case len(g) > 4 || len(g) == 3:
			return false
		}
	}
	return years > 0
}

func isYear(g []byte) bool { return g[0] == '1' && g[1] == '9' || g[0] == '2' && g[1] == '0' }

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

// isRound reports whether a number is rather a date, a time stamp in milliseconds or a round
// amount.
func isRound(number []byte) bool {
	n := len(number)
	zeros := n - len(bytes.TrimRight(number, "0"))
	return 2*zeros > n || n == 13 && number[0] == '1' ||
		n >= 8 && isYear(number) && isUpTo(number[4:], "12") && isUpTo(number[6:], "31")
}

// isUpTo reports whether the first two digits are from 01 to a number of two digits.
func isUpTo(digits []byte, most string) bool {
	two := string(digits[:2])
	return "01" <= two && two <= most
}

// isTyped reports whether a number was typed for fun: of at most two different digits, or each
// one more or one less than the one before, where 0 follows 9.
func isTyped(number []byte) bool {
	different, up, down := 1, true, true
	for i := 1; i < len(number); i++ {
		if bytes.IndexByte(number[:i], number[i]) < 0 {
			different++
		}
		step := (number[i] + 10 - number[i-1]) % 10
		up, down = up && step == 1, down && step == 9
	}
	return different <= 2 || up || down
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
		(len(s.digits) < fewestDigits || isRound(s.digits) || isTyped(s.digits)) {
		return false
	}
	s.add(kindNumber, canonicalNumber(s.digits), s.at, end)
	return true
}

// callingCodes are country codes that are written or left out, with the digits that numbers
// within the country begin with; empty for any.
var callingCodes = []struct {
	code, first   string
	fewest, most  int  // digits of the number within the country
	international bool // only behind + or 00
}{
	{"86", "1", 11, 11, false},
	{"86", "", 9, 11, true},
	{"62", "8", 9, 12, false},
	{"44", "7", 10, 10, false},
	{"44", "", 9, 10, true},
	{"91", "", 10, 10, true},
	{"60", "1", 9, 10, false},
	{"1", "", 10, 10, true},
	{"7", "9", 10, 10, false},
	{"84", "", 9, 9, true},
	{"63", "9", 10, 10, false},
	{"852", "", 8, 8, true},
	{"886", "9", 9, 9, false},
}

// canonicalNumber returns the digits of a number without what is left out within its country. It
// may be the same memory.
func canonicalNumber(digits []byte) []byte {
	number, international := bytes.CutPrefix(digits, []byte("+"))
	if rest, ok := bytes.CutPrefix(number, []byte("00")); ok {
		number, international = rest, true
	}
	for _, c := range callingCodes {
		rest, ok := bytes.CutPrefix(number, []byte(c.code))
		if ok && (international || !c.international) && bytes.HasPrefix(rest, []byte(c.first)) &&
			c.fewest <= len(rest) && len(rest) <= c.most {
			return rest
		}
	}
	if !international && len(number) > 8 {
		number = bytes.TrimPrefix(number, []byte("0"))
	}
	return number
}
