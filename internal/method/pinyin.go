package method

import (
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/keyed"
	"github.com/clusterd/clusterd/internal/pinyin"
	"github.com/clusterd/clusterd/internal/text"
)

func newPinyin(c config.Config, key *keyed.Key) (Method, error) {
	cleaner, err := text.NewArticleCleaner(c.Text.HTML, c.Text.Extract)
	if err != nil {
		return nil, err
	}
	p := c.Fingerprint.Pinyin
	return pinyin.New(pinyin.Options{
		Cleaner: cleaner, Window: p.Window, Overlap: p.Overlap, Levels: p.Levels, Boundaries: p.Boundaries,
		Similarity: c.Cluster.Similarity, Key: key,
	})
}
