package usage

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	line := "4242 (a) 7 (b) S 1 2 3 4 5 6 7 8 9 10 1234 66 11 12 20 0 33 0 99"
	if got, err := parseStat(line); got != 13*time.Second || err != nil {
		t.Errorf("%s, %v; want 13s", got, err)
	}
	for _, line := range []string{"", "1 (x) S 1", strings.ReplaceAll(line, "1234", "many")} {
		if got, err := parseStat(line); err == nil {
			t.Errorf("%q: %s, want an error", line, got)
		}
	}
}

// What a process has started counts as long as it runs.
func TestFamily(t *testing.T) {
	until, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), "sh", "-c", "cat <&3 & echo; wait")
	parent.ExtraFiles = []*os.File{until}
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadByte(); err != nil {
		t.Fatal(err)
	}
	pid := parent.Process.Pid
	if got := family(pid); len(got) != 2 || got[0] != pid {
		t.Errorf("%v; want %d and what it has started", got, pid)
	}
	if alone, err := peakMemory(pid); err != nil || alone == 0 {
		t.Errorf("%d bytes, %v", alone, err)
	} else if both, err := PeakMemory(pid); err != nil || both <= alone {
		t.Errorf("%d bytes, %v; want more than the %d of the parent", both, err, alone)
	}
	for _, f := range []*os.File{end, until} {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := parent.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := CPUTime(pid); err == nil {
		t.Error("the time of a process that has ended: no error")
	}
}
