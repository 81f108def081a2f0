package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// asClusterd is the environment variable by which a process of the test binary is clusterd.
const asClusterd = "TEST_AS_CLUSTERD"

func TestMain(m *testing.M) {
	if os.Getenv(asClusterd) != "" {
		main()
		return
	}
	m.Run()
}

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

// othersGoroutines skips a test under the race detector of which each command starts the goroutines
// that those of other tests start, and none beside. Each command loads a dictionary, which takes
// the race detector a second.
func othersGoroutines(t testing.TB, tests ...string) {
	t.Helper()
	if check.Race {
		t.Skipf("%q start the same goroutines", tests)
	}
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
	p := &process{T: t, cmd: exec.Command(os.Args[0], args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), asClusterd+"=1")
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
	case <-time.After(wait.Timeout):
		p.Fatalf("still running %v after %v; log:\n%s", wait.Timeout, s, &p.errs)
		return -1
	}
}
