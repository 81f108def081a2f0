package method

import (
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/keyed"
	"github.com/clusterd/clusterd/internal/ksentence"
	"github.com/clusterd/clusterd/internal/text"
)

func newKSentence(c config.Config, key *keyed.Key) (Method, error) {
	cleaner, err := text.NewArticleCleaner(c.Text.HTML, c.Text.Extract)
	if err != nil {
		return nil, err
	}
	return ksentence.New(cleaner, c.Fingerprint.Sentences, key)
}
