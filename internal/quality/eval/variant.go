package eval

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
)

// A Variant is a method with its settings.
type Variant struct {
	Name   string
	Config config.Config // the method, its settings and the window count; the rest does not
	Given  []string      // the keys that the variant sets, the method among them
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
		v.Given = append(v.Given, key)
	}
	return v, nil
}

// SettingOf returns the key and the value that give a method a threshold, the largest distance from
// a centre.
func SettingOf(name string, threshold float64) (key, value string) {
	spec, _ := method.SpecOf(name)
	measure := spec.Measure()
	if measure.Unit == method.Similarity {
		threshold = math.Round((1-threshold)*1e4) / 1e4
	}
	return measure.Key, strconv.FormatFloat(threshold, 'f', -1, 64)
}
