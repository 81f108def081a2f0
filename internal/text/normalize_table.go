package text

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// An outcome says what becomes of a character that is a piece of its own: the
// length of the result in bytes (8 bits) over the result itself, its first byte
// lowest (24 bits), or over its place in [normalizer.long] where it is longer.
// Those of length 0 say something else of the character.
type outcome uint32

const (
	joined  outcome = iota // begins no piece: a mark, or a vowel of Hangul
	dropped                // invisible
	beyond                 // begins a piece, and is beyond the tables
)

func (o outcome) size() int  { return int(o >> 24) }
func (o outcome) low() int   { return int(o & (1<<24 - 1)) }
func (o outcome) fits() bool { return o>>24-1 < 3 }

func (n *normalizer) outcome(r rune) outcome {
	if int(r) < len(n.table) {
		return n.table[r]
	}
	if i := int(r) - len(n.table); i < len(n.more) {
		return n.more[i]
	}
	return n.kind(r)
}

// kind is joined, dropped, or beyond for each other r.
func (n *normalizer) kind(r rune) outcome {
	switch {
	case unicode.Is(n.invisible, r):
		return dropped
	case !beginsSegment(r):
		return joined
	}
	return beyond
}

// beginsSegment reports whether r composes with nothing that stands before it, nor
// changes places with it. What BoundaryBefore says of a character with a
// decomposition is not enough: U+314F is U+1161, a vowel that joins a syllable.
func beginsSegment(r rune) bool {
	p := norm.NFKC.PropertiesString(string(r))
	d := p.Decomposition()
	return p.BoundaryBefore() && (d == nil || norm.NFKC.Properties(d).BoundaryBefore())
}

// appendAlone appends what becomes of r, which is a piece of its own.
func (n *normalizer) appendAlone(dst []byte, r rune, o outcome) []byte {
	if o != beyond {
		return append(dst, n.long[o.low():][:o.size()]...)
	}
	if d := norm.NFKC.PropertiesString(string(r)).Decomposition(); d != nil {
		return n.appendNormalized(dst, string(d)) // NFKC makes the same of both
	}
	return n.appendFold(dst, r)
}

// lastEmoji ends the blocks of emoji.
const lastEmoji = 0x1FAFF

// fillTable fills a table of the characters from first on. It may call upon the table, for what it
// lacks as yet is joined there: longer pieces become the same, only more slowly.
func (n *normalizer) fillTable(table []outcome, first rune) {
	var result []byte
	for i := range table {
		r := first + rune(i)
		table[i] = n.kind(r)
		if table[i] != beyond {
			continue
		}
		result = n.appendAlone(result[:0], r, beyond)
		o := outcome(len(result)) << 24
		if len(result) > 3 {
			o |= outcome(len(n.long))
			n.long = append(n.long, result...)
		} else {
			for k, b := range result {
				o |= outcome(b) << (8 * k)
			}
		}
		table[i] = o
	}
}
