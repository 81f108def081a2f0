package method

import (
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/exact"
	"github.com/clusterd/clusterd/internal/keyed"
	"github.com/clusterd/clusterd/internal/text"
)

func newExact(c config.Config, key *keyed.Key) (Method, error) {
	cleaner, err := text.NewArticleCleaner(c.Text.HTML, c.Text.Extract)
	if err != nil {
		return nil, err
	}
	return exact.New(cleaner, key), nil
}
