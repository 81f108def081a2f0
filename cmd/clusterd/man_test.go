package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/clusterd/clusterd/internal/cli"
)

// There is a man page for each verb that has help, and it is the same each time it is written.
func TestMan(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1767323045")
	texts, err := filepath.Glob("testdata/help/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var before []byte
	for range 2 {
		dir := t.TempDir()
		if got := clusterd(t, "", "man", dir); got.code != 0 || got.out+got.errs != "" {
			t.Fatalf("%+v", got)
		}
		var all []byte
		for _, text := range texts {
			name := filepath.Base(text)
			page, err := os.ReadFile(filepath.Join(dir, name[:len(name)-len(".txt")]+".1"))
			if err != nil {
				t.Error(err)
			}
			if !bytes.Contains(page, []byte(`"Jan 2026"`)) || !bytes.Contains(page, []byte(".SH NAME")) {
				t.Errorf("%s: %.200s", name, page)
			}
			all = append(all, page...)
		}
		if before != nil && !bytes.Equal(all, before) {
			t.Error("the pages differ from those before")
		}
		before = all
	}
}

func TestVersionJSON(t *testing.T) {
	got := clusterd(t, "", "version", "--json")
	var i cli.Version
	if err := json.Unmarshal([]byte(got.out), &i); err != nil || got.code != 0 {
		t.Fatalf("%v: %+v", err, got)
	}
	if i != cli.GetVersion() || i.Version == "" || i.Go != runtime.Version() {
		t.Errorf("%+v", i)
	}
}
