package method

import (
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method/keyedhash"
	"github.com/clusterd/clusterd/internal/method/shingle"
	"github.com/clusterd/clusterd/internal/text"
)

func newShingle(c config.Config, key *keyedhash.Key) (Method, error) {
	o := shingle.Options{Size: c.Fingerprint.Shingle.Size, Similarity: c.Cluster.Similarity, Key: key}
	var err error
	if o.Words, o.Cleaner, err = shingled(c, key); err != nil {
		return nil, err
	}
	return shingle.New(o)
}

// shingled is what shingles are runs of: words, or else, where it is nil, the characters of clean text.
func shingled(c config.Config, key *keyedhash.Key) (words *text.Tokenizer, characters *text.Cleaner, err error) {
	if c.Fingerprint.Shingle.Of == "words" {
		words, err = NewTokenizer(c.Text, key.For("token").SumString)
		return words, nil, err
	}
	characters, err = text.NewArticleCleaner(c.Text.HTML, c.Text.Extract)
	return nil, characters, err
}
