package story

import (
	"cmp"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// Numbers with a fraction are counted in units of 1/one. There are no floating-point numbers,
// which some machines round otherwise than others.
const (
	fraction = 8
	one      = 1 << fraction
	ln2      = 177 // the natural logarithm of 2, in units of 1/one
)

// What an article says first says the most about its event: a word of the title counts twice, and
// word i of the content, from 0 on, as lead/(lead+i) of one.
const (
	titleWeight = 2 * one
	lead        = 30
	maxTitle    = 100 // words that count
	maxContent  = 300
)

// Words weighs the words of one article after the other. It is not safe for concurrent use. The
// zero value works.
type Words struct {
	// said is a hash table of the terms. A term is looked for from the place on that its first bits
	// name, up to the first place that is free. So terms are nearly in their order, as a Vector needs
	// them.
	said           [1<<placeBits + maxTitle + maxContent]saying
	title, content int // how many words counted
	han            int // of these, those that begin with a Chinese character
	terms          []saying
	wire           []byte
	named          []byte // the first distinct words that count, each but the first after a line break
	names          int    // how many there were
}

// placeBits are how many bits of a term say where it is looked for.
const placeBits = 10

// A saying is a term and its frequency, in units of 1/one, at most 2^18; 0 where there is none.
type saying struct{ term, tf uint32 }

// What is kept of the words as text, to name a story by.
const (
	maxNames     = 16
	maxNameBytes = 256
)

// Reset begins another article.
func (w *Words) Reset() {
	clear(w.said[:])
	w.title, w.content, w.han = 0, 0, 0
	w.named, w.names = w.named[:0], 0
}

// Title takes the next word of the title.
func (w *Words) Title(word []byte) {
	if w.title < maxTitle {
		w.count(word, titleWeight)
		w.title++
	}
}

// Content takes the next word of the content.
func (w *Words) Content(word []byte) {
	if w.content < maxContent {
		w.count(word, one*lead/(lead+uint32(w.content)))
		w.content++
	}
}

func (w *Words) count(word []byte, weight uint32) {
	term := termOf(word)
	place := term >> (32 - placeBits)
	for w.said[place].tf > 0 && w.said[place].term != term {
		place++
	}
	if w.said[place].tf == 0 {
		w.said[place].term = term
		w.name(word)
	}
	w.said[place].tf += weight
	if first, _ := utf8.DecodeRune(word); unicode.Is(unicode.Han, first) {
		w.han++
	}
}

// name keeps a word that is new. Once one does not fit, none is kept any more.
func (w *Words) name(word []byte) {
	if w.names == maxNames {
		return
	}
	if w.names++; len(w.named)+len("\n")+len(word) > maxNameBytes {
		w.names = maxNames
		return
	}
	if len(w.named) > 0 {
		w.named = append(w.named, '\n')
	}
	w.named = append(w.named, word...)
}

// Terms returns the first distinct words, in the order in which they came: at most sixteen, in at
// most 256 bytes, joined by line breaks.
func (w *Words) Terms() string { return string(w.named) }

// Top returns those n of some words that weigh the most in a vector, the heaviest first, among
// equals the one that is given first. It leaves out those that the vector does not have, and
// repeated ones.
func Top(v Vector, words []string, n int) (top []string) {
	type scored struct {
		word   string
		weight uint64
	}
	var found []scored
	seen := make(map[string]bool)
	for _, word := range words {
		if weight := v.of(termOf([]byte(word))); weight > 0 && !seen[word] {
			seen[word] = true
			found = append(found, scored{word, weight})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.weight, a.weight) })
	for _, f := range found[:min(n, len(found))] {
		top = append(top, f.word)
	}
	return top
}

// Han reports whether more than half of the words are Chinese.
func (w *Words) Han() bool { return 2*w.han > w.title+w.content }

// Vector returns the terms of the article, each with 1 + ln(tf), where tf is its weighted
// frequency, and with tf where that is below 1. It does not depend on what other articles there
// are.
func (w *Words) Vector() Vector {
	terms := w.terms[:0]
	for _, t := range w.said {
		if t.tf == 0 {
			continue
		}
		at := len(terms)
		terms = append(terms, t)
		for ; at > 0 && terms[at-1].term > t.term; at-- {
			terms[at] = terms[at-1]
		}
		terms[at] = t
	}
	wire := w.wire[:0]
	for _, t := range terms {
		weight := uint64(t.tf)
		if weight > one {
			weight = one + (log2(weight)-fraction*one)*ln2/one
		}
		wire = appendEntry(wire, t.term, weight)
	}
	w.terms, w.wire = terms, wire
	return Vector(wire)
}

// termOf returns the number of a word. Two of the words of a stream seldom have the same: of a
// million words, one in four thousand shares its number.
func termOf(word []byte) uint32 { return uint32(xxh3.Hash(word)) }

// log2 returns the logarithm of x, which is at least 1, in units of 1/one, rounded down: by
// squaring the mantissa, bit by bit.
func log2(x uint64) uint64 {
	exponent := bits.Len64(x) - 1
	mantissa := x << (63 - exponent) >> 32 // in [2^31, 2^32)
	result := uint64(exponent)
	for range fraction {
		mantissa = mantissa * mantissa >> 31 // in [2^31, 2^33)
		result <<= 1
		if mantissa >= 1<<32 {
			result |= 1
			mantissa >>= 1
		}
	}
	return result
}
