package text

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"

	"github.com/clusterd/clusterd/internal/text/fold"
)

// normalizer makes one text of all texts that read alike: it drops invisible
// characters and brings the rest to Unicode's compatibility composition (NFKC,
// UAX #15), simplified Chinese and lower case. The result is valid UTF-8, and
// normalising it again changes nothing. It is safe for concurrent use.
//
// By definition that is
//
//	fold(NFKC(fold(NFKC(visible(s)))))
//
// where visible drops characters and fold, simplified Chinese and lower case,
// replaces each by one. Invisible characters go first, for a hidden one also
// keeps a letter from its accent; the second round is for letters that compose
// with a mark in lower case only (H + U+0331 stays, h + U+0331 is ẖ).
//
// Only NFKC looks beyond a character, and it never looks across the beginning of
// a segment, a character that composes with nothing before it: there
// NFKC(uv) = NFKC(u)NFKC(v). What a segment becomes begins one again, in both
// rounds, as a test finds of each character. So a text may be divided before each
// visible character that begins a segment and normalised piece by piece. Nearly
// always a piece is one character, and what that becomes is in a table.
//
// One that folds, for [CleanOptions].Fold, differs from that in two ways. Combining marks are
// dropped with what is invisible. And its fold makes ASCII of look-alikes, letters of those with
// marks, and spaces of symbols, so that it may replace a character by none or by two.
type normalizer struct {
	invisible  *unicode.RangeTable
	simplified map[rune]rune // by traditional character
	folder     *fold.Folder  // of look-alikes; nil where they are left
	classes    []class       // of characters as far as U+FFFF, where it folds

	table [1 << 16]outcome // by character, as far as U+FFFF
	more  []outcome        // of those from U+10000 on; emoji, where it folds
	long  []byte           // what does not fit into an outcome

	scratch sync.Pool // of *scratch
}

// newNormalizer returns the normalizer. It is made once: all that need it share it.
var newNormalizer = sync.OnceValues(func() (*normalizer, error) { return makeNormalizer(nil) })

// newFoldingNormalizer returns a normalizer that folds, too. It is made once, when it is first
// needed: all that need it share it.
var newFoldingNormalizer = sync.OnceValues(func() (*normalizer, error) {
	folder, err := fold.New()
	if err != nil {
		return nil, err
	}
	return makeNormalizer(folder)
})

func makeNormalizer(f *fold.Folder) (*normalizer, error) {
	simplified, err := readSimplified()
	if err != nil {
		return nil, err
	}
	n := &normalizer{
		invisible: rangetable.Merge(
			// Zero width spaces and joiners, byte order mark, soft hyphen, marks
			// of direction: spam hides its words behind them.
			unicode.Cf,
			// The same to the eye, in other categories: emoji variants, fillers
			// of Hangul.
			unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
		),
		simplified: simplified,
		folder:     f,
		scratch:    sync.Pool{New: func() any { return new(scratch) }},
	}
	if f != nil {
		n.invisible = rangetable.Merge(n.invisible, fold.Combining)
	}
	n.fillTable(n.table[:], 0)
	if f != nil {
		more := make([]outcome, lastEmoji+1-len(n.table))
		n.fillTable(more, rune(len(n.table)))
		n.more = more
		n.classes = make([]class, len(n.table))
		for i := range n.classes {
			n.classes[i] = classOf(rune(i), n.table[i])
		}
	}
	return n, nil
}

// normalize returns s normalised.
func (n *normalizer) normalize(s string) string {
	return string(n.appendNormalized(nil, s))
}

