//go:build integration

package integration

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// process is a command in a group of its own, as a terminal would start it.
type process struct {
	cmd    *exec.Cmd
	exited chan error
	said   wait.Buffer
}

// begin starts a command in a directory, "" for that of the tests, until the test ends.
func (w *world) begin(dir string, command ...string) *process {
	w.Helper()
	p := &process{cmd: exec.Command(command[0], command[1:]...), exited: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, &p.said, &p.said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	go func() { p.exited <- p.cmd.Wait() }()
	w.Cleanup(func() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		if w.Failed() {
			w.Logf("%v said:\n%s", command, p.said.String())
		}
	})
	return p
}

// interrupt sends Ctrl-C, after which clusterd's exit code is 0. Of go run, only the program gets
// it: go run itself always exits with 1 when it is interrupted.
func (w *world) interrupt(p *process) {
	w.Helper()
	pid := p.cmd.Process.Pid
	if slices.Contains(p.cmd.Args, "go") {
		child, err := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
		if err != nil {
			w.Fatal(err)
		}
		if pid, err = strconv.Atoi(strings.TrimSpace(string(child))); err != nil {
			w.Fatal(err)
		}
	}
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		w.Fatal(err)
	}
	select {
	case err := <-p.exited:
		if err != nil {
			w.Errorf("after Ctrl-C: %v\n%s", err, p.said.String())
		}
	case <-time.After(w.timeout):
		w.Errorf("still running %s after Ctrl-C:\n%s", w.timeout, p.said.String())
	}
}
