package contact

import (
	"bytes"
	"strings"
)

// Digits of a number that is a contact by itself, and of one that a keyword announces.
const (
	fewestDigits    = 7
	fewestAnnounced = 5
	mostDigits      = 15
	mostGroups      = 6
)

// number takes a telephone or QQ number: a run of digits, or groups of digits with one separator
// between two. It reports whether one begins here; a number that is no contact, such as a date, is
// taken too.
func (s *scanner) number() bool {
	if !isDigit(s.text[s.at]) && !s.plusNumber() {
		return false
	}
	announced := s.wants.kind == kindNumber && s.at <= s.wants.end ||
		s.wants.kind == kindName && s.at <= s.wants.end
	start, end, groups := s.at, s.at, 0
	var digits []byte
	if s.text[end] == '+' {
		digits, end = append(digits, '+'), end+1
	}
	for groups < mostGroups {
		from := end
		for end < len(s.text) && isDigit(s.text[end]) {
			end++
		}
		digits, groups = append(digits, s.text[from:end]...), groups+1
		next := s.separated(end)
		if next == end || end-from == 1 && groups > 1 {
			break
		}
		if dotted := s.text[end] != ' ' && s.text[end] != '-' && s.text[end] != ')'; dotted &&
			(end-from < 3 || s.digitsAt(next) < 3) {
			break // a decimal, a version
		}
		end = next
	}
	if end < len(s.text) && (isLetter(s.text[end]) || s.text[end] == '_') {
		return false // a word that begins with digits
	}
	if groups > 1 && s.isDate(start, end) {
		s.at = end
		return true
	}
	number := canonicalNumber(digits)
	fewest := fewestDigits
	if announced {
		fewest = fewestAnnounced
	}
	if len(number) < fewest || len(number) > mostDigits || groups == mostGroups ||
		!announced && isQuantity(number) {
		s.at = end
		return true
	}
	s.add(kindNumber, number, start, end)
	return true
}

// separators may stand between groups of digits.
var separators = []string{" ", "-", ")", "*", ".", "·", ") ", ") (", " (", " - ", "--"}

func (s *scanner) plusNumber() bool {
	return s.text[s.at] == '+' && s.at+1 < len(s.text) && isDigit(s.text[s.at+1])
}

// separated returns where the next group of digits begins if only a separator stands before it,
// else at itself.
func (s *scanner) separated(at int) int {
	rest := s.text[at:]
	for _, separator := range separators {
		if n := len(separator); len(rest) > n && string(rest[:n]) == separator && isDigit(rest[n]) {
			return at + n
		}
	}
	return at
}

// digitsAt returns how many digits stand at a place.
func (s *scanner) digitsAt(at int) (n int) {
	for at+n < len(s.text) && isDigit(s.text[at+n]) {
		n++
	}
	return n
}

// isDate reports whether groups of digits are a date, or a span of years.
func (s *scanner) isDate(start, end int) bool {
	groups := bytes.FieldsFunc(s.text[start:end], func(r rune) bool { return r < '0' || r > '9' })
	years := 0
	for _, g := range groups {
		if len(g) == 4 && isYear(g) {
			years++
		}
	}
	return years > 0 && len(groups) <= 3 && allShort(groups)
}

func isYear(g []byte) bool { return g[0] == '1' && g[1] == '9' || g[0] == '2' && g[1] == '0' }

func allShort(groups [][]byte) bool {
	for _, g := range groups {
		if len(g) > 4 || len(g) == 3 {
			return false
		}
	}
	return true
}

// isQuantity reports whether a number is rather a date, a round amount, or typed for fun: of at most
// two different digits, or each one more or one less than the one before.
func isQuantity(number []byte) bool {
	zeros := len(number) - len(bytes.TrimRight(number, "0"))
	if 2*zeros > len(number) ||
		len(number) == 8 && isYear(number) && number[4] <= '1' && number[6] <= '3' {
		return true
	}
	different, up, down := 1, true, true
	for i := 1; i < len(number); i++ {
		if bytes.IndexByte(number[:i], number[i]) < 0 {
			different++
		}
		up, down = up && number[i] == number[i-1]+1, down && number[i] == number[i-1]-1
	}
	return different <= 2 || up || down
}

// callingCodes are country codes that are written or left out, with the digit that numbers within
// the country begin with; 0 for any.
var callingCodes = []struct {
	code  string
	first byte
	size  int // of the number within the country
}{
	{"86", '1', 11},
	{"62", '8', 0},
	{"44", '7', 10},
	{"91", 0, 10},
	{"60", '1', 0},
	{"1", 0, 10},
	{"7", '9', 10},
	{"84", 0, 9},
	{"63", '9', 10},
	{"852", 0, 8},
	{"886", '9', 9},
}

// canonicalNumber returns the digits of a number without what is left out within its country.
func canonicalNumber(digits []byte) []byte {
	number := strings.TrimPrefix(string(digits), "+")
	international := len(number) < len(digits)
	if rest, ok := strings.CutPrefix(number, "00"); ok {
		number, international = rest, true
	}
	for _, c := range callingCodes {
		rest, ok := strings.CutPrefix(number, c.code)
		if ok && len(rest) >= 8 && (c.first == 0 || rest[0] == c.first) &&
			(len(rest) == c.size || c.size == 0 && international) && (c.first != 0 || international) {
			return []byte(rest)
		}
	}
	if !international && len(number) > 8 {
		number = strings.TrimPrefix(number, "0")
	}
	return []byte(number)
}
