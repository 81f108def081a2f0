package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
)

// An edited file says what the old one says with --set, and keeps its comments and variables.
func TestEdit(t *testing.T) {
	t.Setenv("HOST", "kafka.example")
	set := []string{
		"input.group=other", "output.topic=results.2", "fingerprint.method=minhash",
		"fingerprint.shingle.size=4", "state.dir=/tmp/a b", "http.listen=", "output.copy=[url, 'a.b']",
		"cluster.window=7d",
	}
	for name, text := range map[string]string{
		"block": "# why\nkafka:\n  brokers: [\"${HOST}:9092\"] # ours\n\ninput:\n  # of ours\n" +
			"  group: one # yes\n  topic: t\noutput:\n  topic: results\n  copy:\n    - url\n    - id\n" +
			"  excerpt: 7\nhttp:\n  listen: 127.0.0.1:9\n",
		"flow": "input: {topic: t, group: one}\noutput: {topic: a, clusters_topic: b}\n" +
			"state: {dir: \"${DIR:here}\"}\nhttp: {listen: \"${LISTEN:}\"}\n" +
			"log: {level: \"${LEVEL:debug}\"}\n",
		"all keys":      string(config.Reference()),
		"empty":         "",
		"comments only": "# nothing\n",
		"empty section": "input:\noutput:\n  topic: x\n",
		"quoted":        "\"input\":\n  'group': \"one\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "c.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			edited, c, err := config.Edit(file, set)
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := config.LoadSet(file, set)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, edited, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := config.Load(file); err != nil || !reflect.DeepEqual(got, want) ||
				!reflect.DeepEqual(got, c) {
				t.Errorf("%v\n%s", err, edited)
			}
			for _, kept := range []string{"# why", "# ours", "# of ours", "${HOST}", "${LEVEL:debug}"} {
				if strings.Contains(text, kept) && !strings.Contains(string(edited), kept) {
					t.Errorf("%s is gone:\n%s", kept, edited)
				}
			}
		})
	}
}

func TestEditErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("input: {topic: t}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"input.nothing=x", "cluster.distance=99", "http.token=abc", "input"} {
		if text, _, err := config.Edit(file, []string{set}); err == nil {
			t.Errorf("%s: taken as\n%s", set, text)
		}
	}
	if _, _, err := config.Edit(file+"x", nil); err == nil {
		t.Error("a file that is not there was edited")
	}
}
