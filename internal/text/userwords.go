package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-ego/gse"
)

const (
	// defaultFrequency makes a user word win against its division into any two
	// words of gse's dictionary: that takes more than f1·f2/total, which for
	// the two most frequent (142,747 and 129,470 of 33.3 million) is 554.
	defaultFrequency = 1000

	// maxFrequency keeps float32 path costs above zero, which gse takes to mean
	// that there is no path yet.
	maxFrequency = 1e9

	// maxWordLen bounds a word in characters: the work for each character of a
	// text grows with the longest word.
	maxWordLen = 64
)

// loadUserWords returns the words of user dictionaries. Of equal words it keeps the first.
func loadUserWords(paths []string, n *normalizer) (*gse.Dictionary, error) {
	seg := newUserWords()
	for _, path := range paths {
		err := readFile(path, func(line string) error { return addWord(seg, n, line) })
		if err != nil {
			return nil, err
		}
	}
	return seg.Dict, nil
}

func newUserWords() *gse.Segmenter {
	// The model is a global of gse: loading it races with cutting.
	return &gse.Segmenter{Dict: gse.NewDict(), NotLoadHMM: true, SkipLog: true}
}

// addWord enters a line of a user dictionary. See [Options].
func addWord(seg *gse.Segmenter, n *normalizer, line string) error {
	fields := strings.Fields(line)
	if len(fields) > 3 {
		return fmt.Errorf("%q has %d fields: want word, frequency, part of speech; a word has no spaces",
			line, len(fields))
	}
	word := n.normalize(fields[0])
	if !isWord(word) {
		return fmt.Errorf("word %q can never match: text is split at all but letters and numbers",
			fields[0])
	}
	if utf8.RuneCountInString(word) > maxWordLen {
		return fmt.Errorf("word %q is longer than %d characters", fields[0], maxWordLen)
	}
	frequency := float64(defaultFrequency)
	if len(fields) > 1 {
		var err error
		frequency, err = strconv.ParseFloat(fields[1], 64)
		if err != nil || !(frequency >= 1 && frequency <= maxFrequency) {
			return fmt.Errorf("frequency %q of word %q is no number from 1 to 1e9; without one a word "+
				"gets %d",
				fields[1], fields[0], defaultFrequency)
		}
	}
	if err := seg.AddToken(word, frequency); err != nil {
		return fmt.Errorf("adding word %q: %w", fields[0], err)
	}
	return nil
}

// isWord reports whether normalised text can hold s as a token.
func isWord(s string) bool {
	return strings.ContainsFunc(s, isLetterOrNumber) && !strings.ContainsFunc(s, splits)
}

func splits(r rune) bool { return !isWordRune(r) }
