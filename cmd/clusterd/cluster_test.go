package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/cli/offline"
	"github.com/clusterd/clusterd/internal/message/article"
)

// summary returns a line for each result: article, status, cluster.
func summary(t *testing.T, out string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(out) {
		r, err := article.ParseResult([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		cluster := "-"
		if r.ClusterID != nil {
			cluster = *r.ClusterID
		}
		fmt.Fprintf(&b, "%s %s %s\n", r.ArticleID, r.Status, cluster)
	}
	return b.String()
}

func TestClusterFiles(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	fmt.Fprintln(zip, copied)
	zip.Close()
	plain := write(t, "a.jsonl", []byte(bridge+"\n"+`{"title":`+"\n"+`{"id":"bare","title":"!"}`+"\n"))
	gz := write(t, "b.jsonl.GZ", packed.Bytes())
	dead := filepath.Join(t.TempDir(), "dead.jsonl")

	got := clusterd(t, market+"\n"+"nonsense <&>", "cluster", "--dead-letters", dead, plain, gz, "-")
	if got.code != 0 {
		t.Fatalf("exit %d, errors %s", got.code, got.errs)
	}
	want := "bridge new articles/0/0\nbare unclustered -\ncopy joined articles/0/0\nmarket new " +
		"articles/0/4\n"
	if s := summary(t, got.out); s != want {
		t.Errorf("results:\n%swant:\n%s", s, want)
	}
	for _, want := range []string{
		`"msg":"no article","file":"` + plain +
			`","line":2,"class":"bad_json","reason":"the value is not valid JSON"`,
		`"msg":"no article","file":"standard input","line":2,"class":"bad_json"`,
		`"msg":"done","lines":6,"new":2,"joined":1,"unclustered":1,"rejected":2,"clusters":2,"took":`,
	} {
		if !strings.Contains(got.errs, want) {
			t.Errorf("errors %s\nwant %s in it", got.errs, want)
		}
	}
	letters, err := os.ReadFile(dead)
	if err != nil {
		t.Fatal(err)
	}
	wantDead := `{"file":"` + plain +
		`","line":2,"error":"bad_json","reason":"the value is not valid JSON","value":"{\"title\":"}` +
		"\n" +
		`{"file":"standard input","line":2,"error":"bad_json","reason":"the value is not valid JSON","value":"nonsense <&>"}` + "\n"
	if string(letters) != wantDead {
		t.Errorf("dead letters:\n%swant:\n%s", letters, wantDead)
	}
}

func TestClusterFlags(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestClusterInterrupted")
	t.Parallel()
	// The flags win over the file, and what they do not say is the file's.
	config := write(
		t, "c.yaml", []byte("input: {topic: comments, format: json}\ncluster: {distance: 6}\n"))
	texts := "港口大桥今天通车\n港口大桥今天开幕\n港口大桥今天通车！\n"
	got := clusterd(t, texts, "cluster", "-c", config, "--format", "text", "--distance", "0",
		"--window", "3d", "--method", "simhash")
	want := "comments/0/0 new comments/0/0\ncomments/0/1 new comments/0/1\ncomments/0/2 joined " +
		"comments/0/0\n"
	if s := summary(t, got.out); got.code != 0 || s != want {
		t.Errorf("exit %d, results:\n%swant:\n%s%s", got.code, s, want, got.errs)
	}
}

func TestClusterReportsOnlySomeRejections(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestClusterInterrupted")
	t.Parallel()
	got := clusterd(t, strings.Repeat("{\n", 50), "cluster")
	if got.code != exitFailed || got.out != "" {
		t.Errorf("exit %d, output %q", got.code, got.out)
	}
	if n := strings.Count(got.errs, `"msg":"no article"`); n != offline.MaxReported {
		t.Errorf("%d rejections were reported, want %d", n, offline.MaxReported)
	}
	if strings.Count(got.errs, "more lines are no articles") != 1 ||
		!strings.Contains(got.errs, `"rejected":50`) {
		t.Errorf("errors:\n%s", got.errs)
	}
}

func TestClusterErrors(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestClusterInterrupted")
	t.Parallel()
	good, dir := write(t, "a.jsonl", []byte(bridge)), t.TempDir()
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no such file": {
			[]string{good, "missing.jsonl"},
			"clusterd: open missing.jsonl: no such file or directory\n",
		},
		"no gzip": {
			[]string{write(t, "x.gz", []byte(bridge))},
			"x.gz: line 1: gzip: invalid header\n",
		},
		"empty gzip": {[]string{write(t, "x.gz", nil)}, "x.gz: line 1: unexpected EOF\n"},
		"dead letters: dir": {
			[]string{"--dead-letters", dir, good},
			"clusterd: --dead-letters: open " + dir + ": is a directory\n",
		},
		"an empty folder": {[]string{dir}, "clusterd: " + dir + ": there is no file in this folder"},
	} {
		t.Run(name, func(t *testing.T) {
			got := clusterd(t, "", append([]string{"cluster"}, tt.args...)...)
			if got.code != exitFailed || !strings.Contains(got.errs, tt.want) || got.out != "" {
				t.Errorf("exit %d, output %q, errors %q; want 1 and %q", got.code, got.out, got.errs, tt.want)
			}
		})
	}
}
