package simhash

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/clusterd/clusterd/internal/text"
)

// A IDFLearner counts in how many articles words occur. It takes some 100 bytes a word.
type IDFLearner struct {
	articles int
	in       map[string]int // articles, by word
}

// NewIDFLearner returns one that has seen no article.
func NewIDFLearner() *IDFLearner { return &IDFLearner{in: make(map[string]int)} }

// Add counts an article by its tokens, each of which comes once.
func (l *IDFLearner) Add(tokens []text.Token) {
	l.articles++
	for i := range tokens {
		l.in[string(tokens[i].Word)]++
	}
}

// Articles returns how many were added.
func (l *IDFLearner) Articles() int { return l.articles }

// Write writes the words that occur in at least two articles and their rarity
//
//	ln(1 + articles / articles with the word)
//
// as lines of a word, a tab and a number, the most frequent first and equals in the order of their
// bytes, after a line that begins with '#'. It says how many words these are. A word that occurs
// once is as good as one that never did, and there are more of these than of all others.
func (l *IDFLearner) Write(w io.Writer) (words int, err error) {
	kept := slices.SortedFunc(maps.Keys(l.in), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.in[b], l.in[a]), cmp.Compare(a, b))
	})
	for words < len(kept) && l.in[kept[words]] >= 2 {
		words++
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# rarity of %d words in %d articles\n", words, l.articles)
	for _, word := range kept[:words] {
		fmt.Fprintf(out, "%s\t%.4f\n", word, math.Log1p(float64(l.articles)/float64(l.in[word])))
	}
	return words, out.Flush() // with the error of any write before
}
