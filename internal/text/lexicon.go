package text

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
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
	codes    [1 << 16]uint16 // by character; of one that is part of a longer unit, codeLatin
	units    trie            // of Latin units and characters beyond codes, by bytes: their codes
	words    trie            // by codes
	added    []string        // words that are not of the dictionary, in the order of their numbers
	checksum checksum        // of the words and their frequencies
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

// newLexicon compiles the words of a dictionary, and those of a user, which count before it.
func newLexicon(d *dictionary, user *gse.Dictionary, stop map[string]struct{}) *lexicon {
	units := alphabet(d, user, stop)
	l := &lexicon{checksum: d.checksum}
	l.setCodes(units)

	// By number of a word; 0 of what is none.
	frequencies := make([]float64, firstWord, firstWord+d.words+len(units))
	number := func(text string, frequency float64) uint32 {
		n := uint32(len(frequencies))
		frequencies = append(frequencies, frequency)
		if _, stopped := stop[text]; stopped || !strings.ContainsFunc(text, isLetterOrNumber) {
			n |= ignored
		}
		return n
	}
	add := func(text string, frequency float64) uint32 {
		l.added = append(l.added, text)
		return number(text, frequency)
	}
	b := newTrieBuilder(firstCode+len(units), d.nodes)
	d.fill(b, number)
	builtIn := d.total
	var codes []uint32
	for i := range user.Tokens {
		text, frequency := user.Tokens[i].Text(), user.Tokens[i].Freq()
		l.checksum += wordChecksum(text, frequency)
		codes = l.appendCodes(codes[:0], text)
		if word := b.add(codes); *word == wordNone {
			*word = add(text, frequency)
		} else {
			replaced := &frequencies[*word&^ignored]
			l.checksum -= wordChecksum(text, *replaced)
			builtIn -= *replaced
			*replaced = frequency
		}
	}
	*b.add([]uint32{codeUnknown}) = wordUnknown
	*b.add([]uint32{codeMark}) = wordUnknown | ignored
	for i, unit := range units {
		if word := b.add([]uint32{uint32(firstCode + i)}); *word == wordNone {
			*word = add(unit, 0)
		}
	}

	l.words = b.build()
	total := float32(math.Log2(user.TotalFreq() + builtIn))
	for i := range l.words {
		word := &l.words[i]
		switch frequency := frequencies[word.word&^ignored]; {
		case word.word == wordNone:
		case frequency == 0:
			word.cost = unknownCost
		default:
			word.cost = total - float32(math.Log2(frequency)) // as gse computes it
		}
	}
	return l
}

// plain is the lexicon that all tokenizers share that have no files of their own.
var plain struct {
	sync.Once
	lexicon *lexicon
}

// plainLexicon compiles it the first time, of the words that there are without such files.
func plainLexicon(none *gse.Dictionary, stop map[string]struct{}) *lexicon {
	plain.Do(func() { plain.lexicon = newLexicon(builtInDictionary(), none, stop) })
	return plain.lexicon
}

// hashes returns the hashes of all words, by their numbers.
func (l *lexicon) hashes(d *dictionary, hash func(string) uint64) []uint64 {
	hashes := make([]uint64, firstWord, firstWord+d.words+len(l.added))
	d.each(func(e entry) { hashes = append(hashes, hash(view(e.text))) })
	for _, word := range l.added {
		hashes = append(hashes, hash(word))
	}
	return hashes
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

// alphabet lists the units of words, and those that are stop words: those of the dictionary,
// then all others. Of these, too, the characters that lexicon.codes has a place for come
// first. So their codes stay small enough for it: there are fewer than 50,000 of them, and few
// hundred other units in the dictionary.
func alphabet(d *dictionary, user *gse.Dictionary, stop map[string]struct{}) []string {
	known := make(map[string]bool, len(d.units))
	for _, unit := range d.units {
		known[unit] = true
	}
	var more []string
	add := func(unit string) {
		if !known[unit] {
			known[unit] = true
			more = append(more, unit)
		}
	}
	for i := range user.Tokens {
		for unit, rest := "", user.Tokens[i].Text(); rest != ""; {
			unit, rest = cutUnit(rest)
			add(unit)
		}
	}
	for word := range stop {
		if unit, rest := cutUnit(word); rest == "" {
			add(unit)
		}
	}
	slices.SortFunc(more,
		func(a, b string) int { return cmp.Or(compareTabled(a, b), cmp.Compare(a, b)) })
	return slices.Concat(d.units, more)
}

// compareTabled orders the units that lexicon.codes has a place for before the others.
func compareTabled(a, b string) int {
	_, aInTable := tabled(a)
	_, bInTable := tabled(b)
	switch {
	case aInTable && !bInTable:
		return -1
	case bInTable && !aInTable:
		return 1
	}
	return 0
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
		*b.add(bytes) = uint32(firstCode + i)
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

// isLatin reports whether r makes a unit with its neighbours.
func isLatin(r rune) bool {
	return r < 0x800 && isLetterOrNumber(r) // of one or two bytes
}
