package text

import (
	"unicode"

	"github.com/clusterd/clusterd/internal/text/fold"
)

// AppendStyled appends what [Cleaner.AppendClean] does, but without a mask and with the digits
// within words as they are: names and codes have them. It also returns where letters and numbers of
// the title and the content were written in a style, in order and apart from each other:
//
//   - as mathematical letters and numbers, or in circles and squares: each run of these, without
//     the spaces between words
//   - spaced out, of any script: from the first to the last of what was joined
//
// Flags are not a style. Without [CleanOptions].Fold nothing is.
func (c *Cleaner) AppendStyled(dst []byte, title, content string) ([]byte, []fold.Range) {
	work := cleaning{Cleaner: c, names: true}
	return work.append(dst, title, content), work.styled
}

// appendStyled appends s normalised and with its spaced-out letters joined, and to all where it was
// written in a style.
func (n *normalizer) appendStyled(dst []byte, s string, all []fold.Range) ([]byte, []fold.Range) {
	from, first := len(dst), len(all)
	for s != "" {
		start, end := n.nextStyled(s)
		dst = fold.DropMarks(n.appendNormalized(dst, s[:start]), len(dst))
		if begin := len(dst); start < end {
			dst = fold.DropMarks(n.appendNormalized(dst, s[start:end]), begin)
			all = append(all, fold.Range{Start: begin, End: len(dst)})
		}
		s = s[end:]
	}
	var joins []fold.Join
	dst, _, _ = n.joinSpaced(dst, from, &joins)
	return dst, append(all[:first], fold.WithJoins(all[first:], joins)...)
}

// nextStyled returns where the first run of characters in a style begins and ends in s, with what
// goes on a piece of each. Both are the length of s if there is none.
func (n *normalizer) nextStyled(s string) (start, end int) {
	start = fold.IndexStyled(s)
	for end = start; end < len(s); {
		size := fold.StyledLen(s[end:])
		if size == 0 {
			break
		}
		end += size
		end += n.marksLen(s[end:])
	}
	return start, end
}

// marksLen returns the length of what at the beginning of s goes on a piece, and of marks.
func (n *normalizer) marksLen(s string) int {
	for i, r := range s {
		if o := n.outcome(r); o != joined && o != dropped && !unicode.IsMark(r) {
			return i
		}
	}
	return len(s)
}
