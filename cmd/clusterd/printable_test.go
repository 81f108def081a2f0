package main

import (
	"os"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/text/printable"
)

// Names of files, and what is in them, neither steer a terminal nor look like other lines.
func TestWhatOthersWroteIsPrintable(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestEval", "TestIDF")
	const evil = "a\x1b]0;x\a\u009b2J\u202eb\nclusterd: all is well\u2028\U000E0041台风👩‍👩‍👧"
	dir := t.TempDir()
	t.Chdir(dir)
	article := `{"id":"x","content":"` + strings.Repeat("storm coast harbour ", 20) + `"}`
	for name, text := range map[string]string{
		evil: article, evil + ".yaml": "log: {level: info}\n",
		evil + ".bad.yaml": "\"\\e[2J\\u202e\": x\n", evil + ".docx": "no archive",
		evil + ".jsonl": article + "\n" + `{"id":"x\u001b[2J\u202e","label":"` + "\u202e\u009b2J" +
			`","content":""}` + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"lint", evil + ".yaml"},
		{"lint", evil + ".bad.yaml"},
		{"lint", evil + ".missing"},
		{"config", "-c", evil},
		{"cluster", evil + ".jsonl", evil + ".docx"},
		{"cluster", evil + ".missing"},
		{"compare", evil, evil},
		{"compare", evil, evil + ".docx"},
		{"eval", "--labels", "label", "--run", "exact", evil + ".jsonl"},
		{"eval", "--run", evil, evil + ".jsonl"},
		{"eval", "--clusters", evil + ".jsonl", evil + ".jsonl"},
		{"run", evil},
		{"demo", "--articles", evil + ".missing"},
		{"audit", "--seen", evil + ".missing"},
		{evil},
	} {
		got := clusterd(t, "", args...)
		if args[0] == "cluster" {
			got.out = "" // results are data, and only to a terminal others than in a topic
		}
		for _, said := range []string{got.out, got.errs} {
			for line := range strings.SplitSeq(said, "\n") {
				if line != printable.Text(line) {
					t.Errorf("%q: %q", args[0], line)
				}
				if strings.HasPrefix(line, "clusterd: all is well") {
					t.Errorf("%q says what a file's name says:\n%s", args[0], said)
				}
			}
		}
		if got.out+got.errs == "" {
			t.Errorf("%q says nothing", args)
		}
	}
}
