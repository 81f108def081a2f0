package minhash

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/text"
)

// multiplier is the base of the rolling hash. It is odd, so that no letter of a shingle is lost,
// and has its bits spread evenly.
const multiplier = 0xd6e8feb86659fd93

// A giant article must not hold its memory for as long as the shingler lives: of what is longer it
// lets go with the next call.
const (
	maxKeptText    = 1 << 20 // bytes
	maxKeptLetters = 1 << 17
)

// A shingler makes the shingles of one text after the other, in memory that it uses again. A
// shingle is a run of letters, which are characters or the hashes of words; its hash is
//
//	l1·m^(k-1) + l2·m^(k-2) + … + lk  modulo 2^64
//
// (Karp and Rabin 1987), which is the next one's but for two letters. Its low bits are poor: who
// uses it mixes it first. With a key it is the keyed hash of the letters instead: rolling hashes by
// a public base collide for whoever wants them to.
type shingler struct {
	of       shingling.Shingles
	size     int
	past     uint64 // multiplier to the power of size
	cleaner  *text.Cleaner
	counter  *text.Counter // nil: shingles of characters
	text     []byte        // cleaned
	letters  []uint64
	shingles []uint64
	keyed    *keyedhash.Hash // nil: the rolling hash
	extras   *shingling.Extras
}

func newShingler(o Options) *shingler {
	of := o.Shingles
	s := &shingler{of: of, size: of.Size, past: 1, cleaner: of.Cleaner, keyed: o.Key.For("shingle")}
	s.extras = of.NewExtras(o.Key)
	for range of.Size {
		s.past *= multiplier
	}
	if of.Words != nil {
		s.counter = of.Words.NewCounter()
	}
	return s
}

// shinglesOf returns the hashes of the shingles of a title and a content, as often as they occur; a
// text shorter than a shingle is one. ok is false where there is no letter or number. The slice is
// good until the next call, and the caller may change it.
func (s *shingler) shinglesOf(title, content string) (shingles []uint64, ok bool) {
	if shingles, ok = s.plainShingles(title, content); !ok || !s.extras.HasElements() {
		return shingles, ok
	}
	add := func(element uint64) { s.shingles = append(s.shingles, element) }
	for _, shingle := range s.shingles {
		s.extras.Add(shingle, add)
	}
	return s.shingles, true
}

// plainShingles returns what shinglesOf does without the extra elements, for which it begins.
func (s *shingler) plainShingles(title, content string) (shingles []uint64, ok bool) {
	s.reset()
	if s.counter != nil {
		s.counter.Words(title, content, func(t text.Token) { s.letters = append(s.letters, t.Hash) })
		ok = len(s.letters) > 0
		s.extras.Begin(nil, title, content)
	} else {
		s.text = s.cleaner.AppendClean(s.text, title, content)
		s.extras.Begin(s.text, title, content)
		if s.keyed != nil {
			return s.hashCharacters()
		}
		ok = s.characters()
	}
	switch {
	case !ok:
		return nil, false
	case s.keyed != nil:
		s.hashWords()
	default:
		s.roll()
	}
	return s.shingles, true
}

// hashCharacters makes shingles of the characters that are no white space, by the key.
func (s *shingler) hashCharacters() (shingles []uint64, ok bool) {
	solid, ok := s.of.Solid(s.text)
	if !ok {
		return nil, false
	}
	for i, b := range solid {
		if utf8.RuneStart(b) {
			s.letters = append(s.letters, uint64(i))
		}
	}
	size := min(s.size, len(s.letters))
	s.letters = append(s.letters, uint64(len(solid)))
	for i, end := range s.letters[size:] {
		s.shingles = append(s.shingles, s.keyed.Sum(solid[s.letters[i]:end]))
	}
	return s.shingles, true
}

// hashWords makes shingles of words, by the key.
func (s *shingler) hashWords() {
	s.text = s.text[:0]
	for _, word := range s.letters {
		s.text = binary.LittleEndian.AppendUint64(s.text, word)
	}
	size := 8 * min(s.size, len(s.letters))
	for end := size; end <= len(s.text); end += 8 {
		s.shingles = append(s.shingles, s.keyed.Sum(s.text[end-size:end]))
	}
}

func (s *shingler) reset() {
	if cap(s.text) > maxKeptText {
		s.text = nil
	}
	if cap(s.letters) > maxKeptLetters {
		s.letters, s.shingles = nil, nil
	}
	s.text, s.letters, s.shingles = s.text[:0], s.letters[:0], s.shingles[:0]
}

// characters makes letters of the characters that shingles are made of, and reports whether one of
// them is a letter or a number.
func (s *shingler) characters() (ok bool) {
	if n := len(s.text); cap(s.letters) < n {
		s.letters = make([]uint64, 0, n+n/4)
	}
	letters, n, lettersOnly := s.letters[:len(s.text)], 0, s.of.LettersOnly()
	// Without a copy: nothing keeps the string.
	for _, r := range unsafe.String(unsafe.SliceData(s.text), len(s.text)) {
		if isSpace(r) || lettersOnly && !shingling.IsLetter(r) {
			continue
		}
		letters[n] = uint64(r)
		n++
		ok = ok || unicode.IsLetter(r) || unicode.IsNumber(r)
	}
	s.letters = letters[:n]
	return ok
}

// isSpace does what unicode.IsSpace does, quickly for what most texts are made of.
func isSpace(r rune) bool {
	const last = '\u3000' // of white space
	if r < utf8.RuneSelf {
		return r == ' ' || '\t' <= r && r <= '\r'
	}
	return r <= last && unicode.IsSpace(r)
}

// roll makes shingles of the letters.
func (s *shingler) roll() {
	letters, size := s.letters, min(s.size, len(s.letters))
	if n := len(letters); cap(s.shingles) < n {
		s.shingles = make([]uint64, 0, n+n/4)
	}
	var hash uint64
	for _, l := range letters[:size] {
		hash = hash*multiplier + l
	}
	shingles := s.shingles[:len(letters)-size+1]
	shingles[0] = hash
	leaving, entering := letters[:len(letters)-size], letters[size:]
	entering = entering[:len(leaving)]
	rest := shingles[1:][:len(leaving)]
	for i, l := range leaving {
		hash = hash*multiplier + entering[i] - s.past*l
		rest[i] = hash
	}
	s.shingles = shingles
}
