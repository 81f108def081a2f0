// idf.go knows how rare words are. A table of words goes in, the built-in one or a file that
// was learned from articles, and out comes the inverse document frequency of a word (Spärck Jones,
// "A Statistical Interpretation of Term Specificity and its Application in Retrieval", 1972): the
// logarithm of how many articles there are to one that has it.

package simhash

import (
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/go-ego/gse"
	"github.com/zeebo/xxh3"
)

// oneIDF is the rarity 1 in the fixed point of [IDF.Of]. Rarities are integers, so that sums of
// what is made of them are exact, and have few fractional bits: that is more than a sample of
// articles tells.
const oneIDF = 1 << fraction

const fraction = 4

// A IDF has the rarity of words. It is safe for concurrent use.
type IDF struct {
	rarity  map[string]int32
	unknown int32  // of a word that is not in the table
	sum     uint64 // of the XXH3 of the entries, so that their order does not matter
}

// Of returns the rarity of a word as text normalises it, in units of 1/[oneIDF], at least 1. A word
// that is not in the table is as rare as the rarest that is: were it more frequent, it would be
// there.
func (t *IDF) Of(word []byte) int32 {
	if r, ok := t.rarity[string(word)]; ok {
		return r
	}
	return t.unknown
}

// Len returns how many words the table has.
func (t *IDF) Len() int { return len(t.rarity) }

// Identity returns a checksum of the words and their rarities, the same on every machine.
func (t *IDF) Identity() string { return fmt.Sprintf("%08x", uint32(t.sum>>32)^uint32(t.sum)) }

// LoadIDF reads the file, or without a name returns the built-in table.
func LoadIDF(path string) (*IDF, error) {
	if path == "" {
		return BuiltInIDF()
	}
	return ReadIDF(path)
}

// BuiltInIDF returns gse's table of 270,132 Chinese words. The first call takes some 0.2 s, and
// from then on it takes 13 MB. It has no English words, which hence are all equally rare.
func BuiltInIDF() (*IDF, error) { return builtIn() }

var builtIn = sync.OnceValues(func() (*IDF, error) {
	t, err := parse(gse.ZhIdf, ' ')
	if err != nil {
		return nil, fmt.Errorf("gse's table: %w", err)
	}
	return t, nil
})

// add enters a word unless it is there, and reports whether it was not.
func (t *IDF) add(word string, idf float64) bool {
	if _, ok := t.rarity[word]; ok {
		return false
	}
	r := max(1, int32(math.Round(idf*oneIDF)))
	t.rarity[word] = r
	t.unknown = max(t.unknown, r)
	t.sum += xxh3.HashString(word + " " + strconv.Itoa(int(r)))
	return true
}
