package shingle

import (
	"encoding/binary"

	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/text"
)

// words adds the shingles of so many words each. Stop words are none. An article of fewer
// words is one shingle.
func words(tokenizer *text.Tokenizer, size int, hash *keyedhash.Hash) adder {
	var (
		counter = tokenizer.NewCounter()
		hashes  []byte // eight bytes a word: those of the last words
	)
	return func(to *set, title, content string) bool {
		to.extras.Begin(nil, title, content)
		hashes = hashes[:0]
		counter.Words(title, content, func(word text.Token) {
			if len(hashes) == 8*size {
				to.Add(hash.Sum(hashes))
				hashes = hashes[:copy(hashes, hashes[8:])]
			}
			hashes = binary.LittleEndian.AppendUint64(hashes, word.Hash)
		})
		if len(hashes) == 0 {
			return false
		}
		to.Add(hash.Sum(hashes))
		return true
	}
}
