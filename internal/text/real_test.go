package text

import (
	"maps"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/corpus"
)

// What real articles become is what the definitions say: their words are those that gse finds, so
// are the counts, and their texts are normalised as they should be. Without the build tag long it
// is some of them.
func TestWordsOfRealArticles(t *testing.T) {
	check.OneGoroutine(t)
	every := 32
	if check.Long {
		every = 1
	}
	for _, set := range corpus.Sets(t) {
		t.Run(set.Name, func(t *testing.T) {
			t.Parallel()
			counter := shared(t).NewCounter()
			for _, a := range realArticles(t, set, every) {
				wantByDefinition(t, counter.tokenizer.norm, a.Title)
				wantByDefinition(t, counter.tokenizer.norm, a.Content)
				wantWordsOf(t, counter, sharedOracle(t), a)
			}
		})
	}
}

// wantWordsOf fails the test where the words of an article, or their counts, are not those of the
// oracle.
func wantWordsOf(t *testing.T, counter *Counter, plain *oracle, a realArticle) {
	t.Helper()
	want := make(map[string]int)
	for _, s := range []string{a.Title, a.Content} {
		text := counter.tokenizer.norm.normalize(counter.tokenizer.html.plain(s, nil))
		for _, word := range wantWords(t, &counter.segmenter, plain, text) {
			if plain.isToken(word) {
				want[word]++
			}
		}
	}
	if got := counts(counter.Tokens(a.Title, a.Content)); !maps.Equal(got, want) {
		t.Fatalf("tokens of %q\n got %s\nwant %s", a, tokens(got), tokens(want))
	}
}
