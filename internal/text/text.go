// Package text turns an article into the words that count: in go its title and
// content, plain or HTML, in any mix of Chinese and English; out come tokens,
// each with how often it occurs.
//
// A token is a word of the normalised text that holds a letter or a number and
// is no stop word. Texts that a reader takes for the same (traditional or
// simplified, full width or not, upper or lower case, with or without markup
// or invisible characters) give the same tokens.
package text

import (
	"fmt"
	"hash/maphash"
	"unicode"
)

// normVersion is part of [Tokenizer.Identity]. Raise it with every change to
// cleaning, normalising, splitting or segmenting that changes tokens;
// testdata/tokens.golden shows when that is so.
const normVersion = 1

// Options configures a [Tokenizer]. The zero value works.
type Options struct {
	CleanOptions

	// Dictionaries are paths of user dictionaries in gse's format, UTF-8, one
	// entry a line: the word, then optionally its frequency, then optionally
	// its part of speech (not used), separated by white space. Blank lines and
	// lines that begin with '#' are skipped.
	//
	// A frequency is a number from 1 to 1e9. The built-in ones range from 2 to
	// 142,747. Without one a word gets 1000, which wins against its division
	// into any two built-in words. Where a word occurs more than once the
	// first entry counts, and any entry counts before the built-in one.
	//
	// A run of Latin letters and digits is always one word ("5g网络" is matched
	// as 5g, 网, 络), so a Latin word needs no entry.
	Dictionaries []string

	// StopWords are paths of stop lists, UTF-8, one word a line, added to the
	// built-in Chinese and English ones. Blank lines and lines that begin with
	// '#' are skipped. An entry that can be no token, such as punctuation or a
	// phrase with a space, has no effect, so published lists work as they are.
	StopWords []string

	// Hash makes [Token].Hash. It is called once for each word of the dictionary, and for
	// each other word where it occurs; it must always give the same, be safe for
	// concurrent use and not keep the word. Without it all hashes are 0.
	Hash func(word string) uint64
}

// Tokenizer yields the tokens of texts. It is safe for concurrent use.
type Tokenizer struct {
	*Cleaner
	lexicon  *lexicon
	hashes   []uint64 // of the lexicon's words, by their numbers
	hash     func(word string) uint64
	seed     maphash.Seed
	identity string
}

// New loads the dictionaries and stop lists, which takes about 0.1 s and for that time 50 MB; 15 MB
// stay. Tokenizers without files of their own share all of it but 3 MB and 0.02 s. An error in a
// file names its path and line.
func New(o Options) (*Tokenizer, error) {
	cleaner, err := NewCleaner(o.CleanOptions)
	if err != nil {
		return nil, err
	}
	stop, err := loadStopWords(o.StopWords, cleaner.norm)
	if err != nil {
		return nil, fmt.Errorf("loading stop words: %w", err)
	}
	user, err := loadUserWords(o.Dictionaries, cleaner.norm)
	if err != nil {
		return nil, fmt.Errorf("loading dictionary: %w", err)
	}
	var lexicon *lexicon
	if len(o.Dictionaries) > 0 || len(o.StopWords) > 0 {
		lexicon = newLexicon(builtInDictionary(), user, stop)
	} else {
		lexicon = plainLexicon(user, stop)
	}
	if o.Hash == nil {
		o.Hash = func(string) uint64 { return 0 }
	}
	return &Tokenizer{
		Cleaner:  cleaner,
		lexicon:  lexicon,
		hashes:   lexicon.hashes(builtInDictionary(), o.Hash),
		hash:     o.Hash,
		seed:     maphash.MakeSeed(),
		identity: identity(lexicon.checksum, stop, cleaner),
	}, nil
}

// Identity names everything that changes tokens: checksums of the words and
// frequencies and of the stop words actually loaded, the version of the
// normaliser, the HTML mode, what extracts articles and what folds, as in
//
//	dict=0123abcd,stop=4567cdef,norm=1,html=auto
//
// It is the same on every machine. Tokens made under different identities
// must not be compared.
func (t *Tokenizer) Identity() string {
	return t.identity
}

func isLetterOrNumber(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}
