package paper

import (
	"slices"
	"unicode/utf8"
)

// Sample draws up to n of the articles that have at least so many characters and a word among them,
// and returns them in the order in which they are. The same seed draws the same ones.
func Sample(articles []Article, n, minCharacters int, seed uint64) []Article {
	var fit []int
	for i, a := range articles {
		if utf8.RuneCountInString(a.Text) >= minCharacters && slices.ContainsFunc(words(a.Text), isWord) {
			fit = append(fit, i)
		}
	}
	shuffle(newDice(seed, sampling, 0), fit)
	fit = fit[:min(n, len(fit))]
	slices.Sort(fit)
	var sample []Article
	for _, i := range fit {
		sample = append(sample, articles[i])
	}
	return sample
}
