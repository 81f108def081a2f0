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
	"strings"
	"unicode"
)

// normVersion is part of [Tokenizer.Identity]. Raise it with every change to
// cleaning, normalising, splitting or segmenting that changes tokens;
// testdata/tokens.golden shows when that is so.
const normVersion = 1

// Options configures a [Tokenizer]. The zero value works.
type Options struct {
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

	// HTML says where markup is stripped:
	//
	//	"auto", ""  where a text is recognised as HTML; elsewhere nothing is
	//	            lost, and character references such as &amp; are resolved
	//	"always"    everywhere
	//	"never"     nowhere, nor are character references resolved
	HTML string
}

// Tokenizer yields the tokens of texts. It is safe for concurrent use.
type Tokenizer struct {
	html     htmlMode
	norm     *normalizer
	seg      *segmenter
	stop     map[string]struct{}
	identity string
}

// New loads the dictionaries and stop lists, which takes about a second and
// 130 MB. An error in a file names its path and line.
func New(o Options) (*Tokenizer, error) {
	mode, err := parseHTMLMode(o.HTML)
	if err != nil {
		return nil, err
	}
	n, err := newNormalizer()
	if err != nil {
		return nil, err
	}
	stop, err := loadStopWords(o.StopWords, n)
	if err != nil {
		return nil, fmt.Errorf("loading stop words: %w", err)
	}
	dict, err := loadDictionary(o.Dictionaries, n)
	if err != nil {
		return nil, fmt.Errorf("loading dictionary: %w", err)
	}
	return &Tokenizer{
		html:     mode,
		norm:     n,
		seg:      &segmenter{dict},
		stop:     stop,
		identity: identity(dict, stop, mode),
	}, nil
}

// Tokens returns the tokens of a title and a content, which are compared as
// one text with a line break between them, and how often each occurs. The map
// is empty when no token is left. Time and memory are near-linear in the
// length of the text, whatever it holds.
//
// The keys share memory with one normalised copy of the text.
func (t *Tokenizer) Tokens(title, content string) map[string]int {
	counts := make(map[string]int)
	t.count(title, counts)
	t.count(content, counts)
	return counts
}

// Identity names everything that changes tokens: checksums of the words and
// frequencies and of the stop words actually loaded, the version of the
// normaliser and the HTML mode, as in
//
//	dict=0123abcd,stop=4567cdef,norm=1,html=auto
//
// It is the same on every machine. Tokens made under different identities
// must not be compared.
func (t *Tokenizer) Identity() string {
	return t.identity
}

func (t *Tokenizer) count(s string, counts map[string]int) {
	for run := range runs(t.norm.normalize(t.html.plain(s))) {
		for word := range t.seg.words(run) {
			if t.isToken(word) {
				counts[word]++
			}
		}
	}
}

func (t *Tokenizer) isToken(word string) bool {
	if _, stopped := t.stop[word]; stopped {
		return false
	}
	return strings.ContainsFunc(word, isLetterOrNumber)
}

func isLetterOrNumber(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}
