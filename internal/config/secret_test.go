package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/secret/redacted"

	"github.com/goccy/go-yaml"
)

func TestSecretIsNeverPrinted(t *testing.T) {
	const words = "hunter2"
	hex := fmt.Sprintf("%x", words)
	c := Default()
	c.Kafka.SASL = SASL{Mechanism: "plain", Username: "u", Password: words}
	c.HTTP.Token = words
	holders := map[string]any{
		"secret":  c.Kafka.SASL.Password,
		"pointer": &c.Kafka.SASL.Password,
		"SASL":    c.Kafka.SASL,
		"HTTP":    c.HTTP,
		"Config":  c,
		"list":    []Secret{words},
		"map":     map[string]Secret{"p": words},
	}
	printed := map[string]func(any) string{
		"json": func(v any) string { return string(must(json.Marshal(v))) },
		"yaml": func(v any) string { return string(must(yaml.Marshal(v))) },
		"slog text": func(v any) string {
			var b bytes.Buffer
			slog.New(slog.NewTextHandler(&b, nil)).Info("m", "v", v)
			return b.String()
		},
		"slog json": func(v any) string {
			var b bytes.Buffer
			slog.New(slog.NewJSONHandler(&b, nil)).Info("m", "v", v)
			return b.String()
		},
		"print":  func(v any) string { return fmt.Sprint(v) },
		"errorf": func(v any) string { return fmt.Errorf("%v", v).Error() },
	}
	for _, verb := range []string{
		"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%c", "%t",
		"%10s", "%-3.1s",
	} {
		printed[verb] = func(v any) string { return fmt.Sprintf(verb, v) }
	}
	for how, print := range printed {
		for what, v := range holders {
			got := print(v)
			if strings.Contains(got, words) ||
				strings.Contains(strings.ToLower(strings.ReplaceAll(got, " ", "")), hex) {
				t.Errorf("%s of %s shows the secret: %s", how, what, got)
			}
		}
		if got := print(Secret(words)); !strings.Contains(got, redacted.Mask) {
			t.Errorf("%s of a secret = %q, want %s", how, got, redacted.Mask)
		}
		if got := print(Secret("")); strings.Contains(got, redacted.Mask) {
			t.Errorf("%s of no secret = %q, want no mask", how, got)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		return any(err.Error()).(T)
	}
	return v
}

func TestSecretReveal(t *testing.T) {
	if got := Secret("hunter2").Reveal(); got != "hunter2" {
		t.Errorf("Reveal() = %q", got)
	}
	if got := Secret("x").GoString(); got != `"***"` {
		t.Errorf("GoString() = %s", got)
	}
}
