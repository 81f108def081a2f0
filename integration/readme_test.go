//go:build integration

package integration

import (
	"os"
	"regexp"
	"testing"
)

// Every command of the README works, in its order, word for word but for addresses.
func TestREADME(t *testing.T) {
	t.Parallel()
	d := newDocument(t, "README.md", nobodys)
	d.forget("clusterd", "articles", "article-clusters", "clusters", "articles-dead")
	// The first start compiles, for as long as that takes.
	d.must("go", "build", "-C", d.dir, "-o", t.TempDir(), "./cmd/clusterd")
	if blocks := d.follow(); blocks < 10 {
		t.Errorf("only %d blocks found", blocks)
	}
	d.interruptAll()
	ci, err := os.ReadFile("../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^go test \./\.\.\.$`).Match(ci) {
		t.Error("the README's test command is not what .ci/run calls")
	}
}
