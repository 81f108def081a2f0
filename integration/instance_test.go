//go:build integration

package integration

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// instance is a clusterd that was started.
type instance struct {
	*world
	cmd        *exec.Cmd
	dir        string // of its disk
	role       string // empty: as the configuration has it
	listen     string // of its HTTP
	failpoints string
	log        string
	exited     chan struct{}
	err        error // after exited
}

// start starts an instance in the first directory that no living one has: after a kill, that is the
// directory of the one that was killed. failpoints is what CLUSTERD_FAILPOINT says.
func (w *world) start(failpoints ...string) *instance {
	w.Helper()
	return w.startIn(w.otherDir(), failpoints...)
}

// otherDir returns the first directory for a disk that no living instance has.
func (w *world) otherDir() string {
	for n := 1; ; n++ {
		dir := filepath.Join(w.dir, fmt.Sprintf("state-%d", n))
		if !slices.ContainsFunc(w.instances, func(i *instance) bool {
			return i.dir == dir &&
				!i.ended()
		}) {
			return dir
		}
	}
}

func (w *world) startIn(dir string, failpoints ...string) *instance {
	w.Helper()
	return w.startAs("", dir, failpoints...)
}

// startAs starts an instance of a role, in a world whose configuration takes it from the
// environment.
func (w *world) startAs(role, dir string, failpoints ...string) *instance {
	w.Helper()
	log, err := os.CreateTemp(w.dir, "log-")
	if err != nil {
		w.Fatal(err)
	}
	defer log.Close()
	i := &instance{
		world: w, dir: dir, role: role,
		listen:     cmp.Or(w.listen, fmt.Sprintf("127.0.0.1:%d", freePort(w.T))),
		failpoints: strings.Join(failpoints, ","), log: log.Name(),
		exited: make(chan struct{}),
	}
	program := cmp.Or(w.program, binary)
	if i.failpoints != "" {
		program = hurting
	}
	i.cmd = exec.Command(program, "run", "-c", w.config)
	if w.embedded != "" {
		i.cmd.Args = append(i.cmd.Args, "--embedded", w.embedded)
	}
	i.cmd.Env = append(os.Environ(), "CLUSTERD_TEST_DIR="+dir, "CLUSTERD_TEST_LISTEN="+i.listen,
		"CLUSTERD_FAILPOINT="+i.failpoints)
	i.cmd.Env = append(i.cmd.Env, w.env...)
	if role != "" {
		i.cmd.Env = append(i.cmd.Env, "CLUSTERD_TEST_ROLE="+role)
	}
	i.cmd.Stderr = log
	if err := i.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.instances = append(w.instances, i)
	go func() {
		i.err = i.cmd.Wait()
		close(i.exited)
	}()
	w.Cleanup(i.cleanUp)
	return i
}

func (i *instance) cleanUp() {
	_ = i.cmd.Process.Kill()
	<-i.exited
	isLast := slices.Contains(i.instances[max(0, len(i.instances)-4):], i)
	if !i.Failed() || !isLast && i.cmd.ProcessState.ExitCode() <= 0 {
		return
	}
	const most = 8 << 10
	said := i.said()
	i.Logf("the end of what process %d said, which ended with %v:\n%s", i.cmd.Process.Pid, i.err,
		said[max(0, len(said)-most):])
}

func (i *instance) ended() bool {
	select {
	case <-i.exited:
		return true
	default:
		return false
	}
}

func (i *instance) said() string {
	data, err := os.ReadFile(i.log)
	if err != nil {
		i.Fatal(err)
	}
	return string(data)
}

// waitFor waits until the instance has logged text.
func (i *instance) waitFor(text string) {
	i.Helper()
	i.eventually("log "+strconv.Quote(text), func() bool { return strings.Contains(i.said(), text) })
}

// kill sends SIGKILL.
func (i *instance) kill() {
	i.Helper()
	i.signal(syscall.SIGKILL)
	<-i.exited
}

