package method

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/exact"
	"github.com/clusterd/clusterd/internal/text"
)

func newExact(c config.Config) (Method, error) {
	cleaner, err := equalityCleaner(c)
	if err != nil {
		return nil, err
	}
	return exact.New(cleaner), nil
}

// equalityCleaner returns the cleaner of a method to which articles are equal or not. It
// fails on a similarity that would have no effect.
func equalityCleaner(c config.Config) (*text.Cleaner, error) {
	if s := c.Cluster.Similarity; s != 0 && s != 1 {
		return nil, fmt.Errorf("similarity %v: allowed are auto and 1, since articles are equal or not", s)
	}
	return text.NewArticleCleaner(c.Text.HTML, c.Text.Extract)
}
