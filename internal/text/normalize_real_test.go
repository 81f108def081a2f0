//go:build !race

// With the race detector this would take half a minute, and there is no race to find in it.

package text

import (
	"path/filepath"
	"testing"
)

func TestNormalizeRealArticles(t *testing.T) {
	n := newTestNormalizer(t)
	paths, err := filepath.Glob("../../../shared/data/*.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skip("no articles in ../../../shared/data")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, a := range realArticles(t, path) {
				wantByDefinition(t, n, a.Title)
				wantByDefinition(t, n, a.Content)
			}
		})
	}
}
