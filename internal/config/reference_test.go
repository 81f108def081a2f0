package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/testutil/golden"
)

func TestReference(t *testing.T) {
	golden.Check(t, examples+"reference.yaml", Reference())
	got, err := Parse("reference.yaml", Reference(), testEnv, testReadFile)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	if want.State.Dir, err = filepath.Abs(want.State.Dir); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the reference gives %+v, want Default", got)
	}
}

// The documents have a page of all keys, which follows from the same table as the reference.
func TestKeysPage(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# All keys\n\nA file needs only the keys that it changes. " +
		"[Configuration](configuration.md) explains files,\nsecrets and units. Keys marked * " +
		"are taken over on SIGHUP.\n")
	section := ""
	c := Default()
	for _, k := range c.keys() {
		if name, _, _ := strings.Cut(k.path, "."); name != section {
			section = name
			fmt.Fprintf(&b, "\n## %s\n\n| key | default | what it does |\n|---|---|---|\n", section)
		}
		live := ""
		if k.isLive() {
			live = " *"
		}
		standard := strings.Join(k.items(), ", ")
		if standard != "" {
			standard = "`" + standard + "`"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | %s", k.path, live, standard,
			strings.ReplaceAll(k.doc(), "|", "\\|"))
		if k.allowed != "" {
			fmt.Fprintf(&b, " (%s)", strings.ReplaceAll(k.allowed, "|", "\\|"))
		}
		b.WriteString(" |\n")
	}
	golden.Check(t, "../../docs/keys.md", b.Bytes())
}

func TestYAML(t *testing.T) {
	c := Default()
	c.Kafka.SASL = SASL{Mechanism: "plain", Username: "user: #1", Password: "hunter2"}
	c.Text.Dictionaries = []string{"/a/b.txt", "/with space/${x}.txt"}
	c.Cluster.Window = 36 * time.Hour
	c.State.Dir = "/var/lib/clusterd"
	c.HTTP = HTTP{Listen: ":8080", Token: "hunter2-hunter2-hunter2"}
	c.Memory.Limit = 3 << 30
	golden.Check(t, "testdata/resolved.golden.yaml", c.YAML())
}

func TestExamples(t *testing.T) {
	paths, err := filepath.Glob(examples + "*.yaml")
	if err != nil || len(paths) != 3 {
		t.Fatalf("examples %v, %v; want reference, news and comments", paths, err)
	}
	owners := make(map[string]string)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		nothing := func(string) (string, bool) { return "", false }
		c, err := Parse(path, data, nothing, os.ReadFile)
		if err != nil {
			t.Error(err)
			continue
		}
		checkRoundTrip(t, c)
		if filepath.Base(path) == "reference.yaml" {
			continue
		}
		for _, own := range []string{
			c.State.Dir, c.HTTP.Listen, c.Input.Group, c.Output.Topic,
			c.Output.ClustersTopic, c.Output.DeadLetterTopic,
		} {
			if other, shared := owners[own]; shared {
				t.Errorf("%s and %s both have %s: they could not run side by side", path, other, own)
			}
			owners[own] = path
		}
	}
}
