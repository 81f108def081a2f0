package eval

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/corpus"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// Scores are what the measuring script computes. testdata/corpus.golden has its output for the
// corpus.
func TestScoreOfTheCorpus(t *testing.T) {
	var lines, clusters, pairs bytes.Buffer
	corpus.Sets(t)[0].Lines(t, func(_ int, line []byte) bool {
		_, _ = fmt.Fprintf(&lines, "%s\n", line)
		return true
	})
	docs, _, err := ReadDocuments(config.Default().Input, "",
		[]files.File{{Name: "corpus", Lines: &lines}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, to := range map[string]*bytes.Buffer{
		"testdata/corpus.clusters.tsv": &clusters, "testdata/corpus.pairs.tsv": &pairs,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = to.Write(text)
	}
	truth, err := ReadTruth(&clusters, &pairs)
	if err != nil {
		t.Fatal(err)
	}
	got := truth.Score(docs, crude(docs), nil).String() + "\n"
	golden.Check(t, "testdata/corpus.golden", []byte(got))
}

// So they are for real articles, if these and the script are next to the repository. Without the
// build tag long, one set will do.
func TestScoreAsTheScript(t *testing.T) {
	check.OneGoroutine(t)
	const script = "../../../../shared/tools/score_expanded.py"
	paths, err := filepath.Glob("../../../../shared/data/*.clusters_j80.tsv.gz")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(script); err != nil || len(paths) == 0 {
		t.Skip("no measured articles beside the repository")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	if !check.Long {
		paths = paths[:1]
	}
	for _, path := range paths {
		base := strings.TrimSuffix(path, ".clusters_j80.tsv.gz")
		t.Run(filepath.Base(base), func(t *testing.T) {
			t.Parallel()
			docs, _, err := ReadDocuments(config.Default().Input, "",
				[]files.File{{Name: base, Lines: unpacked(t, base+".jsonl.gz")}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			truth, err := ReadTruth(unpacked(t, path), unpacked(t, base+".pairs_j50.tsv.gz"))
			if err != nil {
				t.Fatal(err)
			}
			c := crude(docs)
			out, err := exec.Command("python3", script, base, resultsFile(t, docs, c)).Output()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := truth.Score(docs, c, nil).String(), strings.TrimSpace(string(out)); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

func unpacked(t *testing.T, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// crude returns a clustering with every kind of mistake: it puts together what begins alike, and
// some by chance, has no result for some documents, and no cluster for others.
func crude(docs []Document) Clustering {
	c := make(Clustering, len(docs))
	founder := make(map[string]int)
	for i := range docs {
		h := fnv.New32a()
		_, _ = io.WriteString(h, docs[i].ID)
		text := []rune(docs[i].Title + docs[i].Content)
		key := string(text[:min(12, len(text))])
		switch chance := h.Sum32() % 100; {
		case chance < 2:
			c[i] = Missing
			continue
		case chance < 4:
			c[i] = Unclustered
			continue
		case chance < 8:
			key = string(text[:min(1, len(text))])
		}
		if _, known := founder[key]; !known {
			founder[key] = i
		}
		c[i] = founder[key]
	}
	return c
}

func resultsFile(t *testing.T, docs []Document, c Clustering) string {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	for i, cluster := range c {
		line := map[string]any{"article_id": docs[i].ID, "cluster_id": cluster}
		switch cluster {
		case Missing:
			continue
		case Unclustered:
			line["cluster_id"] = nil
		}
		if err := e.Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "results.jsonl")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
