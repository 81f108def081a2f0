package text

import (
	"unicode"
	"unicode/utf8"
)

// maxRun bounds a run in bytes. Summed in a float32, as gse does it, the cost of a
// path loses word boundaries from about 64 KiB of unbroken text on.
const maxRun = 16 << 10

// isWordRune reports whether r may be part of a word: a letter, a number or a
// mark that is written on one.
func isWordRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	case r >= 0x4E00 && r <= 0x9FFF: // Han: the common case, quickly
		return true
	}
	return isLetterOrNumber(r) || unicode.IsMark(r)
}

// A segmenter divides normalised text into words as gse's Segment does, run by run: a run
// is a stretch between punctuation, symbols, white space and control characters, cut at
// the boundary of a character where it is longer than maxRun bytes.
//
// No word crosses such a place: of the 352,275 words in gse's dictionary only
// at&t, c# and c++ hold one, and no user word may.
//
// The words are those on the cheapest path through the run; a path costs the sum of its
// words. A segmenter is not safe for concurrent use.
type segmenter struct {
	lexicon *lexicon
	places  [maxRun + 1]place // at the beginning of each unit of the run, and at its end
}

// place is one between two units.
type place struct {
	offset uint32  // in the text
	code   uint32  // of the unit that begins here; codeSplit at the end
	pair   uint32  // the trie's node of the two units from here on; 0 where no word begins so
	cost   float32 // of the cheapest path to here; 0 where there is none yet
	word   uint32  // the number of the last word on it
	link   uint32  // where that word begins; once the path is known, where the next one ends
}

// run segments the first run at or after text[from], which is valid UTF-8 in lower
// case. It returns where the run ends and the place at which its first word ends, which
// is 0 when there is no run.
func (s *segmenter) run(text []byte, from int) (end int, first uint32) {
	end, n := s.units(text, from)
	s.findPairs(n)
	s.relax(n)
	return end, s.follow(n)
}

// units divides the first run at or after text[from] into n units.
func (s *segmenter) units(text []byte, from int) (end, n int) {
	l, at := s.lexicon, from
	for at < len(text) {
		code, size := l.character(text, at)
		if code != codeSplit {
			break
		}
		at += size
	}
	// A character that is cut in two is no part of a word, so the run ends before it.
	text = text[:min(len(text), at+maxRun)]
	for at < len(text) {
		code, size := uint32(codeLatin), 3
		if b := text[at]; b>>4 == 0xE && at+2 < len(text) { // as lexicon.character, without a call
			code = uint32(l.codes[uint16(b)<<12|uint16(text[at+1]&0x3F)<<6|uint16(text[at+2]&0x3F)])
		}
		if code == codeLatin {
			code, size = l.unit(text, at)
		}
		if code == codeSplit {
			break
		}
		s.places[n] = place{offset: uint32(at), code: code}
		n++
		at += size
	}
	s.places[n] = place{offset: uint32(at), code: codeSplit}
	return at, n
}

// findPairs looks up the first two units at each place. No such look-up depends on
// another, so that those which miss the cache wait for memory all at once.
func (s *segmenter) findPairs(n int) {
	nodes := s.lexicon.words
	for i := range n - 1 {
		at := s.places[i].code
		pair := nodes[at].base + s.places[i+1].code
		if nodes[pair].check != at {
			pair = 0
		}
		s.places[i].pair = pair
	}
}

// relax finds the cheapest path to each place in the order and the arithmetic of gse, to
// which a cost of 0 means that there is no path yet. Of two paths that cost the same, the
// one whose last word begins first counts.
func (s *segmenter) relax(n int) {
	nodes := s.lexicon.words
	for i := range n {
		start := &s.places[i]
		s.step(i, i+1, &nodes[start.code])
		for at, j := start.pair, i+2; at != 0; j++ {
			here := &nodes[at]
			if here.word != wordNone {
				s.step(i, j, here)
			}
			// No child has the code that stands at the end.
			child := here.base + s.places[j].code
			if nodes[child].check != at {
				break
			}
			at = child
		}
	}
}

// step takes the word between two places if that makes the path to the second cheaper.
func (s *segmenter) step(from, to int, word *node) {
	place := &s.places[to]
	if cost := s.places[from].cost + word.cost; place.cost == 0 || place.cost > cost {
		place.cost, place.word, place.link = cost, word.word, uint32(from)
	}
}

// follow turns round the links of the path to place n, and returns where its first word
// ends.
func (s *segmenter) follow(n int) (first uint32) {
	for at := uint32(n); at != 0; {
		s.places[at].link, first, at = first, at, s.places[at].link
	}
	return first
}
