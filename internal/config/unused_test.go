package config

import (
	"os"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/method"
)

// A key that the method does not use is said, with its line.
func TestUnused(t *testing.T) {
	for name, tt := range map[string]struct{ text, method, want string }{
		"used":    {"cluster: {distance: 3}", "simhash", ""},
		"for all": {"cluster: {window: 3d}\ntext: {html: never}", "exact", ""},
		"a threshold": {
			"fingerprint: {method: minhash}\ncluster: {distance: 3}", "minhash",
			"x.yaml:2:11: cluster.distance: warning: is for simhash and has no effect on minhash, which " +
				"takes cluster.similarity",
		},
		"of another's": {
			"cluster: {verified_distance: 4}", "simhash",
			"x.yaml:1:11: cluster.verified_distance: warning: is for simhash+verify and has no effect on " +
				"simhash, which takes cluster.distance",
		},
		"within a section": {
			"fingerprint:\n  shingle: {size: 4}\n  weight: tf", "pinyin",
			"x.yaml:2:13: fingerprint.shingle.size: warning: is for minhash, shingle and has no effect on " +
				"pinyin\nx.yaml:3:3: fingerprint.weight: warning: is for simhash, simhash+verify and has no " +
				"effect on pinyin",
		},
		"every key, as it is": {string(Reference()), "simhash", ""},
		"every key, and one": {
			strings.Replace(string(Reference()), "sentences: 3", "sentences: 4", 1), "simhash",
			"warning: is for ksentence and has no effect on simhash",
		},
	} {
		_, given, err := parseGiven("x.yaml", []byte(tt.text), nil,
			func(string) (string, bool) { return "", false }, os.ReadFile)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := ""
		if unused := given.Unused(tt.method); len(unused) > 0 {
			got = unused.Error()
		}
		if (got == "") != (tt.want == "") || !strings.HasSuffix(got, tt.want) {
			t.Errorf("%s: %s\nwant %s", name, got, tt.want)
		}
	}
}

// The examples are clean, and every key that is for some methods is in the table.
func TestExamplesUseAllTheirKeys(t *testing.T) {
	for _, file := range []string{"news", "comments", "reference"} {
		c, given, err := LoadSet("../../configs/"+file+".yaml", nil)
		if err != nil {
			t.Fatal(err)
		}
		if unused := given.Unused(c.Fingerprint.Method); len(unused) > 0 {
			t.Errorf("%s: %v", file, unused)
		}
	}
	c := Default()
	for _, k := range c.keys() {
		for _, name := range method.Names() {
			before, _, found := strings.Cut(k.doc(), ":")
			named := found && strings.Contains(", "+before+",", ", "+name+",")
			if named && Unused(k.path, name) != "" {
				t.Errorf("%s: its line names %s, and the table does not", k.path, name)
			}
		}
	}
}
