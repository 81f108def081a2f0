package tune

import (
	"math/rand/v2"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// Sample returns n documents that follow one another, or all if they are fewer: copies follow one
// another in a stream. The same seed gives the same ones.
func Sample(documents []eval.Document, n int, seed uint64) []eval.Document {
	beyond := len(documents) - n
	if beyond <= 0 {
		return documents
	}
	start := int(rand.NewPCG(seed, 0).Uint64() % uint64(beyond+1))
	return documents[start : start+n]
}
