package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/quality/tune"
)

// tuned returns a configuration with this fingerprint section.
func tuned(t *testing.T, name string) string {
	t.Helper()
	return write(t, "tuned.yaml", []byte("fingerprint: {method: "+name+"}\n"))
}

// What is proposed is a configuration, and stays when it is configured.
func TestEvalTune(t *testing.T) {
	t.Parallel()
	file := feed(t, 400)
	out, err := command(t, newEvalTune(), "", "-c", tuned(t, "exact"), "--methods", "exact,minhash",
		file)
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(out, "Put into the configuration:\n")
	proposal := write(t, "proposal.yaml", []byte(lines))
	if ok, err := command(t, newLint(), "", proposal); err != nil || !strings.Contains(ok, ": ok") ||
		!strings.Contains(lines, "method: minhash") {
		t.Errorf("%v:\n%s", err, out)
	}
	out, err = command(t, newEvalTune(), "", "-c", proposal, "--methods", "exact,minhash", file)
	if err != nil || !strings.Contains(out, "\nKeep the configuration as it is: ") ||
		strings.Contains(out, "Put into") {
		t.Errorf("%v:\n%s", err, out)
	}

	out, err = command(t, newEvalTune(), "", "-c", tuned(t, "minhash"), "--methods", "exact",
		"--sample", "300", "--same", "0.6", "--format", "json", file)
	var r tune.Report
	if err == nil {
		err = json.Unmarshal([]byte(out), &r)
	}
	if err != nil || r.Articles != 300 || r.Asked != .6 || r.Configured == nil ||
		r.Configured.Method != "minhash" || len(r.Points) < 3 {
		t.Errorf("%v: %s", err, out)
	}
}

// The labels of the feed are kinds: copies are caught by any method, edits are not.
func TestEvalTuneLabels(t *testing.T) {
	t.Parallel()
	file := filepath.Join(measured(t), "articles.jsonl")
	out, err := command(t, newEvalTune(), "", "-c", tuned(t, "exact"), "--methods", "minhash",
		"--labels", "label", "--positive", "copy", "--hits", "1000", file)
	if err != nil || !strings.HasPrefix(out, "200 articles: ") || !strings.Contains(out, " copy, ") ||
		!strings.Contains(out, "hit/1000") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// The articles of the feed say too little of stories, with their kinds as labels and without.
func TestEvalTuneStories(t *testing.T) {
	t.Parallel()
	file := filepath.Join(measured(t), "articles.jsonl")
	for _, args := range [][]string{{file}, {"--labels", "label", file}} {
		args = append([]string{"--stories", "-c", tuned(t, "minhash"), "--format", "json"}, args...)
		out, err := command(t, newEvalTune(), "", args...)
		var r tune.StoryReport
		if err == nil {
			err = json.Unmarshal([]byte(out), &r)
		}
		if err != nil || r.Articles != 200 || r.Labels != (len(args) > 6) || len(r.Texts) == 0 ||
			r.Texts[0].Why == "" {
			t.Errorf("%v: %s", err, out)
		}
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
		"format": {[]string{"--format", "xml", file}, `--format: "xml" is neither table nor json`, true},
		"sample": {[]string{"--sample", "0", file}, "--sample: at least 1 is needed", true},
		"same":   {[]string{"--same", "0.4", file}, "--same 0.4: must be 0.5 to 1", true},
		"hits":   {[]string{"--hits", "-1", file}, "--hits -1: must be 0 to 1000", true},
		"labels alone": {
			[]string{"--labels", "kind", file}, "--labels and --hits: need --positive", true,
		},
		"hits alone": {[]string{"--hits", "1", file}, "--labels and --hits: need --positive", true},
		"stories and positive": {
			[]string{"--stories", "--positive", "spam", file}, "--stories: not with --positive, ", true,
		},
		"stories and hits": {[]string{"--stories", "--hits", "1", file}, "--stories: not with", true},
		"stories without labels": {
			[]string{"--stories", "--labels", "event", file},
			"no document has a label in field event", false,
		},
		"no such label": {
			[]string{"--positive", "spam", file}, `no document has a label in field label`, false,
		},
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
