package method

import (
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method/keyedhash"
	"github.com/clusterd/clusterd/internal/method/ksentence"
	"github.com/clusterd/clusterd/internal/text"
)

func newKSentence(c config.Config, key *keyedhash.Key) (Method, error) {
	cleaner, err := text.NewArticleCleaner(c.Text.HTML, c.Text.Extract)
	if err != nil {
		return nil, err
	}
	return ksentence.New(cleaner, c.Fingerprint.Sentences, key)
}