func (i *instance) signal(s syscall.Signal) {
	i.Helper()
	if err := i.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		i.Fatal(err)
	}
}

// stop sends SIGTERM, after which clusterd must exit with 0. Before the program has begun, only the
// system heeds it.
func (i *instance) stop() {
	i.Helper()
	i.eventually("the start", func() bool {
		return i.ended() ||
			strings.Contains(i.said(), "msg=starting")
	})
	i.signal(syscall.SIGTERM)
	if err := i.wait(); err != nil {
		i.Fatalf("after SIGTERM: %v\n%s", err, i.said())
	}
}

// wait waits for the process's own end.
func (i *instance) wait() error {
	i.Helper()
	select {
	case <-i.exited:
		return i.err
	case <-time.After(i.timeout):
		i.Fatalf("still running after %s", i.timeout)
		return nil
	}
}

// fails waits until the instance has ended with exit code 1 and has said why.
func (i *instance) fails(why string) {
	i.Helper()
	var exit *exec.ExitError
	if err := i.wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		i.Errorf("%v, want exit code 1", err)
	}
	if !strings.Contains(i.said(), why) {
		i.Errorf("it does not say %q:\n%s", why, i.said())
	}
}

// killed reports whether the instance has died of a SIGKILL.
func (i *instance) killed() bool {
	return i.ended() && i.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}

// readiness is what /readyz says.
type readiness struct {
	Ready  bool   `json:"ready"`
	State  string `json:"state"`
	Reason string `json:"reason"`
}

// readyz asks /readyz; an instance that does not answer is not ready.
func (i *instance) readyz() (r readiness) {
	i.Helper()
	asker := http.Client{Timeout: 5 * time.Second}
	response, err := asker.Get("http://" + i.listen + "/readyz")
	if err != nil {
		return readiness{Reason: err.Error()}
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&r); err != nil {
		i.Fatalf("/readyz: %v", err)
	}
	if want := map[bool]int{
		true:  http.StatusOK,
		false: http.StatusServiceUnavailable,
	}[r.Ready]; response.StatusCode != want {
		i.Errorf("/readyz answers with %s, and %+v", response.Status, r)
	}
	return r
}

// waitLive waits until the instance works.
func (i *instance) waitLive() {
	i.Helper()
	i.eventually("ready and live", func() bool {
		r := i.readyz()
		return r.Ready && r.State == "live"
	})
}

// waitStandby waits until the instance stands by.
func (i *instance) waitStandby() {
	i.Helper()
	i.eventually("ready and standing by", func() bool {
		r := i.readyz()
		return r.Ready && r.State == "standby"
	})
}

// peak returns the most memory that the process has taken so far, in bytes.
func (i *instance) peak() int64 {
	i.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", i.cmd.Process.Pid))
	if err != nil {
		i.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		i.Fatalf("VmHWM in /proc: %v", err)
	}
	return kib << 10
}

// ports are those that freePort has returned.
var ports sync.Map

// freePort returns a port such that nobody listens on it or on the next one, which a broker's
// controller takes.
func freePort(t *testing.T) int { t.Helper(); return freePorts(t, 1) }

// freePorts returns the first of 2n ports on which nobody listens. They are below those from which
// the system takes the ports of connections, or a client might get one before the broker does.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	for range 1000 {
		port, free := 16_000+2*rand.IntN(8_000-n), 0
		for ; free < n; free++ {
			next := port + 2*free
			if _, taken := ports.LoadOrStore(next, true); taken || !isFree(next) || !isFree(next+1) {
				break
			}
		}
		if free == n {
			return port
		}
	}
	t.Fatalf("no %d ports from 16000 to 31999 are free", 2*n)
	return 0
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	return err == nil && l.Close() == nil
}

// complains reports whether a warning or an error names something.
func (i *instance) complains(of string) bool {
	i.Helper()
	for line := range strings.Lines(i.said()) {
		if (strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR")) &&
			strings.Contains(line, of) {
			return true
		}
	}
	return false
}
