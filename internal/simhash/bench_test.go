package simhash

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-ego/gse"

	"github.com/clusterd/clusterd/internal/text"
)

// BenchmarkWeights measures an article of 250 different words, most of which the table of tfidf
// has.
func BenchmarkWeights(b *testing.B) {
	r := rand.New(rand.NewPCG(12, 12))
	words := strings.Split(gse.ZhIdf, "\n")
	for _, weight := range Weights() {
		h, err := New("sdbm", weight)
		if err != nil {
			b.Fatal(err)
		}
		var tokens []text.Token
		for range 250 {
			word, _, _ := strings.Cut(words[r.IntN(20_000)], " ")
			tokens = append(tokens, text.Token{
				Word: []byte(word), Hash: h.Hash(word), Count: 1 + int(r.ExpFloat64()*1.5),
			})
		}
		b.Run(weight, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.Fingerprint(tokens)
			}
		})
	}
}
