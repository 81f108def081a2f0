package text

import (
	"iter"
	"os"
	"runtime/debug"
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

// newOracle returns an oracle with default options.
func newOracle() (*oracle, error) {
	n, err := newNormalizer()
	if err != nil {
		return nil, err
	}
	stop, err := loadStopWords(nil, n)
	if err != nil {
		return nil, err
	}
	seg, err := loadDictionary(n)
	if err != nil {
		return nil, err
	}
	return &oracle{html: htmlAuto, norm: n, seg: seg, stop: stop}, nil
}

// loadDictionary returns gse's segmenter with its dictionary and the folded words.
func loadDictionary(n *normalizer) (*gse.Segmenter, error) {
	seg := newUserWords()
	seg.Init() // LoadDictEmbed calls it only where it makes Dict itself
	// Before gse's words, for of equal words it keeps the first.
	err := readFile(foldedWords, func(line string) error { return addWord(seg, n, line) })
	if err != nil {
		return nil, err
	}
	return seg, seg.LoadDictEmbed("zh_s")
}

// with returns an oracle with user files, for these texts: loading gse's dictionary again behind
// the user's would take a second. Of o's words it has those that occur in the texts, and one word
// that occurs nowhere for all others, since what a word costs depends on the sum of frequencies.
func (o *oracle) with(t *testing.T, options Options, texts []string) *oracle {
	t.Helper()
	mode, err := parseHTMLMode(options.HTML)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := loadStopWords(options.StopWords, o.norm)
	if err != nil {
		t.Fatal(err)
	}
	seg, others := newUserWords(), o.seg.Dict.TotalFreq()
	seg.Init()
	user, err := loadUserWords(options.Dictionaries, o.norm)
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	add := func(word string, frequency float64) {
		if err := seg.AddToken(word, frequency); err != nil {
			t.Fatal(err)
		}
		known[word] = true
		own, _, _ := o.seg.Dict.Find([]byte(word))
		others -= own
	}
	for i := range user.Tokens {
		add(user.Tokens[i].Text(), user.Tokens[i].Freq())
	}
	for _, text := range texts {
		for word, frequency := range o.wordsIn(text) {
			if !known[word] {
				add(word, frequency)
			}
		}
	}
	add("\ue000", others)
	seg.CalcToken()
	return &oracle{html: mode, norm: o.norm, seg: seg, stop: stop}
}

// wordsIn yields the words of the dictionary that occur in a text, wherever they begin and end, and
// their frequencies.
func (o *oracle) wordsIn(text string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for from := range text {
			for at, r := range text[from:] {
				word := text[from : from+at+utf8.RuneLen(r)]
				frequency, _, begins := o.seg.Dict.Find([]byte(word))
				if !begins || frequency > 0 && !yield(word, frequency) {
					break
				}
			}
		}
	}
}

// foldedWords lists those words of gse's dictionary that normalising changes into words it
// lacks (乾隆 into 干隆), so that they are found in normalised text.
const foldedWords = "testdata/folded.golden"

// TestMain has the garbage collector run less often: the oracle's dictionary takes most of the
// memory, stays as long as the tests run, and is gone through each time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

var loadOracle = sync.OnceValues(newOracle)

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
		for word := range o.words(o.norm.normalize(o.html.plain(s, nil))) {
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

// wantWords returns the words of a normalised text. It fails the test where they are not those of
// the oracle.
func wantWords(t *testing.T, s *segmenter, plain *oracle, text string) []string {
	t.Helper()
	got, want := s.all(text), slices.Collect(plain.words(text))
	if !slices.Equal(got, want) {
		t.Fatalf("%q\n got %q\nwant %q", text, got, want)
	}
	return want
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
