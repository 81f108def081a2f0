package main

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/quality/tune"
)

func TestEvalTune(t *testing.T) {
	t.Parallel()
	file := feed(t, 300)
	out, err := command(t, newEvalTune(), "", "--methods", "exact,minhash", file)
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(out, "Put into the configuration:\n")
	c, err := config.Parse("x.yaml", []byte(lines), os.LookupEnv, os.ReadFile)
	if err != nil || c.Fingerprint.Method != "minhash" {
		t.Errorf("proposed method %s, %v:\n%s", c.Fingerprint.Method, err, out)
	}

	out, err = command(t, newEvalTune(), "", "--methods", "exact", "--sample", "100", "--same", "0.6",
		"--format", "json", file)
	var r tune.Report
	if err == nil {
		err = json.Unmarshal([]byte(out), &r)
	}
	if err != nil || r.Articles != 100 || r.Same != .6 || r.Proposed == nil ||
		r.Proposed.Method != "exact" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestEvalTuneErrors(t *testing.T) {
	t.Parallel()
	file := feed(t, 10)
	for name, tt := range map[string]struct {
		args  []string
		want  string
		usage bool
	}{
		"format":  {[]string{"--format", "xml", file}, `--format: "xml" is neither table nor json`, true},
		"sample":  {[]string{"--sample", "0", file}, "--sample: at least 1 is needed", true},
		"same":    {[]string{"--same", "0.4", file}, "--same 0.4: must be 0.5 to 1", true},
		"methods": {[]string{"--methods", "magic", file}, "--methods: ", true},
		"missing": {[]string{"missing.jsonl"}, "missing.jsonl", false},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := command(t, newEvalTune(), "", tt.args...)
			var usage usageError
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &usage) != tt.usage ||
				out != "" {
				t.Errorf("error %v, output %q; want %s", err, out, tt.want)
			}
		})
	}
}