// appendNormalized appends s normalised. It allocates only where dst must grow.
func (n *normalizer) appendNormalized(dst []byte, s string) []byte {
	dst = slices.Grow(dst, len(s)+8)
	var (
		begin = 0        // of the piece at hand, in s
		out   = len(dst) // the same in dst
	)
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf && len(s)-i >= 8 {
			eight, ascii := lowerASCII(s[i : i+8])
			dst = binary.LittleEndian.AppendUint64(dst, eight)[:len(dst)+ascii]
			i += ascii
			begin, out = i-1, len(dst)-1
			continue
		}
		if len(s)-i >= 3 && isThreeBytes(s[i], s[i+1], s[i+2]) { // as below, quickly
			r := rune(s[i]&0x0F)<<12 | rune(s[i+1]&0x3F)<<6 | rune(s[i+2]&0x3F)
			if o := n.table[r]; o.fits() {
				begin, out = i, len(dst)
				dst = binary.LittleEndian.AppendUint32(dst, uint32(o))[:len(dst)+o.size()]
				i += 3
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch o := n.outcome(r); {
		case o.fits():
			begin, out = i, len(dst)
			dst = binary.LittleEndian.AppendUint32(dst, uint32(o))[:len(dst)+o.size()]
		case o == dropped:
		case o == joined:
			size += n.joinedLen(s[i+size:])
			dst = n.appendPiece(dst[:out], s[begin:i+size])
		default:
			begin, out = i, len(dst)
			dst = n.appendAlone(dst, r, o)
		}
		i += size
	}
	return dst
}

// lowerASCII returns eight bytes of text, the first of them lowest, with A to Z
// made a to z, and how many of them, from the first on, are ASCII. The others
// are not to be used.
func lowerASCII(s string) (eight uint64, ascii int) {
	const each = 0x0101010101010101 // times a byte: that byte eight times
	eight = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	ascii = bits.TrailingZeros64(eight&(each*0x80)) / 8
	// Sums of bytes below 0x80: the high bit of each tells whether it was reached.
	low := eight & (each * 0x7F)
	upper := (low + each*(0x80-'A')) &^ (low + each*(0x80-'Z'-1)) & (each * 0x80)
	return eight | upper>>2, ascii // 'a' - 'A' is 0x20, a fourth of the high bit
}

// isThreeBytes reports whether a character of three bytes begins with these. It
// does not know those after 0xE0 and 0xED, where there are more conditions.
func isThreeBytes(a, b, c byte) bool {
	return a > 0xE0 && a < 0xF0 && a != 0xED && b&0xC0 == 0x80 && c&0xC0 == 0x80
}

// joinedLen returns the length of what at the beginning of s goes on a piece.
func (n *normalizer) joinedLen(s string) int {
	for i, r := range s {
		if o := n.outcome(r); o != joined && o != dropped {
			return i
		}
	}
	return len(s)
}

// scratch is what normalising a piece takes.
type scratch struct {
	iter            norm.Iter
	visible, folded []byte
}

// appendPiece appends a piece of text normalised, by the definition.
func (n *normalizer) appendPiece(dst []byte, piece string) []byte {
	w := n.scratch.Get().(*scratch)
	defer n.scratch.Put(w)
	w.visible = w.visible[:0]
	for _, r := range piece {
		if !unicode.Is(n.invisible, r) {
			w.visible = utf8.AppendRune(w.visible, r)
		}
	}
	w.folded = n.appendFolded(w.folded[:0], &w.iter, w.visible)
	if norm.NFKC.QuickSpan(w.folded) == len(w.folded) {
		return append(dst, w.folded...) // as NFKC leaves it, and so fold
	}
	return n.appendFolded(dst, &w.iter, w.folded)
}

// appendFolded appends fold(NFKC(s)).
func (n *normalizer) appendFolded(dst []byte, nfkc *norm.Iter, s []byte) []byte {
	for nfkc.Init(norm.NFKC, s); !nfkc.Done(); {
		for segment := nfkc.Next(); len(segment) > 0; {
			r, size := utf8.DecodeRune(segment)
			dst = n.appendFold(dst, r)
			segment = segment[size:]
		}
	}
	return dst
}

// appendFold appends r in simplified Chinese and lower case, folded where that is wanted.
func (n *normalizer) appendFold(dst []byte, r rune) []byte {
	if r >= firstHan {
		if simplified, ok := n.simplified[r]; ok {
			r = simplified
		}
	}
	if n.folder != nil {
		return n.folder.Append(dst, r, unicode.ToLower(r))
	}
	return utf8.AppendRune(dst, unicode.ToLower(r))
}
