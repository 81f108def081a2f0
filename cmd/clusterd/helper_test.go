package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/testutil/wait"
	"github.com/spf13/cobra"
)

// binaries is the folder that the binary is built in.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		flag.Parse()
		dir, err := os.MkdirTemp("", "clusterd-test")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binaries = dir
		return m.Run()
	}())
}

// build builds the command once, for the tests that need a process.
var build = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(binaries, "clusterd")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return binary, nil
})

// outcome is what a command line gave.
type outcome struct {
	code      int
	out, errs string
}

func clusterd(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var out, errs wait.Buffer
	code := run(t.Context(), append([]string{}, args...), strings.NewReader(stdin), &out, &errs)
	return outcome{code, out.String(), errs.String()}
}

// command runs one command by itself.
func command(
	t *testing.T, cmd *cobra.Command, stdin string, args ...string,
) (out string, err error) {
	t.Helper()
	var outs, errs bytes.Buffer
	cmd.SetArgs(append([]string{}, args...))
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&outs)
	cmd.SetErr(&errs)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return outs.String(), err
}

const (
	bridge = `{"id":"bridge","title":"港口大桥今天通车","content":"历时三年的港口大桥工程今天建成通车，居民沿着河岸庆祝，市长剪彩。"}`
	copied = `{"id":"copy","title":"港口大桥今天通车！","content":"<p>历时三年的港口大桥工程今天建成通车，居民沿着河岸庆祝，市长剪彩。</p>"}`
	market = `{"id":"market","title":"Market prices rise","content":"Farmers at the harbour market sold apples and pears at higher prices after the storm."}`
)

// write makes a file of a test's own.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// process is the built command at work.
type process struct {
	*testing.T
	cmd       *exec.Cmd
	out, errs wait.Buffer
	done      chan struct{}
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{T: t, cmd: exec.Command(binary, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errs
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the exit code says it
		close(p.done)
	}()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	return p
}

// signal sends a signal and returns the exit code.
func (p *process) signal(s os.Signal) int {
	p.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.Fatal(err)
	}
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(wait.Patience):
		p.Fatalf("still running %v after %v; log:\n%s", wait.Patience, s, &p.errs)
		return -1
	}
}
