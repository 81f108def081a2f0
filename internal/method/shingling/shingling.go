// Package shingling is what methods share that take an article by its characters or its shingles:
// the text without white space, and what a shingle is.
package shingling

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/text"
)

// maxKept is the largest buffer that [Reuse] keeps, in bytes.
const maxKept = 1 << 20

// Reuse returns the memory of b, empty, for the next text. It drops that of a giant text, which
// would else be held for as long as its user lives.
func Reuse(b []byte) []byte {
	if cap(b) > maxKept {
		return nil
	}
	return b[:0]
}

// WithoutSpace removes the white space of a text, in place. ok reports whether a letter or a number
// is left.
func WithoutSpace(s []byte) (rest []byte, ok bool) { return solid(s, false) }

// solid does what WithoutSpace does. Where lettersOnly is set, it also removes all that is neither
// a letter nor a number nor a mark of one.
func solid(s []byte, lettersOnly bool) (rest []byte, ok bool) {
	rest = s[:0]
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRune(s[i:])
		if !unicode.IsSpace(r) && (!lettersOnly || IsLetter(r)) {
			ok = ok || unicode.IsLetter(r) || unicode.IsNumber(r)
			rest = append(rest, s[i:i+size]...)
		}
		i += size
	}
	return rest, ok
}

// IsLetter reports whether a character is a letter, a number, or a mark of one.
func IsLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// Shingles say what a shingle is: a run of characters, or of words; and what the set of an article
// has beside them.
type Shingles struct {
	// Cleaner cleans texts whose shingles are of characters.
	Cleaner *text.Cleaner
	// Words divides texts whose shingles are of words. It must have been made with a
	// [text.Options].Hash. Where it is set, Cleaner is not used.
	Words *text.Tokenizer
	// Size is how many characters or words a shingle has, at least 1.
	Size int
	// WeighTitles has articles with a short content told apart by their titles.
	WeighTitles bool
	// TellNumbers has articles told apart by their numbers.
	TellNumbers bool
	// MarkQuotes has [Extras.Quotes] say whether an article quotes another.
	MarkQuotes bool
}

// LettersOnly reports whether shingles of characters leave out punctuation: where look-alikes are
// folded, since dots and dashes are what spam puts between letters, and a short text without its
// exclamation mark is the same.
func (s Shingles) LettersOnly() bool { return s.Words == nil && s.Cleaner.Folds() }

// Solid returns what of a cleaned text shingles of characters are made of, in place. ok reports
// whether there is a letter or a number.
func (s Shingles) Solid(clean []byte) (rest []byte, ok bool) {
	return solid(clean, s.LettersOnly())
}

// Check returns an error of a size that is not allowed.
func (s Shingles) Check() error {
	if s.Size < 1 {
		return fmt.Errorf("shingles of size %d: allowed is 1 or more", s.Size)
	}
	return nil
}

// Unit names what shingles are runs of: characters or words.
func (s Shingles) Unit() string {
	if s.Words != nil {
		return "words"
	}
	return "characters"
}

// Identity names how texts become characters or words and what is added to them, as name=value
// pairs joined by commas.
func (s Shingles) Identity() string {
	identity := ""
	if s.WeighTitles {
		identity += "titles=weighed,"
	}
	if s.TellNumbers {
		identity += "numbers=differ,"
	}
	if s.MarkQuotes {
		identity += "quotes=marked,"
	}
	if s.Words != nil {
		return identity + s.Words.Identity()
	}
	return identity + s.Cleaner.Identity()
}
