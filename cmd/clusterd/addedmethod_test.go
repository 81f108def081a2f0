//go:build long && !race

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A method is added by a package, testdata/addedmethod/runes, and this entry.
const (
	lastEntry  = "\t\t\tnewMethod: newExact,\n\t\t},\n"
	addedEntry = `		{
			Name:       "runes",
			Thresholds: []Threshold{similarity},
			newMethod: func(s Settings, _ *keyedhash.Key) (Method, error) {
				return runes.New(s.Threshold.Similarity)
			},
		},
`
	addedImport = "import (\n\t\"github.com/clusterd/clusterd/internal/method/runes\"\n"
)

// buildWithMethod builds clusterd with the added method, and a command that writes the reference of
// its configuration. The sources stay as they are: an overlay stands in their place.
func buildWithMethod(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(root, "internal", "method", "spec.go")
	source, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), lastEntry); n != 1 {
		t.Fatalf("the last entry stands %d times in %s", n, list)
	}
	edited := strings.Replace(string(source), lastEntry, lastEntry+addedEntry, 1)
	edited = strings.Replace(edited, "import (\n", addedImport, 1)
	added := filepath.Join(root, "cmd", "clusterd", "testdata", "addedmethod")
	reference := filepath.Join(root, "cmd", "reference")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		list: write(t, "spec.go", []byte(edited)),
		filepath.Join(root, "internal", "method", "runes", "runes.go"): filepath.Join(added, "runes",
			"runes.go"),
		filepath.Join(reference, "main.go"): filepath.Join(added, "reference",
			"main.go"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-overlay",
		write(t, "overlay.json", overlay),
		"-o", dir+string(filepath.Separator), ".", "../reference")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// The rest of the program knows a method by its entry alone: whoever adds one finds it everywhere.
func TestAddedMethod(t *testing.T) {
	t.Parallel()
	dir := buildWithMethod(t)
	articles, other := feed(t, 40), write(t, "other.txt", []byte("港口大桥今天通车"))
	keys := write(t, "runes.yaml",
		[]byte("fingerprint: {method: runes}\ncluster: {distance: 2, similarity: .5}\n"))
	wrong := write(t, "wrong.yaml", []byte("fingerprint: {method: magic}\n"))
	for _, test := range []struct {
		name string
		args []string
		want []string // in what is written to standard output or error
	}{
		{"reference", []string{"reference"}, []string{
			"(simhash, simhash+verify, minhash, shingle, ksentence, pinyin, exact, runes)",
			"# simhash+verify, minhash, shingle, pinyin, runes: least similarity",
		}},
		{"lint", []string{"clusterd", "lint", keys}, []string{
			"runes.yaml: ok", "is for simhash and has no effect on runes, which takes cluster.similarity",
		}},
		{"lint of another name", []string{"clusterd", "lint", wrong}, []string{"pinyin, exact, runes"}},
		{"help of cluster", []string{"clusterd", "cluster", "--help"}, []string{
			"pinyin, exact, runes)", "simhash+verify, minhash, shingle, pinyin, runes: least SHARE",
		}},
		{
			"cluster",
			[]string{"clusterd", "cluster", "--method", "runes", "--similarity", ".5", articles},
			[]string{`"status":"new"`},
		},
		{
			"compare",
			[]string{"clusterd", "compare", other, other},
			[]string{"\nrunes           0         0.1      yes"},
		},
		{"eval", []string{
			"clusterd", "eval", "--labels", "id", "--run", "runes", "--format", "json", articles,
		}, []string{`"identity": "method=runes,version=1"`}},
		{"eval paper", []string{
			"clusterd", "eval", "paper", "--sample", "2", "--min-chars", "1", "--centres", "1", "--run",
			"runes", articles,
		}, []string{"runes"}},
		{
			"help of eval tune",
			[]string{"clusterd", "eval", "tune", "--help"},
			[]string{"pinyin,exact,runes]"},
		},
		{"eval tune", []string{
			"clusterd", "eval", "tune", "--methods", "runes", "--format", "json", articles,
		}, []string{`"method": "runes"`, `"key": "cluster.similarity"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), filepath.Join(dir, test.args[0]), test.args[1:]...)
			out, _ := cmd.CombinedOutput() // of a wrong configuration there is an error

			// Help is broken anywhere.
			whole := strings.Join(strings.Fields(string(out)), " ")
			for _, want := range test.want {
				if !strings.Contains(string(out), want) && !strings.Contains(whole, want) {
					t.Errorf("%q is not in: %s", want, out)
				}
			}
		})
	}
}
