//go:build long

package pinyin

import (
	"math"
	"testing"

	"github.com/go-ego/gse"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// The frequencies of initials are those of gse's dictionary.
func TestInitials(t *testing.T) {
	check.OneGoroutine(t)
	dict := &gse.Segmenter{NotLoadHMM: true, SkipLog: true}
	if err := dict.LoadDictEmbed("zh_s"); err != nil {
		t.Fatal(err)
	}
	var (
		letters = newLetters()
		sums    [26]float64
		all     float64
	)
	for i := range dict.Dict.Tokens {
		word := &dict.Dict.Tokens[i]
		for _, letter := range letters.append(nil, []byte(word.Text())) {
			if letter >= 'a' { // Han
				sums[letter-'a'] += word.Freq()
				all += word.Freq()
			}
		}
	}
	var want frequencies
	for i, sum := range sums {
		want[i] = max(1, int(math.Round(10_000*sum/all)))
	}
	if initials != want {
		t.Errorf("the table is\n%v, the dictionary has\n%v", initials, want)
	}
}
