package text

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

//go:embed opencc/TSCharacters.txt
var openccTS string

// CJK Unified Ideographs with Extension A before them: nearly all Han
// characters in use, and none that is invisible or has case.
const (
	firstHan = 0x3400
	lastHan  = 0x9FFF
)

// normalizer makes one text of all texts that read alike. It is immutable.
type normalizer struct {
	invisible  *unicode.RangeTable
	simplified [lastHan - firstHan + 1]rune // by traditional character; each other one to itself
	rare       map[rune]rune                // the same beyond lastHan
}

func newNormalizer() (*normalizer, error) {
	n := &normalizer{
		invisible: rangetable.Merge(
			// Zero width spaces and joiners, byte order mark, soft hyphen, marks
			// of direction: spam hides its words behind them.
			unicode.Cf,
			// The same to the eye, in other categories: emoji variants, fillers
			// of Hangul.
			unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
		),
		rare: make(map[rune]rune),
	}
	for i := range n.simplified {
		n.simplified[i] = firstHan + rune(i)
	}
	for i, row := range strings.Split(strings.TrimSpace(openccTS), "\n") {
		if err := n.addTraditional(row); err != nil {
			return nil, fmt.Errorf("opencc/TSCharacters.txt:%d: %w", i+1, err)
		}
	}
	// OpenCC has a chain (薴 → 苧 → 苎), which would make normalised text change
	// when normalised once more.
	for i, r := range n.simplified {
		n.simplified[i] = n.simplify(r)
	}
	return n, nil
}

// addTraditional enters a row of OpenCC's table: a character, then candidates,
// of which the first is the likeliest.
func (n *normalizer) addTraditional(row string) error {
	fields := strings.Fields(row)
	if len(fields) < 2 || utf8.RuneCountInString(fields[0]) != 1 || utf8.RuneCountInString(fields[1]) != 1 {
		return fmt.Errorf("want a character and its candidates, have %q", row)
	}
	from, _ := utf8.DecodeRuneInString(fields[0])
	to, _ := utf8.DecodeRuneInString(fields[1])
	switch {
	case from < firstHan:
		return fmt.Errorf("character %q lies before %U", from, firstHan)
	case from <= lastHan:
		n.simplified[from-firstHan] = to
	default:
		n.rare[from] = to
	}
	return nil
}

// normalize drops invisible characters, brings the rest to Unicode's
// compatibility composition (NFKC, UAX #15), simplified Chinese and lower
// case. The result is valid UTF-8, and normalising it again changes nothing.
func (n *normalizer) normalize(s string) string {
	// First, for a hidden character also keeps a letter from its accent.
	s = strings.Map(n.dropInvisible, s)
	s = strings.Map(n.fold, norm.NFKC.String(s))
	if !strings.ContainsFunc(s, isNonspacingMark) {
		return s
	}
	// Some letters compose with a mark in lower case only (H + U+0331, h + U+0331 = ẖ).
	return strings.Map(n.fold, norm.NFKC.String(s))
}

func isNonspacingMark(r rune) bool {
	return r >= 0x300 && (r < firstHan || r > lastHan) && unicode.Is(unicode.Mn, r)
}

func (n *normalizer) dropInvisible(r rune) rune {
	switch {
	case r < 0xAD, r >= firstHan && r <= lastHan: // none is there: the common case, quickly
		return r
	case unicode.Is(n.invisible, r):
		return -1
	}
	return r
}

func (n *normalizer) fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	case r >= firstHan && r <= lastHan, r >= 0x20000: // Han: no case
		return n.simplify(r)
	}
	return unicode.ToLower(r)
}

func (n *normalizer) simplify(r rune) rune {
	if r >= firstHan && r <= lastHan {
		return n.simplified[r-firstHan]
	}
	if simplified, ok := n.rare[r]; ok {
		return simplified
	}
	return r
}
