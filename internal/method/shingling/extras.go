package shingling

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/text"
)

// docs/quality.md has what these were measured by.
const (
	// titleShare is how many elements a weighed title adds, as a share of the shingles. With equal
	// contents and titles that have nothing in common, the Jaccard index is about 1/(1+2·.2), and
	// less by what the titles themselves are of the texts.
	titleShare = .2
	// Contents of fewer characters than shortContent have their titles weighed in full. Up to
	// longContent that fades out, so that a copy which is somewhat longer is no other text.
	shortContent = 250
	longContent  = 400
	// numberShare is the share of shingles that an article has once more, with its numbers. With
	// equal texts but for the numbers, the Jaccard index is about 1/2.
	numberShare = .5
)

// Extras make the elements that the set of an article has beside its shingles, by
// [Shingles].WeighTitles and TellNumbers, and say whether it quotes another. Each element is of a
// shingle and something else of the article: two articles share it where they share both. So extras
// never make articles more alike: of them they share no more than of the shingles.
//
//   - A weighed title makes elements of a random sample of the pairs of a shingle and a bigram, two
//     neighbouring characters, of the title.
//   - Numbers that are told make elements of a random sample of the shingles, each with the set of
//     all numbers of the article.
//
// The samples are by hashes, so they are the same in all articles. Extras take one article after
// the other, in memory that they use again: Begin, then Add for each of its shingles. A nil *Extras
// makes none.
type Extras struct {
	titles, numbers, quotes bool
	cleaner                 *text.Cleaner
	hash                    *keyedhash.Hash

	text, title []byte   // cleaned
	hashes      []uint64 // of the numbers
	packed      []byte   // these, for the hash of all
	bigrams     []uint64 // of the title, as hashes; none where it is not weighed
	share       float64  // of the pairs of a shingle and a bigram
	set         uint64   // a hash of all numbers
	quoting     bool
}

// NewExtras returns what makes these elements, hashed by the key; nil where there are none.
func (s Shingles) NewExtras(key *keyedhash.Key) *Extras {
	if !s.WeighTitles && !s.TellNumbers && !s.MarkQuotes {
		return nil
	}
	e := &Extras{
		titles: s.WeighTitles, numbers: s.TellNumbers, quotes: s.MarkQuotes,
		cleaner: s.Cleaner, hash: key.For("extras"),
	}
	if s.Words != nil {
		e.cleaner = s.Words.Cleaner
	}
	return e
}

// Begin begins an article. clean is its text as [text.Cleaner.AppendClean] makes it, nil where the
// caller has none.
func (e *Extras) Begin(clean []byte, title, content string) {
	if e == nil {
		return
	}
	if clean == nil {
		e.text = e.cleaner.AppendClean(Reuse(e.text), title, content)
		clean = e.text
	}
	if e.numbers {
		e.set = e.numbersOf(clean)
	}
	e.quoting = e.quotes && hasQuote(clean)
	e.bigrams = e.bigrams[:0]
	if e.titles {
		e.weigh(clean, title)
	}
}

// HasElements reports whether Add has any for the article.
func (e *Extras) HasElements() bool { return e != nil && (e.numbers || len(e.bigrams) > 0) }

// Add calls add with the elements that are of a shingle.
func (e *Extras) Add(shingle uint64, add func(element uint64)) {
	if !e.HasElements() {
		return
	}
	random := mix(shingle)
	if e.numbers && fraction(random) < numberShare {
		add(mix(random ^ e.set))
	}
	for _, bigram := range e.bigrams {
		if pair := mix(random + bigram); fraction(pair) < e.share {
			add(mix(pair))
		}
	}
}

// Quotes reports whether quotes are marked and the article quotes another, as mail and forums do:
// it has a line that begins with > (RFC 3676) or a colon. A nil *Extras reports false.
func (e *Extras) Quotes() bool { return e != nil && e.quoting }

func hasQuote(clean []byte) bool {
	for line := range bytes.Lines(clean) {
		line = bytes.TrimLeft(line, " ")
		if bytes.HasPrefix(line, []byte(">")) || bytes.HasPrefix(line, []byte(":")) {
			return true
		}
	}
	return false
}

// weigh makes the bigrams of the title, if the content is short and both have a letter or a number.
func (e *Extras) weigh(clean []byte, title string) {
	e.title = e.cleaner.AppendClean(Reuse(e.title), title, "")
	content, ok := characters(clean[len(e.title):])
	solid, titled := WithoutSpace(e.title)
	if !ok || !titled || content >= longContent {
		return
	}
	for from := 0; from < len(solid); {
		_, first := utf8.DecodeRune(solid[from:])
		_, second := utf8.DecodeRune(solid[from+first:])
		if second > 0 || from == 0 { // a title of one character is taken as it is
			e.bigrams = append(e.bigrams, e.hash.Sum(solid[from:from+first+second]))
		}
		from += first
	}
	slices.Sort(e.bigrams)
	e.bigrams = slices.Compact(e.bigrams)
	fading := float64(longContent-content) / (longContent - shortContent)
	e.share = titleShare * min(1, fading) / float64(len(e.bigrams))
}

// characters counts those that are no white space, up to longContent. ok reports whether one of
// them is a letter or a number.
func characters(s []byte) (n int, ok bool) {
	for i := 0; i < len(s) && n < longContent; {
		r, size := utf8.DecodeRune(s[i:])
		if !unicode.IsSpace(r) {
			ok = ok || unicode.IsLetter(r) || unicode.IsNumber(r)
			n++
		}
		i += size
	}
	return n, ok
}

// numbersOf returns a hash of the set of numbers of a cleaned text: its runs of the digits 0 to 9,
// without zeros in front. So 1.50 is 1 and 50, and 2026-05-01 is 2026, 5 and 1.
func (e *Extras) numbersOf(s []byte) uint64 {
	e.hashes = e.hashes[:0]
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			continue
		}
		from := i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		for from < i-1 && s[from] == '0' {
			from++
		}
		e.hashes = append(e.hashes, e.hash.Sum(s[from:i]))
	}
	slices.Sort(e.hashes)
	e.hashes = slices.Compact(e.hashes)
	e.packed = Reuse(e.packed)
	for _, h := range e.hashes {
		e.packed = binary.LittleEndian.AppendUint64(e.packed, h)
	}
	return e.hash.Sum(e.packed)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// fraction returns a number from 0 to less than 1.
func fraction(random uint64) float64 { return float64(random>>11) / (1 << 53) }

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), which takes different
// numbers to different ones that look random.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
