package contact

import (
	"bytes"
	"net/netip"
	"slices"
	"unicode/utf8"
)

// mostStops is how many groups of digits a telephone number has at most: each of two digits.
const mostStops = 9

// A stop is the end of a group of digits, where a telephone number may end.
type stop struct {
	end    int  // in the text
	digits int  // of the number so far
	group  int  // of these in the last group
	spaced bool // a space stands before that group
	dotted bool // a dot or a slash stands before it
	glued  bool // a letter follows
}

// run reads the groups of digits that begin at a place into s.digits, and where each ends into
// s.stops: more than a number may have, so that its end can be chosen by what numbers are possible.
// A zero in brackets behind a calling code, as in +44 (0)20, is left out.
func (s *scanner) run(at int) {
	s.digits, s.stops = s.digits[:0], s.stops[:0]
	for next := (stop{end: at}); len(s.stops) < mostStops; {
		from := next.end
		end := s.digitsEnd(from)
		if len(s.digits)+end-from > mostDigits+1 {
			return
		}
		if len(s.stops) == 0 || !s.isBracketedZero(from) {
			s.digits = append(s.digits, s.text[from:end]...)
			next.end, next.group, next.digits = end, end-from, len(s.digits)
			next.glued = s.goesOn(end)
			s.stops = append(s.stops, next)
		}
		if next = s.apart(end); next.end == end || s.stops[len(s.stops)-1].glued {
			return
		}
	}
}

func (s *scanner) isBracketedZero(at int) bool {
	return len(s.digits) <= 3 && s.text[at-1] == '(' && bytes.HasPrefix(s.text[at:], []byte("0)"))
}

// apart returns where the next group of digits of a telephone number begins, and what stands before
// it; at itself if something else does. A dot or a slash stands between digits, without a space.
func (s *scanner) apart(at int) stop {
	var next stop
	marks, brackets := 0, 0
	for i := at; i < len(s.text) && i-at <= len(" (0) "); {
		r, size := utf8.DecodeRune(s.text[i:])
		switch {
		case '0' <= r && r <= '9':
			next.end = i
			return next
		case r == ' ':
			next.spaced = true
		case r == '(' || r == ')':
			brackets++
		case r == '.' || r == '/':
			next.dotted = true
			marks++
		case r == '-' || r == '*' || r == '·' || r == '‐' || r == '–':
			marks++
		default:
			return stop{end: at}
		}
		if marks > 1 || brackets > 2 || next.dotted && next.spaced {
			return stop{end: at}
		}
		i += size
	}
	return stop{end: at}
}

// anyDotted reports whether a dot or a slash stands before one of the groups.
func anyDotted(stops []stop) bool {
	return slices.ContainsFunc(stops, func(at stop) bool { return at.dotted })
}

// longest returns the longest number that ends at one of the stops, in E.164, and the number of the
// stop; a usual one goes before one that is only possible. It returns -1 if there is none.
func (s *scanner) longest(e164 func(number string) (string, Fit)) (digits string, at int) {
	at, best := -1, Impossible
	for i, next := range s.stops {
		if at >= 0 && (next.glued || best == Usual && s.isQuantity(i)) {
			break
		}
		if next.digits < fewestDigits {
			continue
		}
		number, how := e164(string(s.digits[:next.digits]))
		if how > best || how == best && len(number) > len(digits) {
			digits, at, best = number, i, how
		}
	}
	return digits, at
}

// isQuantity reports whether a group is rather the next number of a sentence than the end of a
// telephone number, as in +62 812 3456 7890 24 hours: one or two digits behind a space, ten digits
// and more, and a group of three or four.
func (s *scanner) isQuantity(i int) bool {
	before := s.stops[i-1]
	return s.stops[i].spaced && s.stops[i].group <= 2 && before.digits > 10 &&
		(before.group == 3 || before.group == 4)
}

// fewestDotted is how many digits an international number with dots has at least. With fewer it may
// be a coordinate.
const fewestDotted = 10

// international takes a telephone number that begins with + or 00, and reports whether one begins
// here. Its contact is the number in E.164.
func (s *scanner) international() bool {
	start := s.at
	from := s.afterPrefix(start)
	if from < 0 {
		return false
	}
	s.run(from)
	plus := s.text[start] == '+'
	digits, at := s.longest(international)
	switch {
	case at >= 0 && len(digits) <= mostDigits && s.isWritten(plus, at):
		s.add(kindNumber, append([]byte("+"), digits...), start, s.stops[at].end)
		s.at = s.wordEnd(s.at)
		return true
	case plus && len(s.stops) > 0 && s.stops[0].digits >= fewestDigits:
		s.impossible(start)
		return true
	}
	return false
}

