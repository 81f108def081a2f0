package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ferries are articles in fields that are not those of configs/comments.yaml: a copy, and another
// one.
const ferries = `{"id":"a","title":"","content":"The ferry leaves at nine."}
{"id":"b","title":"","content":"The ferry leaves at nine!"}
{"id":"c","title":"","content":"All shops are closed today."}
`

// Articles whose text is not where the configuration says, but in fields of usual names, are
// clustered by these, and one line says so. If some article has text where the configuration says,
// nothing is guessed.
func TestClusterFindsTheText(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestClusterInterrupted")
	t.Parallel()
	const comments = "../../configs/comments.yaml"
	csv := "Date,Comment Text,_id\n2026-05-01,The ferry leaves at nine.,a\n" +
		"2026-05-01,The ferry leaves at nine!,b\n2026-05-02,All shops are closed today.,c\n"
	nested := strings.NewReplacer(`{"id"`, `{"post":{"title":"Ferries"},"id"`,
		`"content":`, `"content":{"rendered":`, `."}`, `."}}`, `!"}`, `!"}}`).Replace(ferries)
	for name, tt := range map[string]struct {
		file, content string
		taken         string // "": nothing
		want          string
	}{
		"content": {"a.jsonl", ferries, `content: \"content\", id: \"id\"`, ferryResults},
		"packed":  {"a.jsonl.gz", ferries, `content: \"content\", id: \"id\"`, ferryResults},
		"a pipe":  {"-", ferries, `content: \"content\", id: \"id\"`, ferryResults},
		"columns": {
			"a.csv", csv,
			`content: \"Comment Text\", id: \"_id\", published_at: \"Date\"`, ferryResults,
		},
		"within an object": {
			"a.jsonl", nested, `content: \"content.rendered\", id: \"id\"`, ferryResults,
		},
		"no text but one at the end": {
			"a.jsonl", ferries + `{"comment":{"id":"d","text":"The ferry leaves."}}`, "",
			"comments/0/0 unclustered -\ncomments/0/1 unclustered -\ncomments/0/2 unclustered -\n" +
				"d new comments/0/3\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, stdin := tt.file, ""
			switch {
			case path == "-":
				stdin = tt.content
			case strings.HasSuffix(path, ".gz"):
				path = write(t, path, gzipped(t, tt.content))
			default:
				path = write(t, path, []byte(tt.content))
			}
			got := clusterd(t, stdin, "cluster", "-c", comments, path)
			if s := summary(t, got.out); got.code != 0 || s != tt.want {
				t.Errorf("exit %d, results:\n%swant:\n%s%s", got.code, s, tt.want, got.errs)
			}
			said := strings.Count(got.errs, "input.fields does not fit")
			if want := min(1, len(tt.taken)); said != want ||
				!strings.Contains(got.errs, tt.taken) {
				t.Errorf("errors %s\nwant %s in it", got.errs, tt.taken)
			}
		})
	}
}

const ferryResults = "a new comments/0/0\nb joined comments/0/0\nc new comments/0/2\n"

// Each verb that reads files of articles finds their text.
func TestEachVerbFindsTheText(t *testing.T) {
	othersGoroutines(t, "TestEval", "TestIDF")
	t.Parallel()
	dir := t.TempDir()
	save := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	labelled := save("labelled.jsonl", strings.ReplaceAll(ferries, `"title"`, `"label":"spam","title"`))
	clusters := save("clusters.tsv", "a\t1\nb\t1\nc\t2\n")
	one := save("one.json", `{"id":"a","message":"The ferry leaves at nine."}`)
	useless := save("useless.jsonl", `{"title":"","verdict":"The ferry leaves."}`)
	for name, args := range map[string][]string{
		"eval":       {"eval", "--run", "exact", "--clusters", clusters, labelled},
		"eval spam":  {"eval", "spam", "--run", "exact", labelled},
		"eval paper": {"eval", "paper", "--run", "exact", "--min-chars", "1", labelled},
		"idf":        {"idf", labelled},
		"compare":    {"compare", one, one},
	} {
		t.Run(name, func(t *testing.T) {
			args := append(args, "-c", "../../configs/comments.yaml")
			got := clusterd(t, "", args...)
			if got.code != 0 || !strings.Contains(got.errs, "input.fields does not fit") ||
				strings.Contains(got.out, "nothing to compare") {
				t.Errorf("exit %d, %s%s", got.code, got.out, got.errs)
			}
			if name == "compare" {
				return
			}
			args = append(args, useless)
			for i, arg := range args {
				if arg == labelled {
					args[i] = useless
				}
			}
			got = clusterd(t, "", args...)
			if got.code != exitFailed || got.out != "" ||
				!strings.Contains(got.errs, `have no word in the fields "comment.text" and "title"; the first has "title", "verdict"`) {
				t.Errorf("without text: exit %d, %s%s", got.code, got.out, got.errs)
			}
		})
	}
}

func gzipped(t *testing.T, content string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, err := io.WriteString(zip, content)
	if err = errors.Join(err, zip.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}
