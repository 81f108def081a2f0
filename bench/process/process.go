// Package process runs what the benchmark measures: a command goes in; how far it says that it is,
// and why it ended, come out.
package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// stopLimit is how long a process may take to end when it is told to.
const stopLimit = 30 * time.Second

// Process is a child.
type Process struct {
	name     string
	cmd      *exec.Cmd
	log      string
	exited   chan struct{}
	err      error // after exited
	progress atomic.Int64
}

// PID returns its id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log returns the name of the file with what it says.
func (p *Process) Log() string { return p.log }

// Progress returns the last number that it has printed on a line of standard output, 0 before the
// first.
func (p *Process) Progress() int64 { return p.progress.Load() }

// Exited is closed when it has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Launch starts a command. What it says on standard error goes to the file log, and so does what it
// says on standard output, unless it counts there. The command's own context is its end at the
// latest.
func Launch(cmd *exec.Cmd, name, log string, counts bool) (*Process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &Process{name: name, cmd: cmd, log: log, exited: make(chan struct{})}
	cmd.Stderr = file
	var lines io.Reader = strings.NewReader("")
	if counts {
		lines, err = cmd.StdoutPipe()
	} else {
		cmd.Stdout = file
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.follow(lines)
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// follow reads the numbers that the process prints, a line each, until it ends.
func (p *Process) follow(lines io.Reader) {
	for scanner := bufio.NewScanner(lines); scanner.Scan(); {
		if n, err := strconv.ParseInt(scanner.Text(), 10, 64); err == nil {
			p.progress.Store(n)
		}
	}
}

// Stop asks the process to end and waits for it; one that does not is killed, which is an error.
// Its exit code is not: a Java that is told to end has another one than 0.
func (p *Process) Stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.exited:
		return nil
	case <-time.After(stopLimit):
		_ = p.cmd.Process.Kill()
		<-p.exited
		return fmt.Errorf("%s did not end within %s of SIGTERM and was killed; see %s", p.name, stopLimit,
			p.log)
	}
}

// Ended returns the error of a process that has ended without being told to, nil where it runs.
func (p *Process) Ended() error {
	select {
	case <-p.exited:
		said, _ := os.ReadFile(p.log) // without it there is still the error
		const most = 2 << 10
		return fmt.Errorf("it ended by itself (%v); the end of its log:\n%s", p.err,
			said[max(0, len(said)-most):])
	default:
		return nil
	}
}
