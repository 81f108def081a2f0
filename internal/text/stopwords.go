package text

import (
	_ "embed"
	"strings"

	"github.com/go-ego/gse"
)

//go:embed stopwords_en.txt
var englishStopWords string

// loadStopWords returns the stop words of gse (Chinese), of stopwords_en.txt
// and of the files, normalised, as far as they can be tokens.
func loadStopWords(paths []string, n *normalizer) (map[string]struct{}, error) {
	var chinese gse.Segmenter
	// Without an argument: LoadStopEmbed("zh") loads the one stop word "zh".
	if err := chinese.LoadStopEmbed(); err != nil {
		return nil, err
	}

	stop := make(map[string]struct{})
	add := func(word string) {
		if word = n.normalize(word); isWord(word) {
			stop[word] = struct{}{}
		}
	}
	for word := range chinese.StopWordMap {
		add(word)
	}
	addLine := func(line string) error {
		add(line)
		return nil
	}
	if err := readLines("stopwords_en.txt", strings.NewReader(englishStopWords), addLine); err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := readFile(path, addLine); err != nil {
			return nil, err
		}
	}
	return stop, nil
}
