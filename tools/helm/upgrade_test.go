package helm

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// methodless returns a copy of the chart whose values name no method, as in earlier versions.
func methodless(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clusterd")
	if err := os.CopyFS(dir, os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	values := filepath.Join(dir, "values.yaml")
	before, after, ok := strings.Cut(read(t, values), "  fingerprint:\n    # How")
	_, after, more := strings.Cut(after, "    method: minhash\n")
	if !ok || !more {
		t.Fatal("the chart's values have no method")
	}
	write(t, values, before+after)
	return dir
}

// method returns the method of the installed configuration; "" if it names no method.
func (c *cluster) method(t *testing.T) string {
	t.Helper()
	fingerprint, _ := c.config(t)["fingerprint"].(map[string]any)
	name, _ := fingerprint["method"].(string)
	return name
}

// A new release names its method. An upgrade never changes it over the clusters that are there: it
// goes on with it, or stops with what to do, and has changed nothing then.
func TestUpgradesKeepTheMethod(t *testing.T) {
	const keep, change = "config.fingerprint.method=simhash", "config.fingerprint.method=minhash"
	former := methodless(t)
	set := func(values string) []string { return []string{"--set", values} }
	for name, test := range map[string]struct {
		from    string // the chart of the release
		install []string
		upgrade []string
		stops   bool
		method  string // after it
	}{
		"new":                 {from: chart, method: "minhash"},
		"new, another method": {chart, set(keep), set(keep), false, "simhash"},
		"none":                {from: former, stops: true},
		"none, kept":          {from: former, upgrade: set(keep), method: "simhash"},
		"none, values reused": {from: former, upgrade: []string{"--reuse-values"}},
		"none, values reset":  {from: former, upgrade: []string{"--reset-then-reuse-values"}, stops: true},
		"none, changed":       {from: former, upgrade: set(change), stops: true},
		"none, begun anew": {
			from: former, upgrade: set(change + ",config.output.clusters_topic=clusters-2"),
			method: "minhash",
		},
		"one, the same": {former, set(change), set(change), false, "minhash"},
		"one, forgotten": {
			former, set("config.fingerprint.method=pinyin"), set("replicas=3"), true, "pinyin",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			run := func(verb, chart string, args []string) error {
				out, err := helm(append([]string{
					verb, release, chart, "--namespace", "texts", "--disable-openapi-validation",
				}, args...)...)
				t.Logf("helm %s: %v\n%s", verb, err, out)
				return err
			}
			if err := run("install", test.from, test.install); err != nil {
				t.Fatal(err)
			}
			was := cmp.Or(c.method(t), "simhash")
			err := run("upgrade", chart, test.upgrade)
			if (err != nil) != test.stops {
				t.Fatalf("the upgrade ends with %v", err)
			}
			if got := c.method(t); got != test.method {
				t.Errorf("the method is %q then, and not %q", got, test.method)
			}
			if test.stops {
				for _, says := range []string{
					"made by " + was, "--set config.fingerprint.method=" + was, "docs/migration.md",
				} {
					if !strings.Contains(err.Error(), says) {
						t.Errorf("it says %q, without %q", err, says)
					}
				}
			}
		})
	}
}
