package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// comments are labelled: the third and the last repeat the first, the fourth is honest and does so,
// too; one is empty of words.
const comments = `{"id":"1","content":"win a prize today","kind":"bad"}
{"id":"2","content":"what a lovely song","kind":"good"}
{"id":"3","content":"win a prize today","kind":"bad"}
{"id":"4","content":"win a prize today","kind":"good"}
{"id":"5","content":"!!!","kind":"bad"}
{"id":"6","content":"win a prize today"}
{"id":"7","content":"win a prize today","kind":"bad"}
`

func TestEvalSpam(t *testing.T) {
	t.Parallel()
	file := write(t, "comments.jsonl", []byte(comments))
	args := []string{
		"--labels", "kind", "--positive", "bad", "--run", "exact", "--parts", "2", "--feedback", "none",
	}
	out, err := command(t, newEvalSpam(), "", append(args, file)...)
	if err != nil {
		t.Fatal(err)
	}
	const want = `7 documents of 15 characters on average; 4 of 6 labelled ones are bad, a share of 0.667

A moderator's work on bad
  run    caught  hit/1000  clicks  later  reports  caught/bad  hit/honest
  exact   0.500    500.00       1      0        0         2/4         1/2

Caught, in each part of the stream
  run        1      2
  exact  0.500  0.500

Hit of a thousand, in each part of the stream
  run       1        2
  exact  0.00  1000.00

Clicks, in each part of the stream
  run    1  2
  exact  1  0

Cost, with `
	if !strings.HasPrefix(out, want) {
		t.Errorf("got\n%swant\n%s", out, want)
	}

	// Of ten characters and more: not "!!!", which is no spam then.
	out, err = command(t, newEvalSpam(), "", append(args, "--min-body", "10", file)...)
	if err != nil || !strings.Contains(out, "; 1 of them too short to be measured; 3 of 5 labelled") ||
		!strings.Contains(out, "2/3") {
		t.Errorf("%v\n%s", err, out)
	}

	page := filepath.Join(t.TempDir(), "spam.html")
	out, err = command(t, newEvalSpam(), "", append(args, "--html", page, "--format", "json", file)...)
	var r eval.Report
	if err == nil {
		err = json.Unmarshal([]byte(out), &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := r.Runs[0].Moderation
	if m == nil || m.Caught != 2 || m.Hit != 1 || m.Clicks != 1 || m.CaughtShare != .5 ||
		len(m.Parts) != 2 || len(r.Runs[0].Signals) != 0 {
		t.Errorf("%s", out)
	}
	html, err := os.ReadFile(page)
	if err != nil || bytes.Count(html, []byte("<svg")) != 1 ||
		!bytes.Contains(html, []byte("A moderator&#39;s work on bad")) {
		t.Errorf("%v, %.2000s", err, html)
	}
}

func TestEvalSpamErrors(t *testing.T) {
	othersGoroutines(t, "TestEval", "TestEvalSpam")
	t.Parallel()
	file := write(t, "comments.jsonl", []byte(comments))
	for _, tt := range []struct {
		args  string
		usage bool
		want  string
	}{
		{"--labels=", true, "--labels: name a field"},
		{"--positive=", true, "--positive: name a label"},
		{"--parts 0", true, "--parts: must be 1 to 100"},
		{"--parts 101", true, "--parts: must be 1 to 100"},
		{"--late -1", true, "--late: less than 0"},
		{"--every 0", true, "--every: less than 1"},
		{"--feedback some", true, `--feedback: "some" is none of article, contact and none`},
		{"--threads -1", true, "--threads: less than 0"},
		{"--format xml", true, `--format: "xml" is neither table nor json`},
		{"--labels kind --positive bad --run magic", true, "--run magic: "},
		{"", false, "no document has a label in field label"},
		{"--labels kind", false, `no document has the label "spam" in field kind`},
	} {
		out, err := command(t, newEvalSpam(), "", append(strings.Fields(tt.args), file)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) ||
			errors.As(err, new(usageError)) != tt.usage || out != "" {
			t.Errorf("%s: got %v, want %s; output %q", tt.args, err, tt.want, out)
		}
	}
}
