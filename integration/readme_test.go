//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Every command of the README and of the quick start works, in its order, word for word but for
// addresses.
func TestREADME(t *testing.T) {
	t.Parallel()
	compiled := ""
	for _, document := range []struct {
		name  string
		least int // blocks
	}{{"README.md", 3}, {"docs/quickstart.md", 9}} {
		d := newDocument(t, document.name, nobodys)
		d.forget("clusterd", "articles", "article-clusters", "clusters", "articles-dead")
		if compiled == "" { // for as long as that takes
			compiled = d.dir
			d.must("env", "CGO_ENABLED=0", "go", "build", "-C", d.dir, "-o", t.TempDir(), "./cmd/clusterd")
		} else { // with the addresses of this document
			d.must("cp", "-r", filepath.Join(d.dir, "configs"), filepath.Join(d.dir, "examples"),
				compiled)
		}
		d.dir = compiled
		if blocks := d.follow(); blocks < document.least {
			t.Errorf("%s: only %d blocks found", document.name, blocks)
		}
		d.interruptAll()
	}
	ci, err := os.ReadFile("../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^CGO_ENABLED=0 go test \./\.\.\.$`).Match(ci) {
		t.Error("the README's test command is not what .ci/run calls")
	}
}
