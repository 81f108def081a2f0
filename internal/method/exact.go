package method

import (
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/exact"
	"github.com/clusterd/clusterd/internal/text"
)

func newExact(c config.Config) (Method, error) {
	cleaner, err := text.NewArticleCleaner(c.Text.HTML, c.Text.Extract)
	if err != nil {
		return nil, err
	}
	return exact.New(cleaner), nil
}
