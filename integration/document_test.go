//go:build integration

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// A document is one whose commands are run in its order, in a copy of the project, so that what
// they write is not left in it. Its addresses are replaced by such as nobody else uses.
type document struct {
	*world
	dir, text string
	running   []*process
	answer    string // of the last question that no JSON has followed yet
}

// Addresses in documents and configurations.
const (
	documentBroker = "127.0.0.1:9092"
	nobodys        = "" // a broker's address: one on which nobody listens, for run --embedded
)

// newDocument reads a document. The example configurations get a broker's address, and commands too
// but for nobodys: theirs is the shared one.
func newDocument(t *testing.T, name, broker string) *document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	d := &document{world: &world{T: t, brokers: shared, timeout: wait.Timeout}, dir: t.TempDir()}
	for _, name := range []string{
		"go.mod", "go.sum", "cmd", "internal", "configs", "integration", "examples",
	} {
		d.must("cp", "-r", filepath.Join("..", name), d.dir)
	}
	address := func() string { return fmt.Sprintf("127.0.0.1:%d", freePort(t)) }
	asked := broker
	if broker == nobodys {
		broker, asked = address(), shared.addresses[0]
	}
	others := []string{
		"127.0.0.1:8080", address(), "127.0.0.1:8081", address(), "127.0.0.1:8000", address(),
	}
	here := strings.NewReplacer(append(others, documentBroker, broker)...)
	for _, file := range []string{
		"configs/comments.yaml", "configs/news.yaml", "examples/blog/blog.py",
		"examples/check/check.php", "examples/check/check.js", "examples/frontpage/frontpage.py",
	} {
		path := filepath.Join(d.dir, file)
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(here.Replace(string(was))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.text = strings.NewReplacer(append(others, documentBroker, asked)...).
		Replace(string(text))
	return d
}

// forget deletes what an earlier run has left on the shared brokers.
func (d *document) forget(group string, topics ...string) {
	d.Helper()
	for _, topic := range topics {
		_, _ = d.script("tool", "topics", "--delete", "--if-exists", "--topic", topic)
	}
	_, _ = d.script("tool", "consumer-groups", "--delete", "--group", group)
}

var fenced = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")

// follow runs all commands, and returns how many blocks the document has. A block of JSON behind
// one that asks with curl shows what the answer is like.
func (d *document) follow() (blocks int) {
	d.Helper()
	for _, block := range fenced.FindAllStringSubmatch(d.text, -1) {
		language, code := block[1], block[2]
		blocks++
		switch language {
		case "sh":
			d.shell(code)
		case "json":
			d.like(code)
		case "java":
			d.quotes("examples/joins/Join.java", code)
		default:
			d.Errorf("a block in %s, which nothing here tests", language)
		}
	}
	return blocks
}

// lasting are the commands that end only when they are told to, each with what it says once it
// does what the document says.
var lasting = []struct{ command, says string }{
	{"CGO_ENABLED=0 go run ./cmd/clusterd demo", "at distance"},
	{"CGO_ENABLED=0 go run ./cmd/clusterd run ", `"msg":"live"`},
	{"./clusterd run ", `"msg":"live"`},
	{"python3 examples/blog/blog.py", "has the comments"},
	{"venv/bin/python examples/frontpage/frontpage.py", "front.html: "},
	{"java -cp", "to RUNNING"},
}

// shell runs a block of commands. Its comments, if it has any, are what it prints.
func (d *document) shell(code string) {
	d.Helper()
	code = strings.TrimSpace(code)
	switch {
	case code == "CGO_ENABLED=0 go test ./...": // .ci/run calls it
		return
	case code == "CGO_ENABLED=0 go build ./cmd/clusterd": // alone, as in the guides
		d.must("cp", binary, filepath.Join(d.dir, "clusterd"))
		return
	}
	for _, l := range lasting {
		if strings.HasPrefix(code, l.command) {
			words := strings.Fields(strings.ReplaceAll(code, "'", ""))
			if strings.Contains(words[0], "=") { // of the environment
				words = append([]string{"env"}, words...)
			}
			p := d.begin(d.dir, words...)
			d.eventually(code, func() bool { return strings.Contains(p.said.String(), l.says) })
			if strings.HasSuffix(code, " demo") {
				d.interrupt(p)
			} else {
				d.running = append(d.running, p)
			}
			return
		}
	}
	var want strings.Builder
	for line := range strings.Lines(code + "\n") {
		if said, ok := strings.CutPrefix(line, "# "); ok {
			want.WriteString(said)
		}
	}
	printed := d.run(code)
	switch {
	case want.Len() > 0 && printed != want.String():
		d.Errorf("%s\nprints %q", code, printed)
	case want.Len() == 0 && strings.Contains(code, "curl ") && !strings.Contains(code, "/v1/stream"):
		d.answer = printed
	}
}

// run returns what a block of commands prints.
func (d *document) run(code string) string {
	d.Helper()
	// What is read back must be there first.
	read := "kcat -b " + shared.addresses[0] + " -C"
	code = strings.ReplaceAll(code, read, "until "+read+" -t article-clusters -e -q "+
		"-X isolation.level=read_committed | grep -q a2; do sleep 0.1; done\n"+read)
	ctx, cancel := context.WithTimeout(d.Context(), d.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", code)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = d.dir, &out, &errs
	if err := cmd.Run(); err != nil {
		d.Errorf("%s\n%v\n%s%s", code, err, out.Bytes(), errs.Bytes())
	}
	return out.String()
}

// quotes holds what the document shows of a program to it.
func (d *document) quotes(file, code string) {
	d.Helper()
	program, err := os.ReadFile(filepath.Join(d.dir, file))
	if err != nil || !strings.Contains(string(program), code) {
		d.Errorf("%v: this is not in %s:\n%s", err, file, code)
	}
}

// like compares an answer with what the document shows of it: names and types are the same, and
// values may differ. Other messages that the document shows are JSON.
func (d *document) like(shown string) {
	d.Helper()
	var want, got any
	if err := json.Unmarshal([]byte(shown), &want); err != nil {
		d.Fatalf("%v in\n%s", err, shown)
	}
	if d.answer == "" {
		return
	}
	if err := json.Unmarshal([]byte(d.answer), &got); err != nil {
		d.Fatalf("%v in\n%s", err, d.answer)
	}
	if diff := cmp.Diff(shape(want), shape(got)); diff != "" {
		d.Errorf("-the document +the answer\n%s\n%s", diff, d.answer)
	}
	d.answer = ""
}

// shape returns the types of a JSON value. Of what is by partition, one stands for all.
func shape(value any) any {
	switch v := value.(type) {
	case map[string]any:
		types := make(map[string]any)
		for key := range v {
			if _, err := strconv.Atoi(key); err == nil {
				types["0"] = shape(v[key])
			} else {
				types[key] = shape(v[key])
			}
		}
		return types
	case []any:
		if len(v) == 0 {
			return "none"
		}
		return []any{shape(v[0])}
	default:
		return fmt.Sprintf("%T", v)
	}
}

// must runs a command that a test needs.
func (w *world) must(command ...string) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), command[0], command[1:]...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("%q: %v\n%s", command, err, out)
	}
}

// interruptAll sends Ctrl-C to what runs still, the last one first.
func (d *document) interruptAll() {
	d.Helper()
	if len(d.running) == 0 && strings.Contains(d.text, "clusterd run ") {
		d.Fatal("the document does not start the daemon")
	}
	for i := len(d.running) - 1; i >= 0; i-- {
		d.interrupt(d.running[i])
	}
}
