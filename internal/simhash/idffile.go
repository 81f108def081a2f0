package simhash

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ReadIDF reads a table that [Learner.Write] wrote. An error names the file and the line.
func ReadIDF(path string) (*IDF, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := parse(string(content), '\t')
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// most is the largest rarity that an entry may have: that of one article among 10^13.
const most = 30

// parse reads a word, this separator and the word's rarity a line. Lines that are blank or begin
// with '#' are skipped. The table keeps the text, of which its words are parts.
func parse(content string, separator byte) (*IDF, error) {
	t := &IDF{rarity: make(map[string]int32, strings.Count(content, "\n"))}
	n := 0
	for line := range strings.SplitSeq(content, "\n") {
		n++
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		if err := t.entry(line, separator); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if t.Len() == 0 {
		return nil, errors.New("it has no words")
	}
	return t, nil
}

func (t *IDF) entry(line string, separator byte) error {
	at := strings.IndexByte(line, separator)
	if at < 1 || !utf8.ValidString(line) {
		return fmt.Errorf("%q: want a word, %q and its rarity", line, separator)
	}
	idf, err := strconv.ParseFloat(line[at+1:], 64)
	if err != nil || math.IsNaN(idf) || idf < 0 || idf > most {
		return fmt.Errorf("%q: want a rarity of 0 to %d", line, most)
	}
	if !t.add(line[:at], idf) {
		return fmt.Errorf("%q: the word was there before", line)
	}
	return nil
}
