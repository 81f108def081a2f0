package text

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-ego/gse"
)

// A lexicon is gse's dictionary and the stop words, compiled. It is immutable.
//
// As in gse, words are made of units: a run of letters and numbers of at most two bytes
// each (Latin, Greek, Cyrillic, digits) is one unit, every other character is one by
// itself. The lexicon numbers the units that it knows: their codes.
//
// Each of those is a word of the lexicon, too: where a unit is no word, gse makes one of
// it that costs unknownCost.
type lexicon struct {
	codes  [1 << 16]uint16 // by character; of one that is part of a longer unit, codeLatin
	units  trie            // of Latin units and characters beyond codes, by bytes: their codes
	words  trie            // by codes
	hashes []uint64        // by number of a word
}

// The codes that no unit of the dictionary has.
const (
	codeSplit   = iota // of a character between runs
	codeLatin          // of a character that makes a unit with its neighbours
	codeUnknown        // of a unit with a letter or number
	codeMark           // of one without
	firstCode
)

// The numbers of words that stand for more than one.
const (
	wordNone = iota
	wordUnknown
	firstWord
)

// ignored is added to the numbers of words that are no tokens: of stop words and of
// those without letter and number.
const ignored = 1 << 31

// unknownCost is what gse takes for a unit that is no word.
const unknownCost = 32

// entry is a word of the dictionary, with what it costs a path.
type entry struct {
	text string
	cost float32
}

// entries returns the words of gse's dictionary, with the costs that gse computes:
// the less frequent, the dearer.
func entries(seg *gse.Segmenter) []entry {
	total := float32(math.Log2(seg.Dict.TotalFreq()))
	words := make([]entry, len(seg.Dict.Tokens))
	for i := range words {
		word := &seg.Dict.Tokens[i]
		words[i] = entry{word.Text(), total - float32(math.Log2(word.Freq()))}
	}
	return words
}

// newLexicon compiles words, of which no two are the same.
func newLexicon(words []entry, stop map[string]struct{}, hash func(string) uint64) *lexicon {
	// What cannot occur in a run is of no use: at&t.
	words = slices.DeleteFunc(words, func(w entry) bool { return strings.ContainsFunc(w.text, splits) })
	units := alphabet(words, stop)
	l := &lexicon{hashes: make([]uint64, firstWord, firstWord+len(words)+len(units))}
	l.setCodes(units)

	number := func(word string) uint32 {
		n := uint32(len(l.hashes))
		l.hashes = append(l.hashes, hash(word))
		if _, stopped := stop[word]; stopped || !strings.ContainsFunc(word, isLetterOrNumber) {
			n |= ignored
		}
		return n
	}
	b := newTrieBuilder(firstCode+len(units), len(words)*3/2)
	b.add([]uint32{codeUnknown}, wordUnknown, unknownCost)
	b.add([]uint32{codeMark}, wordUnknown|ignored, unknownCost)
	var codes []uint32
	for _, word := range words {
		codes = l.appendCodes(codes[:0], word.text)
		b.add(codes, number(word.text), word.cost)
	}
	for i, unit := range units {
		if code := firstCode + i; b.nodes[code].word == wordNone {
			b.add([]uint32{uint32(code)}, number(unit), unknownCost)
		}
	}
	l.words = b.build()
	return l
}

// appendCodes appends the codes of a word, all units of which have one.
func (l *lexicon) appendCodes(codes []uint32, word string) []uint32 {
	for text, at := []byte(word), 0; at < len(text); {
		code, size := l.unit(text, at)
		codes = append(codes, code)
		at += size
	}
	return codes
}

// alphabet lists the units of words, and those that are stop words. First come the
// characters that lexicon.codes has a place for, and the most frequent before the others,
// which keeps the nodes that texts need most near each other.
func alphabet(words []entry, stop map[string]struct{}) []string {
	count := make(map[string]int)
	for _, word := range words {
		for unit, rest := "", word.text; rest != ""; {
			unit, rest = cutUnit(rest)
			count[unit]++
		}
	}
	for word := range stop {
		if unit, rest := cutUnit(word); rest == "" {
			count[unit]++
		}
	}
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		_, aInTable := tabled(a)
		_, bInTable := tabled(b)
		switch {
		case aInTable && !bInTable:
			return -1
		case bInTable && !aInTable:
			return 1
		}
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
}

