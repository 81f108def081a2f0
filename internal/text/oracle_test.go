package text

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/go-ego/gse"
)

// An oracle is what this package does, plainly: it segments with gse itself, and counts in a
// map.
type oracle struct {
	html htmlMode
	norm *normalizer
	seg  *gse.Segmenter
	stop map[string]struct{}
}

func newOracle(o Options) (*oracle, error) {
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
		return nil, err
	}
	seg, err := loadDictionary(o.Dictionaries, n)
	if err != nil {
		return nil, err
	}
	return &oracle{html: mode, norm: n, seg: seg, stop: stop}, nil
}

// loadDictionary returns gse's segmenter with the user dictionaries and its own.
func loadDictionary(paths []string, n *normalizer) (*gse.Segmenter, error) {
	seg := newUserWords()
	seg.Init() // LoadDictEmbed calls it only where it makes Dict itself
	// Before gse's words, for of equal words it keeps the first.
	for _, path := range append(slices.Clone(paths), foldedWords) {
		err := readFile(path, func(line string) error { return addWord(seg, n, line) })
		if err != nil {
			return nil, err
		}
	}
	return seg, seg.LoadDictEmbed("zh_s")
}

// foldedWords lists those words of gse's dictionary that normalising changes into words it
// lacks (乾隆 into 干隆), so that they are found in normalised text.
const foldedWords = "testdata/folded.golden"

var loadOracle = sync.OnceValues(func() (*oracle, error) { return newOracle(Options{}) })

// sharedOracle returns an oracle with default options, loaded once.
func sharedOracle(t testing.TB) *oracle {
	t.Helper()
	o, err := loadOracle()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// tokens returns how often each token occurs.
func (o *oracle) tokens(title, content string) map[string]int {
	counts := make(map[string]int)
	for _, s := range []string{title, content} {
		for word := range o.words(o.norm.normalize(o.html.plain(s))) {
			if o.isToken(word) {
				counts[word]++
			}
		}
	}
	return counts
}

func (o *oracle) isToken(word string) bool {
	_, stopped := o.stop[word]
	return !stopped && strings.ContainsFunc(word, isLetterOrNumber)
}

// words yields the words of a normalised text in order.
func (o *oracle) words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for run := range runs(text) {
			if isASCII(run) { // to gse, too, a run of Latin letters and digits is one word
				if !yield(run) {
					return
				}
				continue
			}
			for _, word := range o.seg.Segment([]byte(run)) {
				if !yield(run[word.Start():word.End()]) {
					return
				}
			}
		}
	}
}

// runs yields the stretches of s between punctuation, symbols, white space and
// control characters, cut at the boundary of a character where one is longer
// than maxRun bytes.
func runs(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i, r := range s {
			size := utf8.RuneLen(r)
			inside := isWordRune(r)
			if inside && i+size-start <= maxRun {
				continue
			}
			if i > start && !yield(s[start:i]) {
				return
			}
			start = i
			if !inside {
				start += size
			}
		}
		if start < len(s) {
			yield(s[start:])
		}
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// wantWords fails the test where the words of a normalised text are not those of the oracle.
func wantWords(t *testing.T, s *segmenter, plain *oracle, text string) {
	t.Helper()
	got, want := s.all(text), slices.Collect(plain.words(text))
	if !slices.Equal(got, want) {
		t.Fatalf("%q\n got %q\nwant %q", text, got, want)
	}
}

// all returns the words of a text in order.
func (s *segmenter) all(text string) []string {
	var words []string
	bytes := []byte(text)
	for at := 0; at < len(text); {
		var place uint32
		at, place = s.run(bytes, at)
		for start := s.places[0].offset; place != 0; place = s.places[place].link {
			words = append(words, text[start:s.places[place].offset])
			start = s.places[place].offset
		}
	}
	return words
}

// Tokens returns how often each token occurs.
func (t *Tokenizer) Tokens(title, content string) map[string]int {
	return counts(t.NewCounter().Tokens(title, content))
}

func counts(tokens []Token) map[string]int {
	counts := make(map[string]int, len(tokens))
	for _, token := range tokens {
		counts[string(token.Word)] += token.Count
	}
	return counts
}
