package text

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// A Range is text[Start:End].
type Range struct{ Start, End int }

// AppendStyled appends what [Cleaner.AppendClean] does, but without a mask and with the digits
// within words as they are: names and codes have them. It also returns where letters and numbers of
// the title and the content were written in a style, in order and apart from each other:
//
//   - as mathematical letters and numbers, or in circles and squares: each run of these, without the
//     spaces between words
//   - spaced out, of any script: from the first to the last of what was joined
//
// Flags are not a style. Without [CleanOptions].Fold nothing is.
func (c *Cleaner) AppendStyled(dst []byte, title, content string) (clean []byte, styled []Range) {
	work := cleaning{Cleaner: c, names: true}
	return work.append(dst, title, content), work.styled
}

// appendStyled appends s normalised and with its spaced-out letters joined, and to styled where it
// was written in a style.
func (n *normalizer) appendStyled(dst []byte, s string, styled []Range) ([]byte, []Range) {
	from, first := len(dst), len(styled)
	for s != "" {
		start, end := n.nextStyled(s)
		dst = n.appendNormalized(dst, s[:start])
		if begin := len(dst); start < end {
			dst = n.appendNormalized(dst, s[start:end])
			styled = append(styled, Range{begin, len(dst)})
		}
		s = s[end:]
	}
	var joins []join
	dst = n.joinSpaced(dst, from, &joins)
	return dst, append(styled[:first], withJoins(styled[first:], joins)...)
}

// nextStyled returns where the first run of characters in a style begins and ends in s, with what
// goes on a piece of each. Both are the length of s if there is none.
func (n *normalizer) nextStyled(s string) (start, end int) {
	for start = 0; start < len(s); start++ {
		if leadsStyled(s[start]) && styledLen(s[start:]) > 0 {
			break
		}
	}
	for end = start; end < len(s); {
		size := styledLen(s[end:])
		if size == 0 {
			break
		}
		end += size
		end += n.joinedLen(s[end:])
	}
	return start, end
}

// leadsStyled reports whether a character in a style may begin with b.
func leadsStyled(b byte) bool { return b == 0xE2 || b == 0xF0 }

// styledLen returns the length of the character in a style that s begins with, or 0.
func styledLen(s string) int {
	if r, size := utf8.DecodeRuneInString(s); unicode.Is(inStyle, r) {
		return size
	}
	return 0
}

// inStyle are letters and numbers that are others in a style. What is in brackets, such as U+249C,
// is not here: its letters are spaced out.
var inStyle = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2102, Hi: 0x2102, Stride: 1}, // the mathematical letters that were there before their block
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
		{Lo: 0x1D400, Hi: 0x1D6C0, Stride: 1}, // mathematical, without the signs for gradients and differentials
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

// A join is where letters were spaced out, and where they are now that they are joined.
type join struct{ before, after Range }

// withJoins returns ranges of a text as they are after the joins in it, and the ranges of these. A
// range lies outside of all joins or within one, as one character of it.
func withJoins(ranges []Range, joins []join) []Range {
	if len(joins) == 0 {
		return ranges
	}
	all := make([]Range, 0, len(ranges)+len(joins))
	shift := 0
	for _, j := range joins {
		next := slices.IndexFunc(ranges, func(r Range) bool { return r.Start >= j.before.Start })
		if next < 0 {
			next = len(ranges)
		}
		all = appendShifted(all, ranges[:next], shift)
		all = append(all, j.after)
		for ranges = ranges[next:]; len(ranges) > 0 && ranges[0].Start < j.before.End; {
			ranges = ranges[1:]
		}
		shift = j.before.End - j.after.End
	}
	return appendShifted(all, ranges, shift)
}

func appendShifted(dst, ranges []Range, shift int) []Range {
	for _, r := range ranges {
		dst = append(dst, Range{r.Start - shift, r.End - shift})
	}
	return dst
}
