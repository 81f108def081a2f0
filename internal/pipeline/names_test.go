package pipeline

import (
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
)

// The configuration knows nothing of fingerprints and indexes, so it has lists of their names of
// its own. They are the same.
func TestNames(t *testing.T) {
	for key, names := range map[string][]string{
		"fingerprint.hash": simhash.Hashes(), "fingerprint.weight": simhash.Weights(),
		"text.html": {"auto", "always", "never"},
	} {
		for _, name := range names {
			c := config.Default()
			if err := c.Set(key, name); err != nil {
				t.Errorf("%s: %s: %v", key, name, err)
			}
		}
	}
	c := config.Default()
	if c.Fingerprint.Hash != simhash.Hashes()[0] || c.Fingerprint.Weight != simhash.Weights()[0] {
		t.Errorf("the defaults are %s and %s, and those of simhash %v and %v",
			c.Fingerprint.Hash, c.Fingerprint.Weight, simhash.Hashes(), simhash.Weights())
	}
	if _, err := hamming.NewIndex(c.Cluster.Index, c.Cluster.Distance); err != nil {
		t.Error(err)
	}
}
