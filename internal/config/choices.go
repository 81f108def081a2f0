package config

import (
	"slices"

	"github.com/clusterd/clusterd/internal/config/value"
)

// A Choice is a key that a command line may give.
type Choice struct {
	Path, Doc string
	Words     []string // that its value, or an item of a list, may be; there may be more
	IsList    bool
}

// Choices returns the keys that a command line may give, in the order of the reference: all that
// hold no secret.
func Choices() (all []Choice) {
	var c Config
	for _, k := range c.keys() {
		if k.Value.Trait() != value.Secret {
			all = append(all, Choice{k.Path, k.Doc, slices.Clone(k.Value.Words()), k.Value.IsList()})
		}
	}
	return all
}