// tabled returns the character that a unit is, if lexicon.codes has its code.
func tabled(unit string) (r rune, ok bool) {
	r, size := utf8.DecodeRuneInString(unit)
	return r, size == len(unit) && r <= 0xFFFF && !isLatin(r)
}

// setCodes gives the units of an alphabet their codes, in order.
func (l *lexicon) setCodes(units []string) {
	for i := range l.codes {
		switch r := rune(i); {
		case !isWordRune(r):
		case isLatin(r):
			l.codes[r] = codeLatin
		default:
			l.codes[r] = unknown(r)
		}
	}
	b := newTrieBuilder(256, 0)
	for i, unit := range units {
		if r, ok := tabled(unit); ok {
			l.codes[r] = uint16(firstCode + i)
			continue
		}
		var bytes []uint32
		for _, c := range []byte(unit) {
			bytes = append(bytes, uint32(c))
		}
		b.add(bytes, firstCode+uint32(i), 0)
	}
	l.units = b.build()
}

// unknown returns the code of a character that makes a unit but has no code.
func unknown(r rune) uint16 {
	if isLetterOrNumber(r) {
		return codeUnknown
	}
	return codeMark
}

// unit returns the code and the size in bytes of the unit at text[at]: codeSplit where
// none begins.
func (l *lexicon) unit(text []byte, at int) (code uint32, size int) {
	code, size = l.character(text, at)
	if code != codeLatin {
		return code, size
	}
	end := at + size
	for end < len(text) {
		if b := text[end]; b < utf8.RuneSelf { // as character does, without a call for each letter
			code, size = uint32(l.codes[b]), 1
		} else {
			code, size = l.character(text, end)
		}
		if code != codeLatin {
			break
		}
		end += size
	}
	if code = l.longUnit(text[at:end]); code == 0 {
		code = codeUnknown
	}
	return code, end - at
}

// character returns the code and the size in bytes of the character at text[at].
func (l *lexicon) character(text []byte, at int) (code uint32, size int) {
	b := text[at]
	switch {
	case b < utf8.RuneSelf:
		return uint32(l.codes[b]), 1
	case b>>4 == 0xE && at+2 < len(text): // of three bytes, as nearly all of a Chinese text
		r := uint16(b)<<12 | uint16(text[at+1]&0x3F)<<6 | uint16(text[at+2]&0x3F)
		return uint32(l.codes[r]), 3
	}
	return l.rareCharacter(text[at:])
}

func (l *lexicon) rareCharacter(text []byte) (code uint32, size int) {
	r, size := utf8.DecodeRune(text)
	if r <= 0xFFFF {
		return uint32(l.codes[r]), size
	}
	if code := l.longUnit(text[:size]); code != 0 {
		return code, size
	}
	if !isWordRune(r) {
		return codeSplit, size
	}
	return uint32(unknown(r)), size
}

// longUnit returns the code of a Latin unit or a character beyond codes, 0 where it has
// none.
func (l *lexicon) longUnit(unit []byte) (code uint32) {
	at := uint32(unit[0])
	for _, b := range unit[1:] {
		child := l.units[at].base + uint32(b)
		if l.units[child].check != at {
			return 0
		}
		at = child
	}
	return l.units[at].word
}

// cutUnit cuts the first unit off a text that is not empty.
func cutUnit(s string) (unit, rest string) {
	end := 0
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !isLatin(r) {
			break
		}
		end += size
	}
	if end == 0 {
		_, end = utf8.DecodeRuneInString(s)
	}
	return s[:end], s[end:]
}

// isLatin tells whether r makes a unit with its neighbours.
func isLatin(r rune) bool {
	return r < 0x800 && isLetterOrNumber(r) // of one or two bytes
}
