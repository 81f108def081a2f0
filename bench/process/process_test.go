package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/bench/usage"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

func TestProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the tool needs Linux's /proc")
	}
	start := func(script string) *Process {
		t.Helper()
		p, err := Launch(exec.CommandContext(t.Context(), "sh", "-c", script), "it",
			filepath.Join(t.TempDir(), "log"), true)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := start("echo 7; echo no number; echo 42; exec sleep 600")
	wait.Until(t, "its count", func() bool { return p.Progress() == 42 })
	if err := p.Ended(); err != nil {
		t.Error(err)
	}
	if _, err := usage.CPUTime(p.PID()); err != nil {
		t.Error(err)
	}
	if peak, err := usage.PeakMemory(p.PID()); peak <= 0 || err != nil {
		t.Errorf("%d bytes, %v", peak, err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	p = start("echo why >&2; exit 3")
	<-p.Exited()
	if err := p.Ended(); err == nil || !strings.Contains(err.Error(), "exit status 3") ||
		!strings.Contains(err.Error(), "why") {
		t.Error(err)
	}
}
