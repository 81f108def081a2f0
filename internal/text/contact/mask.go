package contact

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Masks are what a [Mask] may take out of texts.
var Masks = []string{"urls", "contacts", "numbers", "numerals", "dates"}

// A Mask takes out of texts what a template fills in, so that texts are the same that differ in
// nothing else. It is safe for concurrent use.
type Mask struct {
	urls, contacts, numbers, numerals, dates bool
	names                                    []string
}

// NewMask returns a Mask of some of [Masks]:
//
//	urls      URLs and host names
//	contacts  what else a [Finder] finds, also what it ignores
//	numbers   runs of digits, with what divides them, as in 3.14 and 12:30
//	numerals  runs of two and more Chinese numerals, as in 三百
//	dates     a number with 年, 月, 日, 号, 时, 点, 分 or 秒 behind it, of one Chinese numeral only with
//	          年, 月 or 日, since 十分 and 一点 are words; English months and weekdays
func NewMask(names []string) (*Mask, error) {
	for _, name := range names {
		if !slices.Contains(Masks, name) {
			return nil, fmt.Errorf("unknown mask %q: allowed are %s", name, strings.Join(Masks, ", "))
		}
	}
	has := func(name string) bool { return slices.Contains(names, name) }
	m := &Mask{
		urls: has("urls"), contacts: has("contacts"), numbers: has("numbers"),
		numerals: has("numerals"), dates: has("dates"),
	}
	for _, name := range Masks {
		if has(name) {
			m.names = append(m.names, name)
		}
	}
	return m, nil
}

// Identity names what is taken out, and the version of how it is found, as in
// mask=urls+numbers/1.
func (m *Mask) Identity() string {
	v := version
	if !m.urls && !m.contacts {
		v = numberVersion
	}
	return "mask=" + strings.Join(m.names, "+") + "/" + v
}

// numberVersion is that of a mask for which no contacts are looked for. Raise it with every change
// of what numbers, numerals and dates are, and [version], too.
const numberVersion = "1"

// Apply returns what is left of a text, in the same memory. In place of each part that is taken
// out there is a space.
func (m *Mask) Apply(text []byte) []byte {
	rest, at := text[:0], 0
	for s := (scanner{text: text}); (m.urls || m.contacts) && s.next(); {
		if c := s.found; c.URL && m.urls || !c.URL && m.contacts {
			rest = append(m.appendWithoutNumbers(rest, text[at:c.Start]), ' ')
			at = c.End
		}
	}
	return m.appendWithoutNumbers(rest, text[at:])
}

// appendWithoutNumbers appends what is left of a text in which there is no contact to take out.
func (m *Mask) appendWithoutNumbers(rest, text []byte) []byte {
	for len(text) > 0 {
		n := m.masked(text)
		if n > 0 {
			rest = append(rest, ' ')
		} else {
			n = kept(text)
			rest = append(rest, text[:n]...)
		}
		text = text[n:]
	}
	return rest
}

// kept returns the length of what is kept or taken out as a whole: a word of ASCII, or a
// character.
func kept(text []byte) int {
	n := 0
	for n < len(text) && isLetter(text[n]) {
		n++
	}
	if n == 0 {
		_, n = utf8.DecodeRune(text)
	}
	return n
}

// masked returns the length of a number or a date that begins the text, 0 if none does that is to
// be taken out.
func (m *Mask) masked(text []byte) int {
	if isLetter(text[0]) {
		if m.dates && calendar[string(text[:kept(text)])] {
			return kept(text)
		}
		return 0
	}
	n, numerals := numberLen(text)
	if n == 0 {
		return 0
	}
	if m.dates {
		unit, size := utf8.DecodeRune(text[n:])
		if wideClass(unit)&isDateUnit != 0 && (numerals != 1 || strings.ContainsRune("年月日", unit)) {
			return n + size
		}
	}
	if numerals == 0 && m.numbers || numerals >= 2 && m.numerals {
		return n
	}
	return 0
}

// numberLen returns the length of the number that begins the text, and of how many Chinese
// numerals it is; of digits it is none.
func numberLen(text []byte) (n, numerals int) {
	if isDigit(text[0]) {
		for n < len(text) && (isDigit(text[n]) || n+1 < len(text) && isDigit(text[n+1]) &&
			strings.IndexByte(".,:/-", text[n]) >= 0) {
			n++
		}
		return n, 0
	}
	for n < len(text) && text[n] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(text[n:])
		if wideClass(r)&(isNumeral|isTens) == 0 {
			break
		}
		n, numerals = n+size, numerals+1
	}
	return n, numerals
}

// calendar are the English names of months and weekdays, and their short forms that are no words.
var calendar = setOf("january february april june july august september october november " +
	"december jan feb apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday " +
	"friday saturday sunday mon tue tues wed thu thur thurs fri")
