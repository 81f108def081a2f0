//go:build !race

// With the race detector this would take minutes, and there is no race to find in it.

package text

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// eachRealFile runs a test on each set of real articles, where they are at hand.
func eachRealFile(t *testing.T, test func(t *testing.T, path string)) {
	t.Helper()
	paths, err := filepath.Glob("../../../shared/data/*.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skip("no articles in ../../../shared/data")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			test(t, path)
		})
	}
}

// partOf returns every eighth article, and all of them with the build tag long.
func partOf(articles []realArticle) []realArticle {
	if check.Long {
		return articles
	}
	var part []realArticle
	for i := 0; i < len(articles); i += 8 {
		part = append(part, articles[i])
	}
	return part
}

// The words of real articles are those that gse finds, and so are the counts.
func TestWordsOfRealArticles(t *testing.T) {
	eachRealFile(t, func(t *testing.T, path string) {
		tok, plain := shared(t), sharedOracle(t)
		counter := tok.NewCounter()
		for _, a := range partOf(realArticles(t, path)) {
			want := make(map[string]int)
			for _, s := range []string{a.Title, a.Content} {
				text := tok.norm.normalize(tok.html.plain(s))
				wantWords(t, &counter.segmenter, plain, text)
				for _, word := range counter.segmenter.all(text) {
					if plain.isToken(word) {
						want[word]++
					}
				}
			}
			if got := counts(counter.Tokens(a.Title, a.Content)); !maps.Equal(got, want) {
				t.Fatalf("tokens of %q\n got %s\nwant %s", a, tokens(got), tokens(want))
			}
		}
	})
}

// Normalised, they are what the definition says.
func TestNormalizeRealArticles(t *testing.T) {
	n := newTestNormalizer(t)
	eachRealFile(t, func(t *testing.T, path string) {
		for _, a := range partOf(realArticles(t, path)) {
			wantByDefinition(t, n, a.Title)
			wantByDefinition(t, n, a.Content)
		}
	})
}
