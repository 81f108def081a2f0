package fold

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// A Range is text[Start:End].
type Range struct{ Start, End int }

// IndexStyled returns where the first character in a style is in s, or the length of s.
func IndexStyled(s string) int {
	for i := range len(s) {
		if leadsStyled(s[i]) && StyledLen(s[i:]) > 0 {
			return i
		}
	}
	return len(s)
}

// leadsStyled reports whether a character in a style may begin with b.
func leadsStyled(b byte) bool { return b == 0xE2 || b == 0xF0 }

// StyledLen returns the length of the character in a style that s begins with, or 0.
func StyledLen(s string) int {
	if r, size := utf8.DecodeRuneInString(s); unicode.Is(inStyle, r) {
		return size
	}
	return 0
}

// inStyle are letters and numbers that are others in a style. What is in brackets, such as U+249C,
// is not here: its letters are spaced out.
var inStyle = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2102, Hi: 0x2102, Stride: 1}, // mathematical, older than their block
		{Lo: 0x210A, Hi: 0x2113, Stride: 1},
		{Lo: 0x2115, Hi: 0x2115, Stride: 1},
		{Lo: 0x2119, Hi: 0x211D, Stride: 1},
		{Lo: 0x2124, Hi: 0x2124, Stride: 1},
		{Lo: 0x2128, Hi: 0x2128, Stride: 1},
		{Lo: 0x212C, Hi: 0x212D, Stride: 1},
		{Lo: 0x212F, Hi: 0x2131, Stride: 1},
		{Lo: 0x2133, Hi: 0x2134, Stride: 1},
		{Lo: 0x2145, Hi: 0x2149, Stride: 1},
		{Lo: 0x2460, Hi: 0x2473, Stride: 1}, // in circles
		{Lo: 0x24B6, Hi: 0x24FF, Stride: 1},
		{Lo: 0x2776, Hi: 0x2793, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1D400, Hi: 0x1D6C0, Stride: 1}, // mathematical, without ∇ and ∂
		{Lo: 0x1D6C2, Hi: 0x1D6DA, Stride: 1},
		{Lo: 0x1D6DC, Hi: 0x1D6FA, Stride: 1},
		{Lo: 0x1D6FC, Hi: 0x1D714, Stride: 1},
		{Lo: 0x1D716, Hi: 0x1D734, Stride: 1},
		{Lo: 0x1D736, Hi: 0x1D74E, Stride: 1},
		{Lo: 0x1D750, Hi: 0x1D76E, Stride: 1},
		{Lo: 0x1D770, Hi: 0x1D788, Stride: 1},
		{Lo: 0x1D78A, Hi: 0x1D7A8, Stride: 1},
		{Lo: 0x1D7AA, Hi: 0x1D7C2, Stride: 1},
		{Lo: 0x1D7C4, Hi: 0x1D7FF, Stride: 1},
		{Lo: 0x1F10B, Hi: 0x1F10C, Stride: 1}, // in circles and squares
		{Lo: 0x1F130, Hi: 0x1F149, Stride: 1},
		{Lo: 0x1F150, Hi: 0x1F169, Stride: 1},
		{Lo: 0x1F170, Hi: 0x1F189, Stride: 1},
	},
}

// A Join is where letters were spaced out, and where they are now that they are joined.
type Join struct{ Before, After Range }

// WithJoins returns ranges of a text as they are after the joins in it, and the ranges of these. A
// range lies outside of all joins or within one, as one character of it.
func WithJoins(ranges []Range, joins []Join) []Range {
	if len(joins) == 0 {
		return ranges
	}
	all := make([]Range, 0, len(ranges)+len(joins))
	shift := 0
	for _, j := range joins {
		next := slices.IndexFunc(ranges, func(r Range) bool { return r.Start >= j.Before.Start })
		if next < 0 {
			next = len(ranges)
		}
		all = appendShifted(all, ranges[:next], shift)
		all = append(all, j.After)
		for ranges = ranges[next:]; len(ranges) > 0 && ranges[0].Start < j.Before.End; {
			ranges = ranges[1:]
		}
		shift = j.Before.End - j.After.End
	}
	return appendShifted(all, ranges, shift)
}

func appendShifted(dst, ranges []Range, shift int) []Range {
	for _, r := range ranges {
		dst = append(dst, Range{r.Start - shift, r.End - shift})
	}
	return dst
}
