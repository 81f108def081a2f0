package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/quality/paper"
)

// feed returns a file of made-up articles.
func feed(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	articles := sample.New(2, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	for range n {
		b.Write(append(articles.Next().JSON(), '\n'))
	}
	return write(t, "feed.jsonl", b.Bytes())
}

func TestEvalPaper(t *testing.T) {
	t.Parallel()
	file := feed(t, 60)
	shares := func(seed string) (r paper.Report, rows []paper.Row) {
		t.Helper()
		out, err := command(t, newEvalPaper(), "", "--run", "minhash", "--run",
			"minhash,cluster.similarity=0.5", "--seed", seed, "--sample", "20", "--centres", "100",
			"--format", "json", file)
		if err == nil {
			err = json.Unmarshal([]byte(out), &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			if row.Unit == paper.Share {
				rows = append(rows, row)
			}
		}
		return r, rows
	}
	r, rows := shares("1")
	if r.Articles != 20 || r.Characters < 200 ||
		!reflect.DeepEqual(r.Variants, []string{"minhash", "minhash,cluster.similarity=0.5"}) {
		t.Errorf("%d articles of %v characters, variants %q", r.Articles, r.Characters, r.Variants)
	}
	for _, row := range rows {
		// What is within a bound is within a wider one.
		if *row.Figures[0] > *row.Figures[1] {
			t.Errorf("%s: %v, and at a wider bound %v", row.What, *row.Figures[0], *row.Figures[1])
		}
	}
	if _, again := shares("1"); !reflect.DeepEqual(again, rows) {
		t.Error("the same seed gives other figures")
	}
	if _, others := shares("2"); reflect.DeepEqual(others, rows) {
		t.Error("another seed gives the same figures")
	}
	out, err := command(t, newEvalPaper(), "", "--run", "exact", "--sample", "5", "--centres", "100",
		file)
	if err != nil || !strings.HasPrefix(out, "5 articles of ") ||
		!strings.Contains(out, "sentences reordered, %") {
		t.Errorf("%v, table\n%s", err, out)
	}
}

func TestEvalPaperErrors(t *testing.T) {
	othersGoroutines(t, "TestEval", "TestEvalPaper")
	t.Parallel()
	file := feed(t, 10)
	for name, tt := range map[string]struct {
		args  []string
		want  string
		usage bool
	}{
		"format": {
			[]string{"--format", "xml", file}, `--format: "xml" is neither table nor json`, true,
		},
		"sample":    {[]string{"--sample", "1", file}, "--sample: at least 2 are needed", true},
		"min-chars": {[]string{"--min-chars", "0", file}, "--min-chars: at least 1 is needed", true},
		"centres":   {[]string{"--centres", "0", file}, "--centres: at least 1 is needed", true},
		"run":       {[]string{"--run", "magic", file}, "--run magic: ", true},
		"missing":   {[]string{"--run", "exact", "missing.jsonl"}, "missing.jsonl", false},
		"too short": {
			[]string{"--run", "exact", "--min-chars", "100000", file},
			"0 articles of at least 100000 characters: two are needed", false,
		},
		"no articles": {
			[]string{"--run", "exact", write(t, "bad.jsonl", []byte("{\n"))},
			"none of 1 records is an article; the first is bad_json", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := command(t, newEvalPaper(), "", tt.args...)
			var usage usageError
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &usage) != tt.usage ||
				out != "" {
				t.Errorf("error %v, output %q; want %s", err, out, tt.want)
			}
		})
	}
}
