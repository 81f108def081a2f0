//go:build integration

package integration

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// axe finds what keeps people from using a page: https://github.com/dequelabs/axe-core.
const axe = "axe-core@4.14.1"

var lighthouse = flag.String("lighthouse", "",
	"the program lighthouse, for TestLighthouse; empty passes it over")

// axe returns the script, from npm.
func (w *world) axe() string {
	w.Helper()
	dir := w.TempDir()
	w.must("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir, axe)
	script, err := os.ReadFile(filepath.Join(dir, "node_modules/axe-core/axe.min.js"))
	if err != nil {
		w.Fatal(err)
	}
	return string(script)
}

// accessible fails where axe finds fault with the page that is open.
func (b *browser) accessible(path string) {
	b.Helper()
	if b.axe == "" {
		return
	}
	value[bool](b, b.axe+"; true")
	for _, fault := range value[[]string](b, `axe.run().then(r => r.violations.map(
		v => v.id + ": " + v.nodes.map(n => n.target.join(" ")).join(", ")))`) {
		b.Errorf("%s: %s", path, fault)
	}
}

// Lighthouse has nothing to say of what matters. It measures time, and so it is no test of each
// change: npm install -g lighthouse, and -lighthouse lighthouse.
func TestLighthouse(t *testing.T) {
	if *lighthouse == "" {
		t.Skip("-lighthouse names no program")
	}
	w := newWorld(t, 1, paged)
	i := w.start()
	i.waitLive()
	w.publish(waves())
	b := i.browse()
	b.open("/?sort=size")
	cluster := value[string](b, `document.querySelector(".row a.title").pathname`)
	for _, path := range []string{"/", "/?sort=size", cluster, "/check", "/tail"} {
		report := filepath.Join(t.TempDir(), "report.json")
		cmd := exec.Command(*lighthouse, b.address+path, "--quiet", "--output", "json",
			"--output-path", report, "--only-categories", "accessibility,best-practices,performance",
			"--chrome-flags=--headless=new --no-sandbox")
		cmd.Env = append(os.Environ(), "CHROME_PATH="+chromium(t))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", path, err, out)
		}
		text, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		var found struct {
			Categories map[string]struct{ Score float64 }
		}
		if err := json.Unmarshal(text, &found); err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprint(path)
		for name, c := range found.Categories {
			said += fmt.Sprintf(" %s %.2f", name, c.Score)
			if c.Score < 0.95 {
				t.Errorf("%s: %s is %.2f, want 0.95", path, name, c.Score)
			}
		}
		t.Log(said)
	}
}
