// Package corpus has articles for tests that compare two ways to do the same: a small set that is
// part of the repository, and larger sets of real articles, if they are next to it.
package corpus

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// README.md says where these articles come from.
//
//go:embed articles.jsonl
var articles []byte

// maxLine is the most bytes of an article.
const maxLine = 16 << 20

// A Set is a set of articles: one JSON object with id, title and content a line.
type Set struct {
	Name string
	path string // of gzipped lines; empty for the set of the repository
}

// Sets returns the set of the repository first, and then those in the folder ../shared/data next to
// it, if there is such a folder.
func Sets(t testing.TB) []Set {
	t.Helper()
	sets := []Set{{Name: "corpus"}}
	paths, err := filepath.Glob(filepath.Join(root(t), "../shared/data/*.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl.gz")
		sets = append(sets, Set{Name: name, path: path})
	}
	return sets
}

// root returns the folder of the module, in which the tests of all its packages run.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("the test runs outside of the module")
		}
		dir = parent
	}
}

// Lines calls do with the number of each line, from 0 on, and the line, until do returns false. The
// line is valid until do returns.
func (s Set) Lines(t testing.TB, do func(n int, line []byte) bool) {
	t.Helper()
	var in io.Reader = bytes.NewReader(articles)
	if s.path != "" {
		f, err := os.Open(s.path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 0; lines.Scan() && do(n, lines.Bytes()); n++ {
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
}
