//go:build failpoints

package failpoint

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestPlan(t *testing.T) {
	for _, test := range []struct {
		name, text string
		hits       []string
		want       string // the action at each hit
	}{
		{"nothing", "", []string{Fenced, Fenced}, "- -"},
		{"at the second hit", "fenced=2:kill", []string{Fenced, Fenced, Fenced}, "- kill -"},
		{"each point counts for itself", "fenced=2:kill", []string{Fenced, AfterEnd, Fenced}, "- - kill"},
		{"several points", "fenced=1:error,after-end=1:pause", []string{AfterEnd, Fenced}, "pause error"},
		{"always", "fenced=1@7:error", []string{Fenced, Fenced}, "error error"},
		{"a bug is no fault", "seeded=drop", []string{Fenced}, "-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := parse(test.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, name := range test.hits {
				action := p.hit(name)
				if action == "" {
					action = "-"
				}
				got = append(got, action)
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// A probability comes about, and the same seed draws the same hits.
func TestChance(t *testing.T) {
	draw := func(text string) (hits []int) {
		p, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10_000 {
			if p.hit(AfterEnd) == "error" {
				hits = append(hits, i)
			}
		}
		return hits
	}
	one, again, other := draw("after-end=0.1@7:error"), draw("after-end=0.1@7:error"),
		draw("after-end=0.1@8:error")
	if len(one) < 900 || len(one) > 1100 {
		t.Errorf("%d of 10,000 hits with probability 0.1", len(one))
	}
	if !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Error("the hits do not follow from the seed")
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"after-ned=1:kill", "no such point or bug"},
		{"seeded=dorp", "no such point or bug"},
		{"fenced", "no such action"},
		{"fenced=1:explode", "no such action"},
		{"fenced=0:kill", "the number of a hit"},
		{"fenced=soon:kill", "the number of a hit"},
		{"fenced=2@7:kill", "PROBABILITY@SEED"},
		{"fenced=0.5@x:kill", "PROBABILITY@SEED"},
	} {
		if _, err := parse(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.text, err, test.want)
		}
	}
}

// What the environment says happens to the process.
func TestEnvironment(t *testing.T) {
	if os.Getenv("CLUSTERD_FAILPOINT") != "" {
		hurt()
		return
	}
	for _, test := range []struct {
		text string
		want syscall.WaitStatus // as wait(2) has it
	}{
		{"before-end=1:error,fenced=2:kill,seeded=drop", syscall.WaitStatus(syscall.SIGKILL)},
		{"before-end=1:error,seeded=drop", 0},
		{"before-end=1:error", 3 << 8},
		{"seeded=drop", 4 << 8},
		{"nonsense", 2 << 8},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestEnvironment$")
		cmd.Env = append(os.Environ(), "CLUSTERD_FAILPOINT="+test.text)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.Sys().(syscall.WaitStatus); got != test.want {
			t.Errorf("%s: status %#x, want %#x\n%s", test.text, got, test.want, out)
		}
	}
}

// hurt runs in the process that is hurt: it says by its exit code what did not happen.
func hurt() {
	_ = Hit(Fenced)
	_ = Hit(Fenced)
	switch {
	case Hit(BeforeEnd) == nil:
		os.Exit(4)
	case !Seeded(Drop) || Seeded(Swap):
		os.Exit(3)
	}
}

// A paused process goes on when it is told to.
func TestPause(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestEnvironment$")
	cmd.Env = append(os.Environ(), "CLUSTERD_FAILPOINT=before-end=1:error,fenced=1:pause,seeded=drop")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil ||
		!status.Stopped() {
		t.Fatalf("status %#x, %v: want it stopped", status, err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
