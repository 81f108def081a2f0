package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// learn runs the command.
func learn(t *testing.T, stdin string, args ...string) (out, errs string, err error) {
	t.Helper()
	var o, e wait.Buffer
	cmd := newIDF()
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&o)
	cmd.SetErr(&e)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

func TestIDF(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	fmt.Fprintln(zip, copied)
	zip.Close()
	plain := write(t, "a.jsonl", []byte(bridge+"\n"+`{"title":`+"\n"))
	gz := write(t, "b.jsonl.gz", packed.Bytes())

	out, errs, err := learn(t, market, plain, gz, "-")
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(out, "\n")
	if want := fmt.Sprintf("# rarity of %d words in 3 articles",
		strings.Count(rest, "\n")); first != want {
		t.Errorf("it begins with %q, want %q", first, want)
	}
	// In two of three articles: ln(1 + 3/2).
	if !strings.Contains(rest, "\n大桥\t0.9163\n") || strings.Contains(out, "harbour") {
		t.Errorf("the table has not what is in two articles, or what is in one:\n%s", out)
	}
	if !strings.Contains(errs, "no article") || !strings.Contains(errs, `"rejected":1`) {
		t.Errorf("the line that is no article is not reported:\n%s", errs)
	}
	table, err := simhash.ReadIDF(write(t, "idf.tsv", []byte(out)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := table.Len(), strings.Count(rest, "\n"); got != want {
		t.Errorf("it is read as %d words, want %d", got, want)
	}
	if again, _, err := learn(t, copied+"\n"+market+"\n"+bridge); err != nil || again != out {
		t.Errorf("in another order the articles give another table, error %v:\n%s", err, again)
	}
}

func TestIDFRefuses(t *testing.T) {
	othersGoroutines(t, "TestIDF")
	t.Parallel()
	for name, args := range map[string][]string{
		"no such file":  {"absent.jsonl"},
		"not packed":    {write(t, "plain.jsonl.gz", []byte(bridge))},
		"no article":    {write(t, "empty.jsonl", nil)},
		"no such field": {"-c", write(t, "bad.yaml", []byte("nonsense: 1\n"))},
	} {
		if out, _, err := learn(t, "", args...); err == nil || out != "" {
			t.Errorf("%s: error %v beside %q", name, err, out)
		}
	}
}
