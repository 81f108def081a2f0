package charset

import (
	"bytes"
	"maps"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// sampled is how many bytes are looked at to tell an encoding, from the first on that is not ASCII.
const sampled = 64 << 10

// detect returns which of the encodings bytes are in: that in which their text is the likeliest.
// Another than the expected one must be so by far.
func detect(b []byte, expected candidate, others []candidate) candidate {
	from := beyondASCII(b)
	if from < 0 {
		return expected
	}
	from &^= 1 // a character of UTF-16 begins at an even place
	b = b[from:min(len(b), from+sampled)]
	best, lowest := expected, expected.cost(b)-margin
	for _, c := range others {
		if cost := c.cost(b); cost < lowest {
			best, lowest = c, cost
		}
	}
	return best
}

// beyondASCII returns where the first byte is that is not ASCII, or is NUL; -1 for nowhere.
func beyondASCII(b []byte) int {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= utf8.RuneSelf || r == 0 })
}

// What a character costs is roughly the number of bits that it takes to name it: the likelier, the
// less. So of two texts that the same bytes may be the one that costs less is the likelier one. A
// character that is hardly ever written costs more than bytes that are no character, since damage
// happens, and mostly to UTF-8.
const (
	asciiCost   = 5
	markCost    = 8  // punctuation
	commonCost  = 10 // a common Chinese character, or one of Latin-1
	foreignCost = 18 // one that is common in the other's Chinese
	letterCost  = 14 // of another alphabet
	symbolCost  = 22
	brokenCost  = 20 // bytes that are no character
	wrongCost   = 40 // the same, in another encoding than UTF-8: then it is hardly that encoding
	// where a Chinese character touches a Latin one, as damage within an English word looks
	seamCost    = 10
	controlCost = 20
	rareCost    = 30
	// margin is by how much text must cost less in another encoding than the expected one: that one
	// rare character takes the place of damage says nothing.
	margin = 32
)

// cost returns what bytes cost as text of the encoding.
func (c candidate) cost(b []byte) (cost int) {
	if c.decoding == nil {
		return utf8Cost(b, c.costs)
	}
	text, err := c.decoding.NewDecoder().Bytes(b)
	if err != nil {
		return wrongCost * len(b)
	}
	var before rune
	for _, r := range string(text) {
		cost += c.costs.of(r)
		if isLetter(r) && isHan(before) || isHan(r) && isLetter(before) {
			cost += seamCost
		}
		before = r
	}
	return cost
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func isHan(r rune) bool { return r >= firstHan && r <= lastHan }

// utf8Cost returns that of UTF-8 in which there may be damage: a character that is cut counts once,
// whatever is left of it, and so does one of the forms that other programs take for UTF-8, such as
// halves of surrogate pairs (CESU-8).
func utf8Cost(b []byte, costs *costs) (cost int) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			var whole bool
			if size, whole = brokenSize(b); whole {
				cost += letterCost
			} else {
				cost += brokenCost
			}
		} else {
			cost += min(costs.of(r), controlCost)
		}
		b = b[size:]
	}
	return cost
}

// brokenSize returns how many bytes, at least one, are what is left of a character, or one that
// must not be written so.
func brokenSize(b []byte) (size int, whole bool) {
	want := 0
	switch lead := b[0]; {
	case lead >= 0xf0 && lead <= 0xf7:
		want = 4
	case lead >= 0xe0 && lead <= 0xef:
		want = 3
	case lead >= 0xc0 && lead <= 0xdf:
		want = 2
	case lead < 0xc0:
		want = 4 // its beginning is missing
	}
	size = 1
	for size < want && size < len(b) && b[size]&0xc0 == 0x80 {
		size++
	}
	return size, b[0] >= 0xc0 && size == want
}

// costs are those of the characters of the first plane.
type costs [1 << 16]uint8

func (c *costs) of(r rune) int {
	switch {
	case int(r) < len(c):
		return int(c[r])
	case r >= 0x1f000 && r < 0x20000: // emoji
		return symbolCost
	default:
		return rareCost
	}
}

const (
	firstHan = 0x4e00
	lastHan  = 0x9fff
)

// newCosts returns the costs in text in which some Chinese characters are common, and others are
// not strange.
func newCosts(common, foreign map[rune]bool) *costs {
	c := new(costs)
	for i := range c {
		c[i] = uint8(otherCost(rune(i)))
	}
	for r := range foreign {
		c[r] = foreignCost
	}
	for r := range common {
		c[r] = commonCost
	}
	return c
}

// otherCost returns what a character costs that is not Chinese, or is rare.
func otherCost(r rune) int {
	switch {
	case r == '\n' || r == '\r' || r == '\t':
		return asciiCost
	case r == 0 || r == utf8.RuneError:
		return wrongCost
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return controlCost
	case r < 0x7f:
		return asciiCost
	// not less than two of ASCII, such as blanks, which these are as UTF-16
	case r < 0x100 || r >= 0x2010 && r <= 0x203b:
		return commonCost
	case r >= 0x3000 && r <= 0x301f || r >= 0xff01 && r <= 0xff5e:
		return markCost
	case !unicode.IsPrint(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r):
		return wrongCost
	case r >= 0x3041 && r <= 0x30ff || r < 0x600 && unicode.IsLetter(r) ||
		unicode.In(r, unicode.Hangul, unicode.Arabic, unicode.Thai, unicode.Devanagari):
		return letterCost
	case r < 0x3000:
		return symbolCost
	default:
		return rareCost
	}
}

// rows returns the Chinese characters of some rows of an encoding of two bytes.
func rows(e encoding.Encoding, firstRow, lastRow, firstCell byte) map[rune]bool {
	var b []byte
	for row := firstRow; row <= lastRow; row++ {
		for cell := firstCell; cell < 0xff; cell++ {
			b = append(b, row, cell, '\n') // so that one that is not taken harms none of the others
		}
	}
	text, _ := e.NewDecoder().Bytes(b) // a decoder writes U+FFFD instead of failing
	found := make(map[rune]bool)
	for _, r := range string(text) {
		if isHan(r) {
			found[r] = true
		}
	}
	return found
}

// costsIn are the costs in simplified and in traditional Chinese, and in either. Common characters
// are those that the standards put first: 3,755 of GB 2312, and 5,401 of Big5.
var costsIn = sync.OnceValue(func() (in struct{ simplified, traditional, any *costs }) {
	simplified := rows(simplifiedchinese.GBK, 0xb0, 0xd7, 0xa1)
	traditional := rows(traditionalchinese.Big5, 0xa4, 0xc6, 0x40)
	in.simplified, in.traditional = newCosts(simplified, traditional),
		newCosts(traditional, simplified)
	maps.Copy(simplified, traditional)
	in.any = newCosts(simplified, nil)
	return in
})
