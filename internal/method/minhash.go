package method

import (
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/minhash"
	"github.com/clusterd/clusterd/internal/text"
)

func newMinHash(c config.Config) (Method, error) {
	o := minhash.Options{
		Size: c.Fingerprint.Shingle.Size, Signature: c.Fingerprint.Signature, Hashes: c.Fingerprint.Hashes,
		Similarity: c.Cluster.Similarity, Recall: c.Cluster.Recall,
	}
	var err error
	if c.Fingerprint.Shingle.Of == "words" {
		o.Words, err = text.New(text.Options{
			Dictionaries: c.Text.Dictionaries, StopWords: c.Text.StopWords, HTML: c.Text.HTML, Extract: c.Text.Extract,
			Hash: xxh3.HashString,
		})
	} else {
		o.Cleaner, err = text.NewArticleCleaner(c.Text.HTML, c.Text.Extract)
	}
	if err != nil {
		return nil, fmt.Errorf("preparing to clean text: %w", err)
	}
	return minhash.New(o)
}
