//go:build integration

package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/testutil/wait"
)

var fenced = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")

// readmeAddress is the broker that the README speaks of.
const readmeAddress = "127.0.0.1:9092"

// Every command of the README works, in its order, word for word but for the broker's address.
func TestREADME(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	r := &readme{world: &world{T: t, brokers: shared, timeout: wait.Timeout}, dir: checkout(t)}
	// The first start compiles, for as long as that takes.
	compile := exec.CommandContext(t.Context(), "go", "build", "./internal/...")
	compile.Dir = r.dir
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, topic := range []string{"articles", "article-clusters", "clusters", "articles-dead"} {
		_, _ = r.script("tool", "topics", "--delete", "--if-exists", "--topic", topic)
	}
	_, _ = r.script("tool", "consumer-groups", "--delete", "--group", "clusterd")
	blocks := 0
	for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
		language, code := block[1], strings.ReplaceAll(block[2], readmeAddress, shared.addresses[0])
		blocks++
		switch language {
		case "sh":
			r.shell(code)
		case "python":
			r.reader("read.py", code, "python", []string{"venv/bin/python", "read.py"},
				"a2 joined articles/0/0")
		case "js":
			r.reader("node/read.js", code, "js", []string{"node", "node/read.js"}, "a2 joined articles/0/0")
		case "java":
			r.reader("Read.java", code, "java", []string{"java", "-cp", r.libs(), "Read.java"},
				`"article_id":"a2"`)
		case "go":
			r.reader("reader/read.go", code, "go", []string{"go", "run", "-C", "reader", "."},
				`"article_id":"a2"`)
		case "json":
		default:
			t.Errorf("a block in %s, which nothing here tests", language)
		}
	}
	if blocks < 10 {
		t.Errorf("only %d blocks found", blocks)
	}
	ci, err := os.ReadFile("../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^go test \./\.\.\.$`).Match(ci) {
		t.Error("the README's test command is not what .ci/run calls")
	}
	if r.daemon == nil {
		t.Fatal("the README does not start the daemon")
	}
	r.interrupt(r.daemon)
}

type readme struct {
	*world
	dir    string
	daemon *process
}

// checkout copies the project, so that what the README writes is not left in it.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "cmd", "internal", "configs", "integration"} {
		if out, err := exec.Command("cp", "-r", filepath.Join("..", name),
			dir).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}

// shell runs a block of commands. Those that end only when they are told to are watched until they
// have done what the README says.
func (r *readme) shell(code string) {
	r.Helper()
	switch strings.TrimSpace(code) {
	case "go test ./...": // .ci/run calls it
	case "go run ./cmd/clusterd demo":
		p := r.begin("go", "run", "./cmd/clusterd", "demo")
		r.eventually("clusters in the demo", func() bool {
			return strings.Contains(p.said.String(), "at distance")
		})
		r.interrupt(p)
	case "./clusterd run -c clusterd.yaml":
		r.daemon = r.begin("./clusterd", "run", "-c", "clusterd.yaml")
		r.eventually("the daemon to be live",
			func() bool { return strings.Contains(r.daemon.said.String(), `"msg":"live"`) })
	default:
		r.run(code)
	}
}

func (r *readme) run(code string) {
	r.Helper()
	// What is read back must be there first.
	if strings.Contains(code, "kcat") {
		address := r.addresses[0]
		code = strings.ReplaceAll(code, "kcat -b "+address+" -C", "until kcat -b "+address+
			" -C -t article-clusters -e -q -X isolation.level=read_committed | grep -q a2; do sleep 0.1; "+
			"done\nkcat -b "+address+" -C")
	}
	ctx, cancel := context.WithTimeout(r.Context(), r.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", code)
	cmd.Dir = r.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		r.Errorf("%s\n%v\n%s", code, err, out)
	}
}

// reader runs one of the programs that read results until it has printed want.
func (r *readme) reader(file, code, language string, command []string, want string) {
	r.Helper()
	path := filepath.Join(r.dir, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
		r.Fatal(err)
	}
	switch language {
	case "python":
		r.run("python3 -m venv venv && venv/bin/pip install -q confluent-kafka")
	case "js":
		r.run("npm install --silent --no-audit --no-fund --prefix node kafkajs")
	case "go":
		r.run("cd reader && go mod init reader && go get github.com/twmb/franz-go/pkg/kgo@$(cd .. && " +
			"go list -m -f '{{.Version}}' github.com/twmb/franz-go)")
	}
	p := r.begin(command...)
	r.eventually(file+" to read results",
		func() bool { return strings.Contains(p.said.String(), want) })
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.exited //nolint:errcheck // it is that of the signal
}

func (r *readme) libs() string {
	libs, err := r.script("libs")
	if err != nil {
		r.Fatal(err)
	}
	return libs + "/*"
}

// process is a command in a group of its own, as a terminal would start it.
type process struct {
	cmd    *exec.Cmd
	exited chan error
	said   wait.Buffer
}

func (r *readme) begin(command ...string) *process {
	r.Helper()
	p := &process{cmd: exec.Command(command[0], command[1:]...), exited: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = r.dir, &p.said, &p.said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		r.Fatal(err)
	}
	go func() { p.exited <- p.cmd.Wait() }()
	r.Cleanup(func() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		if r.Failed() {
			r.Logf("%v said:\n%s", command, p.said.String())
		}
	})
	return p
}

// interrupt sends Ctrl-C, after which clusterd's exit code is 0. Of go run, only the program gets
// it: go run itself always exits with 1 when it is interrupted.
func (r *readme) interrupt(p *process) {
	r.Helper()
	pid := p.cmd.Process.Pid
	if p.cmd.Args[0] == "go" {
		child, err := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
		if err != nil {
			r.Fatal(err)
		}
		if pid, err = strconv.Atoi(strings.TrimSpace(string(child))); err != nil {
			r.Fatal(err)
		}
	}
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		r.Fatal(err)
	}
	select {
	case err := <-p.exited:
		if err != nil {
			r.Errorf("after Ctrl-C: %v\n%s", err, p.said.String())
		}
	case <-time.After(r.timeout):
		r.Errorf("still running %s after Ctrl-C:\n%s", r.timeout, p.said.String())
	}
}
