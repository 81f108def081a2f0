package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
)

var (
	// clustering is a command that compares texts, as a document, a help text or the demo shows it.
	clustering = regexp.MustCompile("(?m)\\bclusterd (?:cluster|run)(?: [^`|#\n]*)?")
	// naming is what names the method: a flag, a key, or a configuration.
	naming = regexp.MustCompile(`--method [a-z]|fingerprint\.method=|-c [\w/.-]+`)
	// synopsis is a command without its arguments, or with words that stand for them.
	synopsis = regexp.MustCompile(`^clusterd \w+(?: \[.*)?$`)
	heredoc  = regexp.MustCompile(`(?s)<<'YAML'\n(.*?)\nYAML\n`)
)

// Which method is best depends on the texts, and the default misses copies that are short or
// edited. So each command that a newcomer copies names its method.
func TestCommandsNameTheirMethod(t *testing.T) {
	helps, err := filepath.Glob(root + "/cmd/clusterd/testdata/help/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := append(documents(t), "internal/cli/demo/view.go", "deploy/systemd/clusterd.service")
	for _, path := range helps {
		names = append(names, strings.TrimPrefix(path, root+"/"))
	}
	found := 0
	for _, name := range names {
		if name == "CHANGELOG.md" {
			continue
		}
		for _, command := range clustering.FindAllString(read(t, name), -1) {
			if command = strings.TrimSpace(command); synopsis.MatchString(command) {
				continue
			}
			found++
			if !naming.MatchString(command) {
				t.Errorf("%s: %q names no method and no configuration", name, command)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d commands found", found)
	}
}

// So does each configuration that an installation begins with.
func TestConfigurationsNameTheirMethod(t *testing.T) {
	configurations := make(map[string]string)
	for _, pattern := range []string{"configs/*.yaml", "deploy/package/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %q, %v", pattern, files, err)
		}
		for _, path := range files {
			configurations[path] = path
		}
	}
	for _, document := range documents(t) {
		for _, text := range firsts(heredoc, read(t, document)) {
			path := filepath.Join(t.TempDir(), "clusterd.yaml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			configurations[document] = path
		}
	}
	if len(configurations) < 5 {
		t.Errorf("only %d configurations found", len(configurations))
	}
	for name, path := range configurations {
		if _, given, err := config.LoadSet(path, nil); err != nil || !given.Has("fingerprint.method") {
			t.Errorf("%s sets no fingerprint.method, or has a mistake: %v", name, err)
		}
	}
}