// afterPrefix returns where the calling code begins, -1 if neither + nor 00 stands before one.
func (s *scanner) afterPrefix(at int) int {
	isPlus := s.text[at] == '+'
	switch {
	case isPlus:
		at++
	case !bytes.HasPrefix(s.text[at:], []byte("00")):
		return -1
	case s.hasDigit(at + 2):
		at += 2
	default:
		at = s.apart(at + 2).end
	}
	if isPlus && s.hasDigit(at+1) && (s.text[at] == '(' || s.text[at] == ' ' && s.startsHere(at-1)) {
		at++
	}
	if !s.hasDigit(at) || s.text[at] == '0' {
		return -1
	}
	return at
}

func (s *scanner) hasDigit(at int) bool { return at < len(s.text) && isDigit(s.text[at]) }

// startsHere reports whether neither a letter nor a digit stands before a place.
func (s *scanner) startsHere(at int) bool { return at == 0 || !isAlnum(s.text[at-1]) }

// isWritten reports whether a possible number that ends at a stop is written as one is.
func (s *scanner) isWritten(plus bool, at int) bool {
	if anyDotted(s.stops[:at+1]) && s.stops[at].digits < fewestDotted {
		return false
	}
	wanted := s.wanted(s.at)
	if plus || wanted.kind != "" && !wanted.weak {
		return true
	}
	number := s.digits[:s.stops[at].digits]
	return len(number) >= 9 && !isUnlikely(number) && !isDate(s.text[s.at:s.stops[at].end])
}

// impossible takes digits behind a plus sign that are no possible number. They are a contact all
// the same, as they are: of a mistyped number, too, all copies have the same.
func (s *scanner) impossible(start int) {
	first, wanted := s.stops[0], s.wanted(start)
	number := s.digits[:first.digits]
	s.at = first.end
	if len(number) <= mostDigits && !first.glued && (wanted.kind != "" && !wanted.weak ||
		!isUnlikely(number) && !s.isAmount(number, start, first.end)) {
		s.add(kindNumber, append([]byte("+"), number...), start, first.end)
	}
}

// regional takes a telephone number as it is written within one of the finder's regions, and
// reports whether one begins here. Its contact is the number in E.164.
func (s *scanner) regional() bool {
	start, wanted := s.at, s.wanted(s.at)
	if s.finder == nil || len(s.finder.regions) == 0 || wanted.plain || wanted.kind == kindCode {
		return false
	}
	s.run(start)
	if len(s.stops) == 0 || s.stops[0].glued || !s.mayBePhone(start) {
		return false
	}
	announced := wanted.kind != "" && !wanted.weak
	for as := range Spellings {
		for i := range s.finder.regions {
			r := &s.finder.regions[i]
			if s.isPairs() && !announced && (!r.Pairs || as != AsWritten) {
				continue
			}
			digits, at := s.longest(func(number string) (string, Fit) { return r.E164(number, as) })
			if at < 0 || len(digits) > mostDigits {
				continue
			}
			end, number := s.stops[at].end, s.digits[:s.stops[at].digits]
			typed := isTyped(number) && (at == 0 && wanted.kind == "" || hasTwoDigits(number))
			if !announced && (isRound(number) || typed || s.isAmount(number, start, end)) {
				return false
			}
			s.add(kindNumber, append([]byte("+"), digits...), start, end)
			s.at = s.wordEnd(s.at)
			return true
		}
	}
	return false
}

// mayBePhone reports whether groups of digits may be a telephone number: they are no date, and with
// dots between them neither a decimal, a version nor an address on the Internet.
func (s *scanner) mayBePhone(start int) bool {
	for _, at := range s.stops[:min(3, len(s.stops))] {
		if at.end-start > at.digits && isDate(s.text[start:at.end]) {
			return false
		}
	}
	if len(s.stops) == 1 || !anyDotted(s.stops[:2]) {
		return true
	}
	first, second := s.stops[0].group, s.stops[1].group
	switch {
	case len(s.stops) == 2: // a decimal, except 020.79460123 and 5555.0123
		return s.digits[0] == '0' && first > 1 && second >= 4 || first == 4 && second == 4
	case len(s.stops) == 4 && s.digits[0] != '0':
		_, err := netip.ParseAddr(string(s.text[start:s.stops[3].end]))
		return err != nil && (first > 1 || second == 3)
	}
	return first > 1 || second == 3
}

// isPairs reports whether there are three and more groups, each of at most two digits, as in
// scores.
func (s *scanner) isPairs() bool {
	return len(s.stops) >= 3 &&
		!slices.ContainsFunc(s.stops, func(at stop) bool { return at.group > 2 })
}

// national returns the number that digits are which are written together: in E.164 with a plus sign
// if it is possible in one of the finder's regions, otherwise as it is.
func (s *scanner) national(digits []byte, plain bool) []byte {
	if s.finder == nil || plain || len(digits) < fewestDigits {
		return digits
	}
	for as := range Spellings {
		for i := range s.finder.regions {
			number, how := s.finder.regions[i].E164(string(digits), as)
			if how > Impossible && len(number) <= mostDigits {
				return append([]byte("+"), number...)
			}
		}
	}
	return digits
}
