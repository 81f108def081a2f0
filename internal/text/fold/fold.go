// Package fold has what becomes of characters by which spam varies a text: letters that look like
// others, marks, symbols, digits that stand for letters. It also knows the letters in a style.
package fold

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// The versions of folding: that of a text's identity, where it is folded. Each makes the same of a
// text for ever, since clusters that were made by one are kept with it.
const (
	First  = 1      // look-alikes, accents, symbols and letters that are spaced out
	Tricks = 2      // also marks beyond two on a letter, and digits within words
	Latest = Tricks // raise it with every change; ../testdata/*.golden and lookalikes.txt show one
)

// lookalikes has a line for each of a to z, of 0 to 9 and of the numbers that are one character:
// it, then the characters that look like it. These are the letters and numbers
//
//   - that its name, if it is Latin, says are that letter with something on it, or that are a
//     letter or a number in a circle or a square,
//   - that are that digit in another script,
//   - whose prototype in UTS #39, "Unicode Security Mechanisms", is that letter or digit.
//
// Those that NFKC changes, or that are others with combining marks, are not in it. Of a letter and
// its other case each goes by its own look where it has one, but is a letter rather than a digit,
// and not the l that a capital I looks like.
//
//go:generate go test -run TestLookalikes -update
//go:embed lookalikes.txt
var lookalikes string

// readLookalikes returns what each look-alike becomes, by rows as those of lookalikes.txt.
func readLookalikes(rows string) (map[rune]string, error) {
	likes := make(map[rune]string)
	for i, row := range strings.Split(strings.TrimSuffix(rows, "\n"), "\n") {
		to, from, ok := strings.Cut(row, " ")
		if !ok || to == "" || strings.Trim(to, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return nil, fmt.Errorf("lookalikes.txt:%d: want ASCII and what looks like it, have %q", i+1, row)
		}
		for _, r := range from {
			if r < utf8.RuneSelf {
				return nil, fmt.Errorf("lookalikes.txt:%d: %q is ASCII and stays as it is", i+1, r)
			}
			likes[r] = to
		}
	}
	return likes, nil
}

// A Folder says what becomes of a character.
type Folder struct {
	likes   map[rune]string // what look-alikes become
	symbols *unicode.RangeTable
}

// Combining are the blocks of the marks that go with any script. Those that spell a script's
// vowels or consonants are in blocks of their own.
var Combining = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0300, Hi: 0x036F, Stride: 1},
	{Lo: 0x1AB0, Hi: 0x1AFF, Stride: 1},
	{Lo: 0x1DC0, Hi: 0x1DFF, Stride: 1},
	{Lo: 0x20D0, Hi: 0x20FF, Stride: 1},
	{Lo: 0xFE20, Hi: 0xFE2F, Stride: 1},
}}

// ornaments are what is no symbol by its category, but serves as one: arrows and shapes that are
// also signs of mathematics, bullets, daggers, ornate brackets of Javanese.
var ornaments = rangetable.Merge(
	&unicode.RangeTable{R16: []unicode.Range16{
		{Lo: 0x2190, Hi: 0x21FF, Stride: 1},
		{Lo: 0x25A0, Hi: 0x27BF, Stride: 1},
		{Lo: 0x27F0, Hi: 0x27FF, Stride: 1},
		{Lo: 0x2900, Hi: 0x297F, Stride: 1},
		{Lo: 0x2B00, Hi: 0x2BFF, Stride: 1},
	}},
	rangetable.New('·', '†', '‡', '•', '‣', '‧', '※', '⁁', '⁂', '⁃', '⁎', '⁑', '⁕', '⁜', '∙', '⋅', '⋆',
		'・', '꧁', '꧂'),
)

// New returns the Folder. It is made once: all that need it share it.
var New = sync.OnceValues(func() (*Folder, error) {
	likes, err := readLookalikes(lookalikes)
	if err != nil {
		return nil, err
	}
	return &Folder{likes, rangetable.Merge(unicode.So, unicode.Sk, ornaments)}, nil
})

// Folds reports whether r, which is in lower case and no ASCII, is another character when folded.
func (f *Folder) Folds(r rune) bool {
	_, like := f.likes[r]
	_, marked := withoutMarks(r)
	return like || marked || unicode.Is(f.symbols, r)
}

// Append appends what becomes of r, which is in simplified Chinese; lower is it in lower case.
// What it appends stays as it is when folded once more.
func (f *Folder) Append(dst []byte, r, lower rune) []byte {
	if r < utf8.RuneSelf {
		return append(dst, byte(lower))
	}
	if like, ok := f.likes[r]; ok {
		return append(dst, like...)
	}
	if like, ok := f.likes[lower]; ok {
		return append(dst, like...)
	}
	if base, ok := withoutMarks(r); ok {
		for _, r := range base {
			dst = f.Append(dst, r, unicode.ToLower(r))
		}
		return dst
	}
	if unicode.Is(f.symbols, lower) {
		return append(dst, ' ')
	}
	return utf8.AppendRune(dst, lower)
}

// withoutMarks returns r without combining marks, and whether it has any.
func withoutMarks(r rune) (base string, ok bool) {
	d := norm.NFD.PropertiesString(string(r)).Decomposition()
	if d == nil {
		return "", unicode.Is(Combining, r)
	}
	base = strings.Map(func(r rune) rune {
		if unicode.Is(Combining, r) {
			ok = true
			return -1
		}
		return r
	}, string(d))
	return norm.NFC.String(base), ok
}
