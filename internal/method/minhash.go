package method

import (
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method/keyedhash"
	"github.com/clusterd/clusterd/internal/method/minhash"
)

func newMinHash(c config.Config, key *keyedhash.Key) (Method, error) {
	o := minhash.Options{
		Size: c.Fingerprint.Shingle.Size, Signature: c.Fingerprint.Signature, Hashes: c.Fingerprint.Hashes,
		Similarity: c.Cluster.Similarity, Recall: c.Cluster.Recall, Key: key,
	}
	var err error
	if o.Words, o.Cleaner, err = shingled(c, key); err != nil {
		return nil, err
	}
	return minhash.New(o)
}
