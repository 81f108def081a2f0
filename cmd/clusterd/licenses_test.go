package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

const thirdParty = "../../THIRD_PARTY_LICENSES"

// rule stands before and after the modules of a text.
var rule = strings.Repeat("=", 88)

// linked returns the directories of the packages that are linked into clusterd for a system, by
// module and release. It asks the module cache alone.
func linked(t *testing.T, system string) map[string][]string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-json=Dir,Module,Standard", ".")
	list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	if system == "" {
		list.Env = os.Environ()
	}
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := make(map[string][]string)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir    string
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return dirs
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module == nil || p.Module.Main {
			continue
		}
		name := p.Module.Path + " " + p.Module.Version
		for dir := p.Dir; !slices.Contains(dirs[name], dir); dir = filepath.Dir(dir) {
			dirs[name] = append(dirs[name], dir)
			if dir == p.Module.Dir {
				dirs[name] = append(dirs[name], filepath.Join(dir, "licenses"))
				break
			}
		}
	}
}

// isLicense leaves out the GPL, which is the one of two licences of freetype that is not taken.
var isLicense = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents).*|^(ftl|bsd-.*)\.txt$`)

// texts returns the licences, notices and grants of patents of a module: those at its root and
// beside the packages that are linked.
func texts(t *testing.T, dirs []string) (all []string) {
	t.Helper()
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // most have no directory of licences
		}
		for _, e := range entries {
			if ext := filepath.Ext(e.Name()); e.IsDir() || ext == ".go" || !isLicense.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		}
	}
	return all
}

// licenses returns the file: each text once, after the modules that have it.
func licenses(t *testing.T, modules map[string][]string) []byte {
	t.Helper()
	of := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		for _, text := range texts(t, modules[name]) {
			if !slices.Contains(of[text], name) {
				of[text] = append(of[text], name)
			}
		}
	}
	var b bytes.Buffer
	b.WriteString("The licences of the Go modules that are linked into clusterd; NOTICE has what is " +
		"to be said beyond them.\n" +
		"Written by: go test ./cmd/clusterd -run TestLicenses -update\n")
	order := slices.SortedFunc(maps.Keys(of),
		func(x, y string) int { return strings.Compare(of[x][0]+"\x00"+x, of[y][0]+"\x00"+y) })
	for _, text := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(of[text], "\n"), rule, text)
	}
	return b.Bytes()
}

// Every module that is linked in is in THIRD_PARTY_LICENSES, in its release, with all its texts.
func TestLicenses(t *testing.T) {
	check.OneGoroutine(t)
	if flag.Lookup("update").Value.String() == "true" {
		all := make(map[string][]string)
		for _, system := range []string{"", "linux", "darwin", "windows"} {
			for name, dirs := range linked(t, system) {
				for _, dir := range dirs {
					if !slices.Contains(all[name], dir) {
						all[name] = append(all[name], dir)
					}
				}
			}
		}
		golden.Check(t, thirdParty, licenses(t, all))
	}
	data, err := os.ReadFile(thirdParty)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(data), "\n"+rule+"\n")[1:] // modules, text, modules, text
	of := make(map[string][]string)
	for i := 0; i+1 < len(parts); i += 2 {
		of[strings.TrimSpace(parts[i+1])] = strings.Split(parts[i], "\n")
	}
	modules := linked(t, "") // what another system needs may not be in the module cache
	if len(modules) < 50 || len(of) < 20 {
		t.Fatalf("%d modules, %d texts: the test shows little", len(modules), len(of))
	}
	for name, dirs := range modules {
		own := texts(t, dirs)
		if len(own) == 0 {
			t.Errorf("%s has no licence", name)
		}
		for _, text := range own {
			if !slices.Contains(of[text], name) {
				t.Errorf("%s: not in THIRD_PARTY_LICENSES with its text (%.40q): go test ./cmd/clusterd -run "+
					"TestLicenses -update", name, text)
			}
		}
	}
}

// What licences want to be said of single works is said while they are there.
func TestNotice(t *testing.T) {
	data, err := os.ReadFile("../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	for work, want := range map[string]string{
		"github.com/go-ego/gse": "Copyright (c) 2013 Sun Junyi",
		"internal/text/opencc":  "https://github.com/BYVoid/OpenCC",
	} {
		if !bytes.Contains(data, []byte(work)) || !bytes.Contains(data, []byte(want)) {
			t.Errorf("NOTICE does not say %q of %s", want, work)
		}
	}
	if _, err := os.Stat("../../internal/text/opencc/LICENSE"); err != nil {
		t.Error(err)
	}
}
