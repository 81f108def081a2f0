package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/quality/eval"
)

// measured returns a directory with a made-up feed: labelled articles, the clusters that they were
// made in, and some pairs.
func measured(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	g := sample.New(1, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	var articles, clusters, pairs bytes.Buffer
	pairs.WriteString("id1\tid2\tjaccard\n")
	for range 200 {
		a := g.Next()
		fmt.Fprintf(&articles, "%s,\"label\":%q}\n",
			bytes.TrimSuffix(bytes.TrimSpace(a.JSON()), []byte("}")), a.Kind)
		origin := a.ID
		if a.Origin != "" {
			origin = a.Origin
			fmt.Fprintf(&pairs, "%s\t%s\t.9\n", a.ID, origin)
		}
		fmt.Fprintf(&clusters, "%s\tof %s\n", a.ID, origin)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(clusters.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"articles.jsonl": articles.Bytes(), "clusters.tsv.gz": packed.Bytes(), "pairs.tsv": pairs.Bytes(),
		"plain.jsonl": []byte(`{"id":"a","content":"text"}` + "\nno article\n"), "empty.jsonl": nil,
		"broken.tsv": []byte("a\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// evalCommand runs eval with the arguments, in which @ is the directory.
func evalCommand(t *testing.T, dir string, args ...string) (out, errs string, err error) {
	t.Helper()
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "@", dir+"/")
	}
	cmd := newEval()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var o, e bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&o)
	cmd.SetErr(&e)
	cmd.SetIn(strings.NewReader(""))
	err = cmd.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

func TestEval(t *testing.T) {
	dir := measured(t)
	truth := []string{
		"@articles.jsonl", "--clusters", "@clusters.tsv.gz", "--truth", "@pairs.tsv",
		"--run", "minhash",
	}
	for _, test := range []struct {
		name string
		args []string
		want []string // titles and rows of tables
		not  []string
	}{
		{
			"truth", truth,
			[]string{"truth: clusters and pairs", "Clusters against the truth", "≥ 0.5", "Cost, with"},
			[]string{"Thresholds", "Labels", "sign of"},
		},
		{
			"runs",
			[]string{
				"@articles.jsonl", "--clusters", "@clusters.tsv.gz", "--run", "exact", "--run",
				"minhash,cluster.similarity=.9,cluster.window=1h",
			},
			[]string{"  exact", "  minhash,cluster.similarity=.9,cluster.window=1h"},
			[]string{"simhash"},
		},
		{
			"thresholds", append(truth, "--thresholds", "--at", ".4,1"),
			[]string{"Thresholds (dissimilarity): minhash", "≥ 0.4", "≥ 1"},
			nil,
		},
		{
			"labels",
			[]string{"@articles.jsonl", "--run", "exact"},
			[]string{"Labels within clusters"},
			[]string{"truth"},
		},
		{
			"signal",
			[]string{
				"@articles.jsonl", "--run", "exact", "--positive", "copy", "--sizes", "2,4", "--within",
				"1d1h",
			},
			[]string{
				"In a cluster of so many as a sign of copy within 25h: exact", "≥ 2", "≥ 4",
				"A moderator's work on copy",
			},
			[]string{"≥ 5"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, errs, err := evalCommand(t, dir, append([]string{}, test.args...)...)
			if err != nil || errs != "" {
				t.Fatalf("%v; %s", err, errs)
			}
			for _, want := range test.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in it:\n%s", want, out)
				}
			}
			for _, not := range test.not {
				if strings.Contains(out, not) {
					t.Errorf("%q is in it:\n%s", not, out)
				}
			}
		})
	}
}

func TestEvalWritesJSONAndHTML(t *testing.T) {
	dir := measured(t)
	out, _, err := evalCommand(t, dir, "@articles.jsonl", "--clusters", "@clusters.tsv.gz", "--run",
		"exact", "--format", "json", "--html", "@report.html")
	if err != nil {
		t.Fatal(err)
	}
	var r eval.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Documents != 200 || len(r.Runs) != 1 || r.Runs[0].Scores == nil || r.Runs[0].Curve == nil ||
		r.Runs[0].Purity != nil {
		t.Errorf("%+v", r)
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte("<h1>articles.jsonl</h1>")) ||
		bytes.Count(page, []byte("<svg")) != 3 {
		t.Errorf("%.2000s", page)
	}
}

func TestEvalErrors(t *testing.T) {
	othersGoroutines(t, "TestEval", "TestEvalPaper")
	dir := measured(t)
	for _, test := range []struct {
		args  string
		usage bool
		want  string
	}{
		{"@articles.jsonl --format xml", true, `--format: "xml" is neither table nor json`},
		{"@articles.jsonl --thresholds", true, "--thresholds needs --clusters or --truth"},
		{"@articles.jsonl --at 80", true, "--at: a similarity is from 0 to 1"},
		{"@articles.jsonl --sizes 0", true, "--sizes: a cluster has at least 1 member"},
		{"@articles.jsonl --threads -1", true, "--threads: less than 0"},
		{"@articles.jsonl --min-body -1", true, "--min-body: less than 0"},
		{"@articles.jsonl --min-body 9999", false, "no document has 9999 characters: lower --min-body"},
		{"@articles.jsonl --within -1h", true, "--within: "},
		{"@articles.jsonl --run nothing", true, "--run nothing: "},
		{"@articles.jsonl --run minhash,.8", true, `--run minhash,.8: ".8" is not KEY=VALUE`},
		{
			"@articles.jsonl --run minhash,cluster.no=1", true,
			"--run minhash,cluster.no=1: no key cluster.no",
		},
		{"@no.jsonl", false, "no such file"},
		{"@articles.jsonl --truth @no.tsv", false, "no such file"},
		{"@articles.jsonl --clusters @broken.tsv", false, "clusters: line 1 has 1 columns, not 2"},
		{"@empty.jsonl", false, "there are no documents"},
		{"@plain.jsonl", false, "no document has a label in field label"},
		{
			"@articles.jsonl --positive nonsense", false,
			`no document has the label "nonsense" in field label`,
		},
		{"@articles.jsonl --run exact --html @no/report.html", false, "--html: "},
	} {
		_, _, err := evalCommand(t, dir, strings.Fields(test.args)...)
		if err == nil || !strings.Contains(err.Error(), test.want) ||
			errors.As(err, new(usageError)) != test.usage {
			t.Errorf("%s: got %v, want %s", test.args, err, test.want)
		}
	}
}

func TestEvalPassesOverWhatIsNoArticle(t *testing.T) {
	dir := measured(t)
	out, errs, err := evalCommand(t, dir, "@plain.jsonl", "--clusters", "@clusters.tsv.gz", "--run",
		"exact")
	if err != nil || !strings.Contains(errs, `"lines":1`) ||
		!strings.Contains(out, "1 documents of 4 characters") {
		t.Errorf("%v\n%s\n%s", err, errs, out)
	}
}
