package main

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
)

// A duration has its unit, in JSON as in text, wherever it stands in a line.
func TestDurationsHaveTheirUnit(t *testing.T) {
	for format, want := range map[string][]string{
		"json": {
			`"took":"1.5s"`, `"wait":{"min":"20ms","max":"1h0m0s"}`, `"since":"2m0s"`, `"n":5`,
			`"none":"0s"`, `"error":"e"`,
		},
		"text": {
			`took=1.5s`, `wait.min=20ms`, `wait.max=1h0m0s`, `since=2m0s`, `n=5`, `none=0s`, `error=e`,
		},
	} {
		t.Run(format, func(t *testing.T) {
			var b bytes.Buffer
			log := newLogger(config.Log{Level: "info", Format: format}, &b)
			log.With("since", 2*time.Minute).Info("m", "took", 1500*time.Millisecond, "n", 5, "none",
				time.Duration(0), "error", errors.New("e"),
				slog.Group("wait", "min", 20*time.Millisecond, slog.Duration("max", time.Hour)))
			for _, w := range want {
				if !strings.Contains(b.String(), w) {
					t.Errorf("no %s in %s", w, &b)
				}
			}
		})
	}
}
