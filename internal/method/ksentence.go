package method

import (
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/ksentence"
)

func newKSentence(c config.Config) (Method, error) {
	cleaner, err := equalityCleaner(c)
	if err != nil {
		return nil, err
	}
	return ksentence.New(cleaner, c.Fingerprint.Sentences)
}
