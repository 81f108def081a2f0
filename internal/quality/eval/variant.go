package eval

import (
	"fmt"
	"strings"

	"github.com/clusterd/clusterd/internal/config"
)

// A Variant is a method with its settings.
type Variant struct {
	Name   string
	Config config.Config // the method, its settings and the window count; the rest does not
}

// ParseVariant returns the variant that METHOD[,KEY=VALUE]... says; in all else it is as
// configured. The error wraps [config.ErrSecret] where a value may be a secret.
func ParseVariant(c config.Config, text string) (Variant, error) {
	v := Variant{Name: text, Config: c}
	settings := strings.Split(text, ",")
	settings[0] = "fingerprint.method=" + settings[0]
	for _, s := range settings {
		key, value, ok := strings.Cut(strings.TrimSpace(s), "=")
		if !ok {
			return Variant{}, fmt.Errorf("%q is not KEY=VALUE", s)
		}
		if err := v.Config.Set(key, value); err != nil {
			return Variant{}, err
		}
	}
	return v, nil
}
