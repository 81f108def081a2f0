package method

import (
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method/keyedhash"
	"github.com/clusterd/clusterd/internal/method/pinyin"
	"github.com/clusterd/clusterd/internal/text"
)

func newPinyin(c config.Config, key *keyedhash.Key) (Method, error) {
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
