package daemon

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
)

func TestReload(t *testing.T) {
	file := filepath.Join(t.TempDir(), "news.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("log: {level: info}")
	now, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text, level string
		taken             bool
		said              []string
	}{
		{"the same", "log: {level: info}", "info", false, []string{"read again", "changed=[]"}},
		{"a level", "log: {level: debug}", "debug", true, []string{"changed=[log.level]"}},
		{
			"errors", "{log: {level: loud}, input: {topc: x}}", "debug", false,
			[]string{"nothing has changed", "news.yaml:1:15: log.level", "news.yaml:1:30: input.topc"},
		},
		{
			"what cannot change", "{log: {level: warn}, input: {topic: x}}", "warn", true,
			[]string{"the next start", "keys=[input.topic]", "changed=[log.level]"},
		},
	} {
		write(tt.text)
		var log bytes.Buffer
		o := Options{
			Log:  slog.New(slog.NewTextHandler(&log, nil)),
			Load: func() (config.Config, error) { return config.Load(file) },
		}
		if taken := o.reload(&now); taken != tt.taken {
			t.Errorf("%s: taken over %v, want %v", tt.name, taken, tt.taken)
		}
		if now.Log.Level != tt.level || now.Input.Topic != "articles" {
			t.Errorf("%s: level %s, topic %s", tt.name, now.Log.Level, now.Input.Topic)
		}
		for _, want := range tt.said {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: no %s in %s", tt.name, want, &log)
			}
		}
	}
}
